/**
 * SECTION:element-astrosearch
 *
 * Searches power for pulses, one by one, as of fast radio bursts. The power passes through
 * unchanged. Its series, one a beam or station and a dispersion measure of astrodedisperse, are
 * searched with boxcars of several widths; of several products, such as XX:YY, the first is
 * searched (astroselect pols= chooses). The power has one channel, as astrodedisperse gives it.
 *
 * Baseline and noise are measured in windows of a number of steps: the median and the median
 * deviation first, then the mean and the rms of what lies within three deviations. Interference
 * does not move them much, nor do lost samples; the noise of a value follows from the number of
 * samples behind it. A window has at least 32 times the steps of the widest boxcar, so that a pulse
 * loses less than a tenth of its S/N to its own baseline.
 *
 * Boxcars above the threshold that are neighbours in time, width and dispersion measure are one
 * candidate: the best of them. An element message "candidate" is posted for each, when nothing can
 * join it any more, some two windows later: time (UTC, if the observation has a start) and
 * timestamp (ns since the start of the observation) of its middle, index (its first step), steps
 * and width (s), snr, dm (pc/cm^3, if the power was dedispersed), dm-low and dm-high (of all that
 * it stands for), hits (how many that are), and beam or station, where there are several. The time
 * is the one at which the pulse was in the highest channel, where astrodedisperse leaves it.
 *
 * With location the candidates are also written as a table (CSV), to NAME.part, which is renamed at
 * EOS or when the pipeline stops.
 *
 * |[
 * gst-launch-1.0 -m astroskysrc stations=1 noise=20 bandwidth=16e6 frequency=1.4e9 duration=1 \
 *   burst="0,0,1,time=0.4,width=0.002,dm=100" ! application/x-astro-voltages,format=CF32LE ! \
 *   astrochannelizer channels=64 ! astropower integration=64 ! astrodedisperse dm=0:200:5 ! \
 *   astrosearch location=candidates.csv ! fakesink
 * ]|
 */
#include "config.h"
#include "elements/astrosearch.h"

#include <string.h>

#include "core/backend/work.h"
#include "core/lib/files/part-file.h"
#include "core/search/groups.h"
#include "core/search/rows.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolog.h"

struct _AstroSearch {
  AstroStage parent;
  double threshold;
  char *widths_text, *location;
  guint window;

  AstroSearchConfig config;
  AstroSearchFound found;
  AstroSearchGroups *groups;
  GArray *candidates;
  AstroPartFile *file;
  guint32 *counts;
  gsize n_counts;
  gboolean is_open;   /* a stretch of steps has begun */
  guint64 next;       /* the step after those that were searched */
  gboolean is_ending; /* EOS has come */
};

G_DEFINE_TYPE(AstroSearch, astro_search, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrosearch, "astrosearch", GST_RANK_NONE, ASTRO_TYPE_SEARCH)

/* ---- the table ---- */

static void post_file_error(AstroSearch *self, const GError *error)
{
  GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("location: %s", error->message), (NULL));
}

static gboolean write_text(AstroSearch *self, const char *text, GError **error)
{
  g_autofree char *location = NULL;
  if (!self->file) {
    location = astro_fields_copy_text(self, &self->location);
    if (!astro_field_given(location))
      return TRUE;
    self->file = astro_part_file_create(location, error);
    if (!self->file || !astro_part_file_write(self->file, astro_search_rows_header,
                                              strlen(astro_search_rows_header), error))
      return FALSE;
  }
  return astro_part_file_write(self->file, text, strlen(text), error);
}

static void commit_file(AstroSearch *self)
{
  g_autoptr(GError) error = NULL;
  if (self->file && !astro_part_file_commit(g_steal_pointer(&self->file), &error))
    post_file_error(self, error);
}

/* ---- candidates ---- */

static const char *name_of(const AstroSearch *self, guint station, const char **field)
{
  const AstroStream *in = astro_stage_in(ASTRO_STAGE((AstroSearch *)self));
  const AstroObservation *o = astro_stage_observation(ASTRO_STAGE((AstroSearch *)self));
  const gboolean is_beam = astro_layout_find(&in->layout, ASTRO_AXIS_BEAM) >= 0;
  *field = is_beam ? "beam" : "station";
  if (!o || self->config.stations == 1)
    return NULL;
  if (is_beam)
    return station < o->n_beams ? o->beams[station].name : NULL;
  return station < o->n_stations ? o->names[station] : NULL;
}

