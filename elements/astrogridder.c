/**
 * SECTION:element-astrogridder
 *
 * Puts visibilities on a grid in (u,v), and in w where that is needed, whose Fourier transform
 * (astrofft) becomes an image of the sky (astroimage). (u,v,w) are computed from the stream's
 * observation.
 *
 * All that comes until the end of the stream goes into one grid; with an interval, a grid is sent
 * every so many blocks of visibilities, so that an image can be watched while it grows; none is
 * sent where all that an interval had is lost. With algorithm=wstacking a grid is a number of
 * planes, one a buffer. What is flagged, not finite or outside the grid is left out, counted in
 * every grid and told at the end in a message astro-gridder: how many visibilities were used,
 * outside, flagged and not-finite, once for each product that is an image of the sky.
 *
 * Most of a plane is empty. Where nobody but astrofft reads the grid, touched-only=true is agreed
 * on in its caps: those tiles of 16 x 16 cells alone are written then that visibilities reached,
 * and a map on the buffer (AstroGridMeta.touched) says which; all others are undefined and stand
 * for zeros. Whoever else reads a grid gets all of it.
 *
 * With backend=cuda visibilities, rows and grids stay on the GPU. Where its memory does not hold
 * all products of a grid, they are made one after the other there and sent on from the host; where
 * it does not hold one, an error says how many bytes are needed and there. Threads add to a grid of
 * algorithm=wprojection in no order there, so that its last bits differ from run to run;
 * deterministic=true puts an end to that, at a cost.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=1024 cell=10 ! astrofft \
 *   ! astroimage ! astrofitssink location=a.fits
 * ]|
 */
#include "config.h"
#include "elements/astrogridder.h"

#include <string.h>

#include "elements/astrofft.h"
#include "elements/astrogridder-reports.h"
#include "elements/astrogridder-settings.h"
#include "elements/astroincoming.h"
#include "elements/astroreader.h"

#define INPUT_LAYOUT "channel:baseline:pol:pol"

struct _AstroGridder {
  AstroStage parent;
  AstroGridderSettings settings;

  AstroCollectConfig config; /* what was agreed on */
  AstroGrid grid;            /* its grid, with products */
  guint interval;            /* dumps of a grid; 0: all */
  gboolean touched_only;     /* planes go with a map of what visibilities reached */
  gboolean observed;         /* the instance knows the observation */
  GstBuffer *open;           /* dumps go straight into it */
  gboolean open_is_new;      /* nothing did yet */
  guint64 dumps;             /* in the grid that is not sent yet */
  guint64 number;            /* of that grid */
  guint64 sent;              /* grids; of those before it that had any visibilities */
  GstClockTime begin, end;   /* of what is in it */
  gboolean at_end;           /* the stream's last */
  gboolean warned;
  AstroGridCounts counts; /* of grids, those too that were not sent */
  AstroGridCounts
      before; /* of other caps and observations: cumulative grids begin anew with them */
};

G_DEFINE_TYPE(AstroGridder, astro_gridder, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrogridder, "astrogridder", GST_RANK_NONE, ASTRO_TYPE_GRIDDER)

/* ---- negotiation ---- */

static gboolean is_for_fft(AstroGridder *self)
{
  return astro_reader_is(GST_BASE_TRANSFORM_SRC_PAD(self), ASTRO_TYPE_FFT);
}

static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  if (direction == GST_PAD_SRC)
    return astro_stage_filter_caps(
        gst_caps_from_string("application/x-astro-visibilities,format={CF32LE,CF64LE},"
                             "layout=" INPUT_LAYOUT),
        filter);
  g_auto(AstroGridderSettings) settings;
  GstCaps *result = gst_caps_new_empty();
  const guint choices = is_for_fft(self) ? 8 : 4;
  astro_gridder_settings_copy(&settings, &self->settings);
  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    for (guint choice = 0; choice < choices; choice++) {
      GstStructure *to = astro_gridder_settings_caps(&settings, gst_caps_get_structure(caps, i),
                                                     choice & 2, choice & 1, choice & 4);
      if (to)
        gst_caps_append_structure(result, to);
    }
  /* Settings that give no grid are told of at the start, which linking must not stand before. */
  if (gst_caps_is_empty(result) && !gst_caps_is_empty(caps))
    gst_caps_append(result,
                    gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_UVGRID)));
  return astro_stage_filter_caps(result, filter);
}

/* Other caps would end a grid that is half made, or one that goes on adding up. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  const AstroGridder *self = ASTRO_GRIDDER(trans);
  const gboolean is_open = self->dumps > 0 || (self->config.cumulative && self->number > 0);
  return (is_open ? astro_stage_fixate_agreed : astro_stage_fixate_preferred)(trans, direction,
                                                                              caps, othercaps);
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  self->touched_only = astro_field_is_true(gst_caps_get_structure(out, 0), "touched-only");
  return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->set_caps(trans, in, out);
}

static void forget_grid(AstroGridder *self)
{
  gst_clear_buffer(&self->open);
  self->dumps = 0;
  self->begin = GST_CLOCK_TIME_NONE;
}

static gboolean check_agreed(AstroGridder *self, const AstroCollectConfig *config, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroLayout *layout = &astro_stage_out(stage)->layout;
  if ((astro_layout_find(layout, ASTRO_AXIS_PLANE) >= 0) != config->algorithm->has_planes)
    return astro_stage_refuse_late(error);
  return astro_stage_check_extent(stage, ASTRO_AXIS_U, self->grid.size, error) &&
         astro_stage_check_extent(stage, ASTRO_AXIS_POL, g_strv_length(self->grid.products), error);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  g_auto(AstroGridderSettings) settings;
  const AstroGridderSettings *s = &settings;
  const AstroStream *in = astro_stage_in(stage), *out = astro_stage_out(stage);
  g_autofree char *layout = astro_layout_to_string(&in->layout);
  AstroCollectConfig *config = configuration;

  astro_gridder_settings_copy(&settings, &self->settings);
  if (in->quantity != ASTRO_QUANTITY_VISIBILITIES || strcmp(layout, INPUT_LAYOUT) ||
      (in->format != ASTRO_FORMAT_CF32LE && in->format != ASTRO_FORMAT_CF64LE))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "input is %s of layout %s in %s, expected visibilities of layout " INPUT_LAYOUT
        " in CF32LE or CF64LE",
        astro_quantity_name(in->quantity), layout, astro_format_info(in->format)->name);
  if (!astro_stream_check_lower(in, error))
    return FALSE;
  const gboolean is_double = out->format == ASTRO_FORMAT_CF64LE;
  memset(config, 0, sizeof *config);
  astro_grid_clear(&self->grid);
  if (!astro_gridder_settings_choose(s, is_double, FALSE, &config->gridder, &self->grid, error))
    return FALSE;
  if (astro_stream_extent(out, ASTRO_AXIS_POL) > g_strv_length(self->grid.products)) {
    astro_grid_clear(&self->grid);
    if (!astro_gridder_settings_choose(s, is_double, TRUE, &config->gridder, &self->grid, error))
      return FALSE;
  }
  config->algorithm = astro_gridder_settings_algorithm(s);
  if (!check_agreed(self, config, error))
    return FALSE;
  config->gridder.channels = (guint)astro_stream_extent(out, ASTRO_AXIS_CHANNEL);
  config->grid = self->grid;
  config->weighting = s->weighting;
  config->robust = s->robust;
  config->per_channel = astro_layout_find(&out->layout, ASTRO_AXIS_CHANNEL) >= 0;
  config->cumulative = s->cumulative && s->interval > 0;
  config->prepare = (AstroPrepareConfig){
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .baselines = (guint)astro_stream_extent(in, ASTRO_AXIS_BASELINE),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .format = in->format,
    .frequency = in->frequency,
    .bandwidth = in->bandwidth,
    .is_double = is_double,
    .keep_weights = s->weighting != ASTRO_WEIGHTING_NATURAL,
  };
  self->config = *config;
  self->interval = s->interval;
  self->observed = FALSE;
  astro_gridder_warn_of_accuracy(GST_ELEMENT(self), s, &self->grid);
  forget_grid(self);
  return TRUE;
}

/* ---- grids out ---- */