static gboolean tell(AstroSearch *self, const AstroSearchCandidate *candidate, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroObservation *o = astro_stage_observation(stage);
  const AstroSearchHit *peak = &candidate->peak;
  const GstClockTime begin = astro_stage_time_in(stage, peak->first),
                     end = astro_stage_time_in(stage, peak->first + peak->steps),
                     middle = begin + (end - begin) / 2;
  const gboolean has_dm = o && o->n_dms == self->config.dms;
  g_autofree char *utc = o ? astro_observation_tell_time(o, middle) : NULL, *number = NULL;
  const char *field, *name = name_of(self, peak->station, &field);
  if (!name && self->config.stations > 1)
    name = number = g_strdup_printf("%u", peak->station);
  const AstroSearchRow row = {
    .utc = utc,
    .seconds = (double)middle / GST_SECOND,
    .index = peak->first,
    .has_dm = has_dm,
    .dm = has_dm ? o->dms[peak->dm] : 0,
    .dm_low = has_dm ? o->dms[candidate->dm_low] : 0,
    .dm_high = has_dm ? o->dms[candidate->dm_high] : 0,
    .width = (double)(end - begin) / GST_SECOND,
    .steps = peak->steps,
    .snr = peak->snr,
    .name = name,
    .hits = candidate->n,
  };
  GstStructure *told = gst_structure_new(
      "candidate", "timestamp", G_TYPE_UINT64, middle, "index", G_TYPE_UINT64, row.index, "steps",
      G_TYPE_UINT64, row.steps, "width", G_TYPE_DOUBLE, row.width, "snr", G_TYPE_DOUBLE, row.snr,
      "hits", G_TYPE_UINT, row.hits, NULL);
  if (utc)
    gst_structure_set(told, "time", G_TYPE_STRING, utc, NULL);
  if (has_dm)
    gst_structure_set(told, "dm", G_TYPE_DOUBLE, row.dm, "dm-low", G_TYPE_DOUBLE, row.dm_low,
                      "dm-high", G_TYPE_DOUBLE, row.dm_high, NULL);
  if (name)
    gst_structure_set(told, field, G_TYPE_STRING, name, NULL);
  /* The event lets astrorender mark the pulse. */
  gst_pad_push_event(GST_BASE_TRANSFORM_SRC_PAD(self),
                     gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM, gst_structure_copy(told)));
  gst_element_post_message(GST_ELEMENT(self), gst_message_new_element(GST_OBJECT(self), told));
  g_autofree char *line = astro_search_row_to_line(&row);
  return write_text(self, line, error);
}

/* Tells the candidates that no hit from that step on can join. */
static gboolean tell_settled(AstroSearch *self, guint64 settled, GError **error)
{
  gboolean good = TRUE;
  for (guint i = 0; i < self->found.hits->len; i++)
    astro_search_groups_add(self->groups, &g_array_index(self->found.hits, AstroSearchHit, i));
  g_array_set_size(self->found.hits, 0);
  astro_search_groups_take(self->groups, settled, self->candidates);
  for (guint i = 0; good && i < self->candidates->len; i++)
    good = tell(self, &g_array_index(self->candidates, AstroSearchCandidate, i), error);
  g_array_set_size(self->candidates, 0);
  return good;
}

/* ---- streams ---- */

static gboolean read_settings(AstroSearch *self, AstroSearchConfig *config, GError **error)
{
  g_autofree char *text = astro_fields_copy_text(self, &self->widths_text);
  if (!astro_search_parse_widths(config, text, error))
    return FALSE;
  config->window = self->window ? self->window : astro_search_default_window(config);
  config->threshold = self->threshold;
  return TRUE;
}