static gboolean describe(AstroGridder *self, GstBuffer *buffer, guint plane, guint planes,
                         const AstroCollectArguments *arguments, GError **error)
{
  const guint channels = self->config.gridder.channels;
  const guint products = g_strv_length(self->grid.products);
  g_autofree double *sums = g_new(double, channels);
  const AstroGridCounts *counts =
      astro_collect_counts(astro_stage_instance(ASTRO_STAGE(self)), sums, error);

  if (!counts)
    return FALSE;
  AstroGridMeta *meta = astro_buffer_add_grid(buffer, channels * products);
  for (guint c = 0; c < channels; c++)
    for (guint p = 0; p < products; p++)
      meta->weights[c * products + p] = sums[c];
  meta->w = arguments->w;
  meta->w_step = arguments->w_step;
  meta->plane = plane;
  meta->planes = planes;
  meta->used = counts->used;
  meta->outside = counts->outside;
  meta->flagged = counts->flagged;
  meta->not_finite = counts->not_finite;
  GST_BUFFER_PTS(buffer) = self->begin;
  if (GST_CLOCK_TIME_IS_VALID(self->begin) && GST_CLOCK_TIME_IS_VALID(self->end))
    GST_BUFFER_DURATION(buffer) = self->end - self->begin;
  return TRUE;
}

/* Dumps that go on adding to the open grid want a copy of it sent. Its map goes to touched, where
 * one was agreed on. */
static GstBuffer *next_plane(AstroGridder *self, AstroCollectArguments *arguments,
                             GstBuffer **touched, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  /* Somebody else may read by now what was agreed on with astrofft alone: a plane without a map is
   * whole. */
  const gboolean with_map = self->touched_only && is_for_fft(self);
  GstBuffer *out;
  arguments->is_new = self->open_is_new;
  arguments->is_copy = FALSE;
  if (self->open && !astro_stage_submit_part(stage, NULL, self->open, arguments, self->open_is_new,
                                             !self->config.cumulative, error))
    return NULL;
  self->open_is_new = FALSE;
  if (self->open && !self->config.cumulative)
    return g_steal_pointer(&self->open);
  out = astro_stage_new_buffer(stage, astro_collect_grid_bytes(&self->config), error);
  if (!out)
    return NULL;
  arguments->is_copy = self->open != NULL;
  if (with_map)
    *touched = astro_stage_new_aside(stage, astro_collect_map_bytes(&self->config), error);
  const AstroStageBlocks blocks = { { self->open }, { out, *touched } };
  if ((with_map && !*touched) ||
      !astro_stage_submit_blocks(stage, &blocks, arguments, TRUE, TRUE, error))
    gst_clear_buffer(&out);
  return out;
}

static void warn_of_losses(AstroGridder *self, const AstroGridCounts *counts)
{
  if (counts->outside == 0 || self->warned)
    return;
  self->warned = TRUE;
  astro_gridder_warn_of_losses(GST_ELEMENT(self), astro_stage_instance(ASTRO_STAGE(self)),
                               &self->grid, counts);
}

static gboolean refuse_empty(AstroGridder *self, GError **error)
{
  return astro_gridder_refuse_empty(astro_stage_instance(ASTRO_STAGE(self)), &self->config,
                                    &self->grid, &self->counts, error);
}

/* Data that were lost for a while are no reason to end a stream that has others, before or to come;
 * settings that lose all of them are. */
static gboolean may_be_empty(const AstroGridder *self, const AstroGridCounts *counts)
{
  if (self->sent > 0)
    return TRUE;
  return !self->at_end && counts->outside == 0 && counts->flagged + counts->not_finite > 0;
}

static void add_counts(AstroGridder *self, const AstroGridCounts *counts)
{
  if (self->config.cumulative)
    self->counts = self->before;
  self->counts.used += counts->used;
  self->counts.outside += counts->outside;
  self->counts.flagged += counts->flagged;
  self->counts.not_finite += counts->not_finite;
}

/* One plane after the other goes out, so that few are in memory. */
static gboolean send_planes(AstroGridder *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  AstroCollectArguments arguments = { 0 };
  guint planes;
  if (!astro_collect_begin(astro_stage_instance(stage), &planes, error))
    return FALSE;
  for (guint plane = 0; plane < planes; plane++) {
    g_autoptr(GstBuffer) touched = NULL;
    GstBuffer *out = next_plane(self, &arguments, &touched, error);
    if (!out)
      return FALSE;
    if (!describe(self, out, plane, planes, &arguments, error)) {
      gst_buffer_unref(out);
      return FALSE;
    }
    astro_buffer_get_grid(out)->touched = g_steal_pointer(&touched);
    astro_stage_emit(stage, out, self->number, 1);
    if (astro_stage_push(stage) != GST_FLOW_OK)
      return TRUE;
  }
  return TRUE;
}