/* The dispersion measures come with the observation. */
static gboolean check_dms(AstroStage *stage, GError **error)
{
  const AstroSearch *self = ASTRO_SEARCH(stage);
  const AstroObservation *o = astro_stage_observation(stage);
  if (self->config.dms <= 1 || (o && o->n_dms == self->config.dms))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the power has dms=%u trials, and the observation names %u dispersion "
                             "measures: expected as many, as astrodedisperse gives them",
                             self->config.dms, o ? o->n_dms : 0);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroSearch *self = ASTRO_SEARCH(stage);
  const AstroStream *in = astro_stage_in(stage);
  AstroSearchConfig *config = configuration;
  const guint64 channels = astro_stream_extent(in, ASTRO_AXIS_CHANNEL);

  (void)pass_through;
  if (channels != 1)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "channels=%" G_GUINT64_FORMAT ", expected 1: pulses are searched in "
                               "the mean over channels, which astrodedisperse gives",
                               channels);
  if (in->rate_n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps have no rate, so that candidates would have no time: expected "
                               "rate, the steps of power a second");
  *config = (AstroSearchConfig){
    .stations = (guint)(astro_stream_extent(in, ASTRO_AXIS_STATION) *
                        astro_stream_extent(in, ASTRO_AXIS_BEAM)),
    .dms = (guint)astro_stream_extent(in, ASTRO_AXIS_DM),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .layout = in->layout,
  };
  if (!read_settings(self, config, error))
    return FALSE;
  self->config = *config;
  g_clear_pointer(&self->groups, astro_search_groups_free);
  self->groups = astro_search_groups_new(config->widths[config->n_widths - 1]);
  self->is_open = FALSE;
  ASTRO_INFO(self, "windows of %u steps, %u widths, threshold %g", config->window, config->n_widths,
             config->threshold);
  return TRUE;
}

/* ---- work ---- */

static gboolean submit(AstroSearch *self, GstBuffer *in, AstroSearchArguments *arguments,
                       GError **error)
{
  arguments->begin = !self->is_open;
  arguments->found = &self->found;
  self->found.settled = 0;
  self->is_open = !arguments->end;
  self->next = arguments->first + arguments->steps;
  return astro_stage_submit(ASTRO_STAGE(self), in, NULL, arguments, error) &&
         tell_settled(self, arguments->end ? G_MAXUINT64 : self->found.settled, error);
}

static gboolean end_stretch(AstroSearch *self, GError **error)
{
  AstroSearchArguments arguments = { .first = self->next, .end = TRUE };
  return !self->is_open || submit(self, NULL, &arguments, error);
}

/* Short losses are steps without weight; after a long one the search begins anew. */
static gboolean pass_losses(AstroSearch *self, guint64 first, GError **error)
{
  AstroSearchArguments arguments = { .first = self->next, .steps = first - self->next };
  if (!self->is_open || first == self->next)
    return TRUE;
  return first > self->next && arguments.steps <= self->config.window
             ? submit(self, NULL, &arguments, error)
             : end_stretch(self, error);
}

static gboolean read_counts(AstroSearch *self, GstBuffer *in, guint64 steps,
                            AstroSearchArguments *arguments, GError **error)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  const gsize n = (gsize)steps * self->config.stations * self->config.dms;
  AstroLayout shape;
  if (!meta || !meta->counts)
    return TRUE;
  if (n > self->n_counts) {
    g_free(self->counts);
    self->counts = g_try_new(guint32, n);
    self->n_counts = self->counts ? n : 0;
    if (!self->counts)
      return astro_backend_no_memory(error, "no memory for the counts of a block");
  }
  astro_stream_shape(astro_stage_in(ASTRO_STAGE(self)), steps, &shape);
  astro_search_spread_counts(self->counts, &self->config, meta, &shape, steps);
  arguments->counts = self->counts;
  arguments->full = MAX(meta->full, 1);
  return TRUE;
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroSearch *self = ASTRO_SEARCH(stage);
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  AstroSearchArguments arguments = { .first = first, .steps = steps };

  if (!check_dms(stage, error) || !pass_losses(self, first, error) ||
      (!is_gap && !read_counts(self, in, steps, &arguments, error)) ||
      !submit(self, is_gap ? NULL : in, &arguments, error))
    return FALSE;
  astro_stage_emit(stage, gst_buffer_copy(in), first, steps);
  return TRUE;
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroSearch *self = ASTRO_SEARCH(stage);
  if (!end_stretch(self, error) || !write_text(self, "", error))
    return FALSE;
  if (self->found.not_finite)
    GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                        ("%" G_GUINT64_FORMAT " values are NaN or infinite and were searched as "
                         "lost",
                         self->found.not_finite),
                        (NULL));
  self->found.not_finite = 0;
  if (self->is_ending)
    commit_file(self);
  return TRUE;
}