static gboolean send_grid(AstroGridder *self, GError **error)
{
  AstroCollect *collect = astro_stage_instance(ASTRO_STAGE(self));
  const AstroGridCounts *counts = astro_collect_counts(collect, NULL, error);

  if (!counts)
    return FALSE;
  add_counts(self, counts);
  if (counts->used > 0) {
    if (!send_planes(self, error))
      return FALSE;
    warn_of_losses(self, counts);
    self->sent++;
  } else if (may_be_empty(self, counts)) {
    if (self->number == self->sent) /* the first */
      astro_gridder_warn_of_gap(GST_ELEMENT(self), self->begin, self->end);
  } else {
    return refuse_empty(self, error);
  }
  if (!astro_collect_end(collect, error))
    return FALSE;
  self->number++;
  self->dumps = 0;
  if (!self->config.cumulative)
    forget_grid(self);
  return TRUE;
}

/* ---- dumps in ---- */

static gboolean observe(AstroGridder *self, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  if (self->observed)
    return TRUE;
  self->before = self->counts;
  self->observed = astro_collect_observe(astro_stage_instance(stage),
                                         (AstroObservation *)astro_stage_observation(stage), error);
  return self->observed;
}

static gboolean open_grid(AstroGridder *self, GError **error)
{
  if (self->open || !astro_collect_adds_at_once(astro_stage_instance(ASTRO_STAGE(self))))
    return TRUE;
  self->open =
      astro_stage_new_buffer(ASTRO_STAGE(self), astro_collect_grid_bytes(&self->config), error);
  self->open_is_new = TRUE;
  return self->open != NULL;
}

/* Of time step first + i of a block that begins there: from the stream's zero, which is the
 * observation's start. Steps of others may lie between whole numbers of integrations. */
static gboolean find_times(AstroGridder *self, GstBuffer *in, guint64 step, guint64 i,
                           guint64 steps, GstClockTime times[2], GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const gboolean has_rate = astro_stage_in(stage)->rate_n > 0;
  if (!has_rate && !(GST_BUFFER_PTS_IS_VALID(in) && GST_BUFFER_DURATION_IS_VALID(in)))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "visibilities have neither a rate in their caps nor times, which (u,v,w) need");
  for (guint64 k = 0; k < 2; k++)
    times[k] = has_rate ? astro_stage_time_in(stage, step + i + k)
                        : GST_BUFFER_PTS(in) +
                              gst_util_uint64_scale(i + k, GST_BUFFER_DURATION(in), steps);
  return has_rate || astro_check_times(GST_BUFFER_PTS(in), GST_BUFFER_DURATION(in), error);
}

static gboolean add_dump(AstroGridder *self, GstBuffer *in, AstroCollectArguments *arguments,
                         const GstClockTime times[2], GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  if (!open_grid(self, error))
    return FALSE;
  if (GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP)) {
    astro_collect_add_missing(astro_stage_instance(stage));
  } else {
    arguments->middle_ns = (gint64)(times[0] + (times[1] - times[0]) / 2);
    arguments->is_new = self->open_is_new;
    if (!astro_stage_submit_part(stage, in, self->open, arguments, self->open_is_new, FALSE, error))
      return FALSE;
    self->open_is_new = FALSE;
  }
  if (!GST_CLOCK_TIME_IS_VALID(self->begin))
    self->begin = times[0];
  self->end = times[1];
  self->dumps++;
  return self->interval == 0 || self->dumps < self->interval || send_grid(self, error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  AstroLayout shape;
  AstroCollectArguments arguments = { .validity = astro_buffer_get_validity(in), .shape = &shape };

  if (!observe(self, error))
    return FALSE;
  astro_stream_shape(astro_stage_in(stage), steps, &shape);
  for (guint64 i = 0; i < steps; i++) {
    GstClockTime times[2];
    arguments.number = i;
    if (!find_times(self, in, first, i, steps, times, error) ||
        !add_dump(self, in, &arguments, times, error))
      return FALSE;
  }
  return TRUE;
}