static void reset(AstroStage *stage)
{
  AstroSearch *self = ASTRO_SEARCH(stage);
  self->is_open = self->is_ending = FALSE;
  self->found.not_finite = 0;
  g_array_set_size(self->found.hits, 0);
  if (self->groups)
    astro_search_groups_clear(self->groups);
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroSearch *self = ASTRO_SEARCH(trans);
  if (GST_EVENT_TYPE(event) == GST_EVENT_EOS)
    self->is_ending = TRUE;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    g_clear_pointer(&self->file, astro_part_file_discard); /* a flush revokes what came before */
  return GST_BASE_TRANSFORM_CLASS(astro_search_parent_class)->sink_event(trans, event);
}

static GstStateChangeReturn change_state(GstElement *element, GstStateChange transition)
{
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(astro_search_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    commit_file(ASTRO_SEARCH(element));
  return changed;
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  (void)trans;
  (void)direction;
  return astro_stage_filter_caps(gst_caps_ref(caps), filter);
}

/* Nothing is written where the graph is only planned. */
static gboolean is_planned(AstroSearch *self)
{
  g_autoptr(GstContext) plan = gst_element_get_context(GST_ELEMENT(self), ASTRO_PLAN_CONTEXT);
  return plan && !astro_field_is_true(gst_context_get_structure(plan), "run");
}

/* Reports bad settings at the start, and a file that cannot be written. */
static gboolean start(AstroStage *stage)
{
  AstroSearch *self = ASTRO_SEARCH(stage);
  AstroSearchConfig config;
  g_autoptr(GError) error = NULL;
  self->is_ending = FALSE;
  if (!read_settings(self, &config, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  if (!ASTRO_STAGE_CLASS(astro_search_parent_class)->start(stage))
    return FALSE;
  if (is_planned(self) || write_text(self, "", &error))
    return TRUE;
  post_file_error(self, error);
  return FALSE;
}

static const AstroField fields[] = {
  ASTRO_DOUBLE(AstroSearch, threshold, "threshold", "Threshold",
               "Least S/N of a candidate, in standard deviations of the noise", 1, 1e6, 6),
  ASTRO_TEXT(AstroSearch, widths_text, "widths", "Widths",
             "Widths of the boxcars in steps, rising, separated by commas", "1,2,4,8,16,32"),
  ASTRO_UINT(AstroSearch, window, "window", "Window",
             "Steps in which baseline and noise are measured, at least 64 and 32 times the widest "
             "boxcar (0: 64 times that, at least 1024)",
             0, ASTRO_SEARCH_MAX_WINDOW, 0),
  ASTRO_TEXT(AstroSearch, location, "location", "File name",
             "Table of the candidates to write (CSV), renamed from NAME.part when complete (unset: "
             "none)",
             NULL),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroSearch *self = ASTRO_SEARCH(object);
  g_clear_pointer(&self->file, astro_part_file_discard);
  g_clear_pointer(&self->groups, astro_search_groups_free);
  g_array_unref(self->found.hits);
  g_array_unref(self->candidates);
  g_free(self->counts);
  G_OBJECT_CLASS(astro_search_parent_class)->finalize(object);
}

static void astro_search_class_init(AstroSearchClass *klass)
{
  static const AstroQuantity power[] = { ASTRO_QUANTITY_POWER, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstElementClass *element = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  element->change_state = change_state;
  trans->transform_caps = transform_caps;
  trans->sink_event = sink_event;
  stage->stage = "search";
  stage->tell_work = astro_search_work;
  stage->backends = astro_search_backends;
  stage->start = start;
  stage->configure = configure;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  astro_stage_class_add_pads(stage, power, power);
  gst_element_class_set_static_metadata(element, "Pulse search", "Filter/Analyzer",
                                        "Finds single pulses in power, over dispersion measures "
                                        "and beams",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      element, "takes", "power F32LE: time, dm, station or beam, and pol in any order");
  gst_element_class_add_static_metadata(element, "gives", "the same, unchanged");
}

static void astro_search_init(AstroSearch *self)
{
  self->found.hits = g_array_new(FALSE, FALSE, sizeof(AstroSearchHit));
  self->candidates = g_array_new(FALSE, FALSE, sizeof(AstroSearchCandidate));
  astro_fields_set_defaults(self);
}