/* The first dump of a grid waits for the last. */
static guint64 latency_steps(AstroStage *stage)
{
  const guint interval = ASTRO_GRIDDER(stage)->interval;
  return interval > 0 ? interval - 1 : 0;
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  if (self->dumps > 0 && !send_grid(self, error))
    return FALSE;
  if (!self->config.cumulative || self->at_end)
    forget_grid(self);
  if (!self->at_end)
    return TRUE;
  if (self->number == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "the stream ended with no visibilities: there is no grid");
  if (self->sent == 0)
    return refuse_empty(self, error);
  astro_gridder_tell(GST_ELEMENT(self), self->sent, &self->counts);
  return TRUE;
}

static gboolean observed(AstroStage *stage, GError **error)
{
  ASTRO_GRIDDER(stage)->observed = FALSE;
  return TRUE;
}

static void reset(AstroStage *stage)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  forget_grid(self);
  self->observed = FALSE;
  self->number = self->sent = 0;
  self->at_end = self->warned = FALSE;
  self->counts = self->before = (AstroGridCounts){ 0 };
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  const gboolean is_end = GST_EVENT_TYPE(event) == GST_EVENT_EOS;

  /* A flush comes from any thread, while another one is at the end. */
  if (GST_EVENT_IS_SERIALIZED(event))
    self->at_end = is_end;
  gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->sink_event(trans, event);
  if (is_end) /* what comes behind it is another stream */
    reset(ASTRO_STAGE(self));
  return ok;
}

static gboolean start(GstBaseTransform *trans)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  g_auto(AstroGridderSettings) settings;
  g_autoptr(GError) error = NULL;
  astro_gridder_settings_copy(&settings, &self->settings);
  if (astro_gridder_settings_check(&settings, &error)) {
    self->begin = GST_CLOCK_TIME_NONE;
    return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->start(trans);
  }
  GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

/* ---- properties ---- */

static void set_property(GObject *object, guint id, const GValue *value, GParamSpec *spec)
{
  if (!astro_gridder_settings_set(&ASTRO_GRIDDER(object)->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void get_property(GObject *object, guint id, GValue *value, GParamSpec *spec)
{
  if (!astro_gridder_settings_get(&ASTRO_GRIDDER(object)->settings, id, value))
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

static void finalize(GObject *object)
{
  AstroGridder *self = ASTRO_GRIDDER(object);
  gst_clear_buffer(&self->open);
  astro_grid_clear(&self->grid);
  astro_gridder_settings_clear(&self->settings);
  G_OBJECT_CLASS(astro_gridder_parent_class)->finalize(object);
}

static void astro_gridder_class_init(AstroGridderClass *klass)
{
  static const AstroQuantity visibilities[] = { ASTRO_QUANTITY_VISIBILITIES,
                                                ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity grids[] = { ASTRO_QUANTITY_UVGRID, ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  object->set_property = set_property;
  object->get_property = get_property;
  object->finalize = finalize;
  astro_gridder_settings_install(object);
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->set_caps = set_caps;
  trans->sink_event = sink_event;
  trans->start = start;
  stage->stage = "gridder";
  stage->backends = astro_gridder_backends;
  stage->configure = configure;
  stage->feed = feed;
  stage->finish = finish;
  stage->latency_steps = latency_steps;
  stage->observed = observed;
  stage->reset = reset;
  astro_stage_class_add_pads(stage, visibilities, grids);
  gst_type_mark_as_plugin_api(astro_stokes_get_type(), 0);
  gst_type_mark_as_plugin_api(astro_algorithm_get_type(), 0);
  gst_type_mark_as_plugin_api(astro_weighting_get_type(), 0);
  gst_type_mark_as_plugin_api(astro_taps_kind_get_type(), 0);
  gst_type_mark_as_plugin_api(astro_taper_get_type(), 0);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Gridder", "Filter/Analyzer",
                                        "Puts visibilities on a grid, which a Fourier transform "
                                        "makes an image of",
                                        ASTRO_AUTHOR);
}

static void astro_gridder_init(AstroGridder *self)
{
  astro_gridder_settings_init(&self->settings);
}
