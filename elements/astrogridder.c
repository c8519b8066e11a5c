/**
 * SECTION:element-astrogridder
 *
 * Puts visibilities on a grid in (u,v), and in w where that is needed. The Fourier transform of
 * the grid (astrofft) becomes an image of the sky (astroimage). (u,v,w) are computed from the
 * stream's observation, or are those that buffers bring (astrofitssrc uvw=file). They use the
 * observation's Earth orientation, or that of an IERS file in earth-orientation; without either,
 * UT1 is taken to be UTC, and a warning says how far sources in the image's corners may be off, if
 * that is more than a tenth of the beam. Visibilities whose delays were not taken out (there was
 * no astrodelay before the correlator) are refused, except those of a flat array whose phase
 * centre is at the zenith; a warning says how wrong they are.
 *
 * All visibilities until the end of the stream go into one grid. With interval=N a grid is sent
 * after every N dumps of visibilities, so that an image can be watched while it grows; an interval
 * whose visibilities were all lost sends none. With algorithm=wstacking a grid has several planes,
 * one a buffer. Visibilities that are flagged, not finite or outside the grid are left out. They
 * are counted in every grid, and at the end of the stream in a message astro-gridder: how many
 * were used, outside, flagged and not-finite, once for each product that is an image of the sky.
 *
 * Most of a plane is empty. A reader that takes maps says so in the answer to an ALLOCATION query,
 * as astrofft does (elements/base/astroreader.h). Then only those tiles of 16 x 16 cells are
 * written that visibilities reached, and a map on the buffer (AstroGridMeta.touched) says which
 * they are; all other cells are undefined and count as zeros. Any other reader gets whole planes,
 * and so does one that asks for touched-only=false in caps.
 *
 * max-memory is for the visibilities, the grid, and all that the stages after this one make of it,
 * such as astrofft, astroimage and astroclean. How much is needed at most is known before the first
 * visibility is taken: a message of the level INFO says so, and stats (planned-bytes; least-bytes
 * is what would do). Visibilities that do not fit are kept in a file in the folder of temporary
 * files (TMPDIR, which should not be in memory itself), of about as many bytes as the visibilities
 * have; W-stacking then takes those of some planes at a time from it, in as many passes over the
 * file as there must be. Weights stay the same to the last bit, and grids but for the rounding of
 * their sums. An error says how much is needed where even one plane does not fit. If astrodegridder
 * comes before, it has half of max-memory, or what this stage and those after it leave.
 *
 * On a GPU visibilities are in its memory, and max-memory is for what lies on the host: images,
 * what is made of them, and grids that the GPU has no room for. Where an OpenCL device's memory is
 * the host's, it is for visibilities and grids there too, and none are kept in a file. If the
 * stream says how long it is, or with interval, it is known at the start whether the GPU can hold
 * the visibilities; if it cannot, backend=auto takes the CPU, and backend=cuda or opencl is refused
 * with the bytes needed and there.
 *
 * With backend=cuda or opencl visibilities, rows and grids stay on the GPU. If its memory has no
 * room for all products of a grid, they are made there one after the other and sent on from the
 * host; if it has no room for one, an error says how many bytes are needed and there. With
 * backend=cuda and algorithm=wprojection the GPU's threads add to a grid in no fixed order, so that
 * its last bits differ from run to run; deterministic=true prevents that, at a cost. By opencl
 * every sum is made in a fixed order.
 *
 * With devices=0,1 or all, GPUs share a grid. Each makes some of the planes of
 * algorithm=wstacking, which are the same as those of one GPU to the last bit. Other algorithms
 * deal out the visibilities and add up a grid of each GPU in the end, which may differ in the last
 * digits. Each GPU needs room for all products of a grid.
 *
 * With share=RANK/RANKS, so many elements in as many processes share each grid. All of them take
 * all visibilities, so that weights, planes and sums of weights are those of one; then each makes
 * every n-th plane of algorithm=wstacking or, of other algorithms, puts every n-th part of the
 * visibilities on a grid. astrofft and astroimage make an image of what there is, and astroreduce
 * behind astroimage adds these images up: that is the image of one process but for the rounding of
 * that sum. Images cross between processes, and no grids. Visibilities have to fit in each process,
 * or in its file.
 *
 * Where neither cell nor field-of-view is set, a pixel is a quarter of the beam that the stations
 * of the observation give at the highest frequency: the beam of all baselines with natural
 * weights, else that of the longest. The longest baseline is never lost. Where size is not set,
 * the image is as large as field-of-view or, without that, shows what the shortest baseline can
 * see: 1024 to 2048 pixels, and no more than is above the horizon.
 *
 * |[
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder size=1024 cell=10 ! astrofft \
 *   ! astroimage ! astrofitssink location=a.fits
 * gst-launch-1.0 astrofitssrc location=a.uvfits ! astrogridder ! astrofft ! astroimage \
 *   ! astroclean ! astrofitssink location=a.fits
 * ]|
 */
#include "config.h"
#include "elements/astrogridder.h"

#include <string.h>

#include "core/backend/budget.h"
#include "core/gridder/work.h"
#include "core/kit/share.h"
#include "core/lib/sky/earth-error.h"
#include "core/memory/pool.h"
#include "core/stream/uvw-meta.h"
#include "elements/base/astroearth.h"
#include "elements/astrogridder-auto.h"
#include "elements/astrogridder-collector.h"
#include "elements/astrogridder-reports.h"
#include "elements/astrogridder-settings.h"
#include "elements/base/astroincoming.h"
#include "elements/base/astrolog.h"
#include "elements/base/astromemory.h"
#include "elements/base/astroreader.h"
#include "elements/base/astrosteptimes.h"

#define INPUT_LAYOUT "channel:baseline:pol:pol"

struct _AstroGridder {
  AstroStage parent;
  AstroGridderSettings settings;
  AstroGridderAuto automatic; /* settings that follow from the data */

  AstroEarthUse earth;
  AstroGrid grid; /* agreed on, with its products */
  AstroGridCollector collector;
  gboolean wide_psf;  /* the grid is twice as large as the image */
  gboolean observed;  /* the backend knows the observation */
  guint64 budget;     /* bytes, found at the start */
  guint64 own_budget; /* what a stage upstream leaves of it; like the next two members under
                         the object's lock */
  guint64 least;      /* that this stage needs alone, once there are caps */
  AstroGridderPlan planned;
  AstroUndelayed *undelayed; /* NULL: delays were taken out, as they should be */
  guint warned_of_delays;
};

G_DEFINE_TYPE(AstroGridder, astro_gridder, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrogridder, "astrogridder", GST_RANK_NONE, ASTRO_TYPE_GRIDDER)

/* ---- negotiation ---- */

/* The first one is for readers that do not say what they want: it is what any reader understands.
 */
static const AstroGridChoice choices[] = {
  { FALSE, FALSE, FALSE }, { FALSE, TRUE, FALSE }, { TRUE, FALSE, FALSE },
  { TRUE, TRUE, FALSE },   { FALSE, TRUE, TRUE },  { TRUE, TRUE, TRUE },
};

static void append_choices(AstroGridder *self, const GstStructure *from, gboolean may_be_wide,
                           GstCaps *result)
{
  g_auto(AstroGridderSettings) settings;
  double frequency = 0, bandwidth = 0;
  astro_gridder_settings_copy(self, &settings, &self->settings);
  gst_structure_get_double(from, "frequency", &frequency);
  gst_structure_get_double(from, "bandwidth", &bandwidth);
  if (!astro_gridder_auto_fill(&self->automatic, &settings, frequency, bandwidth, NULL))
    return;
  for (guint i = 0; i < G_N_ELEMENTS(choices); i++) {
    if (choices[i].wide_psf && !may_be_wide)
      continue;
    GstStructure *to = astro_gridder_settings_caps(&settings, from, &choices[i]);
    if (to)
      gst_caps_append_structure(result, to);
  }
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
  const gboolean may_be_wide =
      astro_reader_takes(GST_BASE_TRANSFORM_SRC_PAD(self), ASTRO_TAKES_WIDE_PSF);
  GstCaps *result = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); i++)
    append_choices(self, gst_caps_get_structure(caps, i), may_be_wide, result);
  /* Settings that are impossible are reported at the start, so that elements can be linked before;
   * those that follow from the data are not known yet. */
  if (gst_caps_is_empty(result) && !gst_caps_is_empty(caps))
    gst_caps_append(result,
                    gst_caps_new_empty_simple(astro_quantity_media_type(ASTRO_QUANTITY_UVGRID)));
  return astro_stage_filter_caps(result, filter);
}

/* New caps would cut a grid in two, or end one that goes on adding up. */
static GstCaps *fixate_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                            GstCaps *othercaps)
{
  const gboolean is_open = astro_grid_collector_is_open(&ASTRO_GRIDDER(trans)->collector);
  return (is_open ? astro_stage_fixate_agreed : astro_stage_fixate_preferred)(trans, direction,
                                                                              caps, othercaps);
}

/* Checks the settings with those that follow from the data: no caps would be possible if they are
 * wrong, and the error would only say that fields are missing. */
static gboolean check_filled(AstroGridder *self, const GstCaps *in, GError **error)
{
  static const AstroGridChoice choice = { .is_double = TRUE };
  const GstStructure *from = gst_caps_get_structure(in, 0);
  g_auto(AstroGridderSettings) settings;
  double frequency = 0, bandwidth = 0;
  AstroGriddingConfig config;
  AstroGrid grid;

  astro_gridder_settings_copy(self, &settings, &self->settings);
  gst_structure_get_double(from, "frequency", &frequency);
  gst_structure_get_double(from, "bandwidth", &bandwidth);
  if (!astro_gridder_auto_fill(&self->automatic, &settings, frequency, bandwidth, error) ||
      !astro_gridder_settings_choose(&settings, &choice, &config, &grid, error))
    return FALSE;
  astro_grid_clear(&grid);
  return TRUE;
}

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  g_autoptr(GError) error = NULL;
  if (!check_filled(self, in, &error)) {
    GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
    return FALSE;
  }
  const GstStructure *agreed = gst_caps_get_structure(out, 0);
  gboolean some;
  /* A capsfilter with touched-only=false asks for whole planes, whoever reads them. */
  self->collector.whole_planes = gst_structure_get_boolean(agreed, "touched-only", &some) && !some;
  self->wide_psf = astro_field_is_true(agreed, "wide-psf");
  return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->set_caps(trans, in, out);
}

/* Asks whether the reader takes maps of touched tiles, so that nothing else need be written. */
static gboolean decide_allocation(GstBaseTransform *trans, GstQuery *query)
{
  ASTRO_GRIDDER(trans)->collector.reader_takes_maps = astro_reader_takes_maps(query);
  return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->decide_allocation(trans, query);
}

static gboolean check_agreed(AstroGridder *self, const AstroGridderConfig *config, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  const AstroLayout *layout = &astro_stage_out(stage)->layout;
  if ((astro_layout_find(layout, ASTRO_AXIS_PLANE) >= 0) != config->algorithm->has_planes)
    return astro_stage_refuse_late(error);
  return astro_stage_check_extent(stage, ASTRO_AXIS_U, self->grid.size, error) &&
         astro_stage_check_extent(stage, ASTRO_AXIS_POL, g_strv_length(self->grid.products), error);
}

/* Includes the point-spread function if the agreed caps have one more product. */
static gboolean choose_grid(AstroGridder *self, const AstroGridderSettings *settings,
                            const AstroStream *out, AstroGriddingConfig *config, GError **error)
{
  AstroGridChoice choice = { .is_double = out->format == ASTRO_FORMAT_CF64LE,
                             .wide_psf = self->wide_psf };
  astro_grid_clear(&self->grid);
  if (!astro_gridder_settings_choose(settings, &choice, config, &self->grid, error))
    return FALSE;
  if (astro_stream_extent(out, ASTRO_AXIS_POL) <= g_strv_length(self->grid.products))
    return TRUE;
  choice.psf = TRUE;
  astro_grid_clear(&self->grid);
  return astro_gridder_settings_choose(settings, &choice, config, &self->grid, error);
}

/* Dumps of a grid; 0: the stream does not say how long it is. */
static guint64 expected_dumps(AstroGridder *self, guint interval, gboolean cumulative)
{
  const AstroStream *in = astro_stage_in(ASTRO_STAGE(self));
  gint64 duration;
  if (interval > 0 && !cumulative)
    return interval;
  if (in->rate_n <= 0 ||
      !gst_pad_peer_query_duration(GST_BASE_TRANSFORM_SINK_PAD(self), GST_FORMAT_TIME, &duration) ||
      duration <= 0)
    return 0;
  return gst_util_uint64_scale_ceil((guint64)duration, (guint64)in->rate_n,
                                    (guint64)in->rate_d * GST_SECOND) +
         1;
}

static void tell_least(AstroGridder *self, const AstroGridderConfig *config)
{
  const guint64 least = astro_gridder_least(config);
  GST_OBJECT_LOCK(self);
  self->least = least;
  GST_OBJECT_UNLOCK(self);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  g_auto(AstroGridderSettings) settings;
  const AstroGridderSettings *s = &settings;
  const AstroStream *in = astro_stage_in(stage), *out = astro_stage_out(stage);
  g_autofree char *layout = astro_layout_to_string(&in->layout);
  AstroGridderConfig *config = configuration;
  guint rank, ranks;

  astro_gridder_settings_copy(self, &settings, &self->settings);
  if (!astro_share_read(s->share, &rank, &ranks, error))
    return FALSE;
  if (in->quantity != ASTRO_QUANTITY_VISIBILITIES || strcmp(layout, INPUT_LAYOUT) ||
      (in->format != ASTRO_FORMAT_CF32LE && in->format != ASTRO_FORMAT_CF64LE))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "input is %s of layout %s in %s, expected visibilities of layout " INPUT_LAYOUT
        " in CF32LE or CF64LE",
        astro_quantity_name(in->quantity), layout, astro_format_info(in->format)->name);
  if (!astro_stream_check_lower(in, error) ||
      !astro_gridder_auto_fill(&self->automatic, &settings, in->frequency, in->bandwidth, error))
    return FALSE;
  memset(config, 0, sizeof *config);
  if (!choose_grid(self, s, out, &config->gridder, error))
    return FALSE;
  config->algorithm = astro_gridder_settings_algorithm(s);
  if (!check_agreed(self, config, error))
    return FALSE;
  config->gridder.channels = (guint)astro_stream_extent(out, ASTRO_AXIS_CHANNEL);
  config->grid = self->grid;
  config->weighting = s->weighting;
  config->robust = s->robust;
  config->per_channel = astro_layout_find(&out->layout, ASTRO_AXIS_CHANNEL) >= 0;
  config->cumulative = s->cumulative && s->interval > 0;
  config->ranks = ranks;
  config->prepare = (AstroPrepareConfig){
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .baselines = (guint)astro_stream_extent(in, ASTRO_AXIS_BASELINE),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .format = in->format,
    .frequency = in->frequency,
    .bandwidth = in->bandwidth,
    .is_double = config->gridder.is_double,
    .keep_weights = s->weighting != ASTRO_WEIGHTING_NATURAL,
    .smearing = config->per_channel ? 0 : s->smearing,
  };
  config->dumps = expected_dumps(self, s->interval, config->cumulative);
  tell_least(self, config);
  self->collector.config = *config;
  self->collector.interval = s->interval;
  self->collector.rank = rank;
  self->collector.ranks = ranks;
  self->observed = FALSE;
  astro_gridder_warn_of_accuracy(GST_ELEMENT(self), s, &self->grid);
  astro_gridder_warn_of_robust(GST_ELEMENT(self), s);
  astro_grid_collector_forget(&self->collector);
  return TRUE;
}

/* ---- dumps ---- */

static guint64 own_budget(AstroGridder *self)
{
  GST_OBJECT_LOCK(self);
  const guint64 bytes = self->own_budget;
  GST_OBJECT_UNLOCK(self);
  return bytes;
}

/* Caps have gone downstream before the first dump, so that stages there know what they need. in:
 * the first block, of which there may be as many as a pool has. */
static void find_memory(AstroGridder *self, GstBuffer *in)
{
  AstroGridderMemory *memory = &self->collector.memory;
  *memory = (AstroGridderMemory){
    .budget = own_budget(self),
    .others = astro_memory_downstream(GST_BASE_TRANSFORM_SRC_PAD(self)) +
              ASTRO_POOL_DEPTH * gst_buffer_get_size(in),
    .dumps = expected_dumps(self, self->collector.interval, self->collector.config.cumulative),
    .repeats = self->collector.interval > 0 || self->collector.sent > 0,
  };
}

static void tell_plan(AstroGridder *self)
{
  const AstroGridderPlan *plan = &self->collector.plan;
  GST_OBJECT_LOCK(self);
  self->planned = *plan;
  GST_OBJECT_UNLOCK(self);
  if (plan->bytes > 0)
    ASTRO_INFO(self,
               "%" G_GUINT64_FORMAT
               " bytes at most are in use from here to the image, of %" G_GUINT64_FORMAT
               " that max-memory allows",
               plan->bytes, self->collector.memory.budget);
  if (plan->most_rows > 0)
    ASTRO_INFO(self, "more than %" G_GUINT64_FORMAT " rows of visibilities are kept in a file",
               plan->most_rows);
}

static gboolean observe(AstroGridder *self, GstBuffer *in, GError **error)
{
  AstroStage *stage = ASTRO_STAGE(self);
  AstroObservation *observation = (AstroObservation *)astro_stage_observation(stage);
  if (self->observed)
    return TRUE;
  g_clear_pointer(&self->undelayed, astro_undelayed_free);
  self->undelayed = astro_undelayed_new(observation, astro_stage_in(stage));
  find_memory(self, in);
  self->observed = astro_grid_collector_observe(&self->collector, observation, error);
  if (self->observed)
    tell_plan(self);
  if (self->observed)
    astro_earth_use_tell(&self->earth, GST_ELEMENT(self), observation, astro_stage_in(stage),
                         astro_earth_error_of_uvw(astro_grid_farthest(&self->grid)),
                         " in the image's corners");
  return self->observed;
}

static gboolean check_delays(AstroGridder *self, gint64 middle_ns, GError **error)
{
  return !self->undelayed || astro_gridder_check_delays(GST_ELEMENT(self), self->undelayed,
                                                        middle_ns, &self->warned_of_delays, error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  const guint baselines = self->collector.config.prepare.baselines;
  const gboolean is_gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  const double *uvw = NULL;
  AstroLayout shape;
  AstroGridderArguments arguments = { .validity = astro_buffer_get_validity(in), .shape = &shape };

  if (!observe(self, in, error) ||
      !(is_gap ||
        astro_buffer_find_uvw(in, astro_stage_observation(stage), steps, baselines, &uvw, error)))
    return FALSE;
  astro_stream_shape(astro_stage_in(stage), steps, &shape);
  for (guint64 i = 0; i < steps; i++) {
    GstClockTime times[2];
    if (!astro_stage_step_times(stage, in, first, i, steps, times, error))
      return FALSE;
    arguments.number = i;
    arguments.uvw = uvw ? uvw + 3 * i * baselines : NULL;
    arguments.middle_ns = (gint64)(times[0] + (times[1] - times[0]) / 2);
    if (!(is_gap || check_delays(self, arguments.middle_ns, error)) ||
        !astro_grid_collector_add(&self->collector, in, &arguments, times, error))
      return FALSE;
  }
  return TRUE;
}

/* The first dump of a grid waits for the last one. */
static guint64 latency_steps(AstroStage *stage)
{
  const guint interval = ASTRO_GRIDDER(stage)->collector.interval;
  return interval > 0 ? interval - 1 : 0;
}

static void tell_stats(AstroStage *stage, GstStructure *stats)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  GST_OBJECT_LOCK(self);
  gst_structure_set(stats, "planned-bytes", G_TYPE_UINT64, self->planned.bytes, "least-bytes",
                    G_TYPE_UINT64, self->planned.least, "most-rows", G_TYPE_UINT64,
                    self->planned.most_rows, "most-sorted", G_TYPE_UINT64,
                    self->planned.most_sorted, NULL);
  GST_OBJECT_UNLOCK(self);
}

static gboolean finish(AstroStage *stage, GError **error)
{
  return astro_grid_collector_finish(&ASTRO_GRIDDER(stage)->collector, error);
}

static gboolean orient(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  return astro_earth_use(&self->earth, self, &self->settings.earth_orientation, observation, error);
}

static gboolean observed(AstroStage *stage, GError **error)
{
  ASTRO_GRIDDER(stage)->observed = FALSE;
  return TRUE;
}

static void reset(AstroStage *stage)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  astro_grid_collector_reset(&self->collector);
  self->observed = FALSE;
  self->warned_of_delays = 0;
}

static gboolean leaves_to_data(AstroGridder *self)
{
  g_auto(AstroGridderSettings) settings;
  astro_gridder_settings_copy(self, &settings, &self->settings);
  return astro_gridder_auto_is_asked(&settings);
}

/* Whether the settings that follow from the data are known, for visibilities of that band; else
 * posts the error. */
static gboolean check_known(AstroGridder *self, const AstroStream *in)
{
  g_auto(AstroGridderSettings) settings;
  g_autoptr(GError) error = NULL;
  astro_gridder_settings_copy(self, &settings, &self->settings);
  if (astro_gridder_auto_fill(&self->automatic, &settings, in->frequency, in->bandwidth, &error))
    return TRUE;
  GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("%s", error->message), (NULL));
  return FALSE;
}

static gboolean stage_event(AstroGridder *self, GstEvent *event)
{
  return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)
      ->sink_event(GST_BASE_TRANSFORM(self), event);
}

/* Without those settings there would be no caps to agree on, and no error that says why. */
static gboolean caps_event(AstroGridder *self, GstEvent *event)
{
  AstroStream in;
  GstCaps *caps;
  gst_event_parse_caps(event, &caps);
  if (!astro_stream_from_caps(&in, caps, NULL) || check_known(self, &in))
    return stage_event(self, event);
  gst_event_unref(event);
  return FALSE;
}

/* Events that waited for the stations go on first, in their order. Another array gives another
 * image, unless grids go on adding up. */
static gboolean observation_event(AstroGridder *self, GstEvent *event)
{
  const gboolean is_known = astro_event_is_known(GST_BASE_TRANSFORM_SINK_PAD(self), event);
  gboolean ok = TRUE;
  GstEvent *held;
  if (self->collector.config.cumulative && self->collector.number > 0)
    return stage_event(self, event);
  astro_gridder_auto_observe(&self->automatic, event);
  if (!astro_gridder_auto_is_waiting(&self->automatic)) {
    ok = stage_event(self, event);
    if (!is_known && leaves_to_data(self))
      gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));
    return ok;
  }
  /* ALLOCATION queries in the meantime got no answer: they have to be sent again. */
  gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(self));
  while ((held = g_queue_pop_head(&self->automatic.held)))
    ok &= GST_EVENT_TYPE(held) == GST_EVENT_CAPS ? caps_event(self, held) : stage_event(self, held);
  return stage_event(self, event) && ok;
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  const gboolean is_end = GST_EVENT_TYPE(event) == GST_EVENT_EOS;

  /* A flush may come from any thread, while another one is at the end. */
  if (GST_EVENT_IS_SERIALIZED(event))
    self->collector.at_end = is_end;
  if (astro_event_is_observation(event))
    return observation_event(self, event);
  if (astro_gridder_auto_holds(&self->automatic, leaves_to_data(self), event))
    return TRUE;
  if (is_end && astro_gridder_auto_is_waiting(&self->automatic)) {
    check_known(self, &(AstroStream){ 0 });
    astro_gridder_auto_forget(&self->automatic);
  }
  gboolean ok =
      GST_EVENT_TYPE(event) == GST_EVENT_CAPS ? caps_event(self, event) : stage_event(self, event);
  if (is_end) /* another stream follows */
    reset(ASTRO_STAGE(self));
  return ok;
}

static GstFlowReturn submit_input(GstBaseTransform *trans, gboolean is_discont, GstBuffer *buffer)
{
  AstroGridder *self = ASTRO_GRIDDER(trans);
  if (!astro_gridder_auto_is_waiting(&self->automatic))
    return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)
        ->submit_input_buffer(trans, is_discont, buffer);
  gst_buffer_unref(buffer);
  check_known(self, &(AstroStream){ 0 });
  return GST_FLOW_ERROR;
}

/* A stage upstream plans its memory too: half of what there is here is for this stage and those
 * after it, or as much as they need. */
static void share_budget(AstroGridder *self, GstQuery *asked)
{
  const guint64 others = astro_memory_downstream(GST_BASE_TRANSFORM_SRC_PAD(self));
  GST_OBJECT_LOCK(self);
  const guint64 own = MIN(MAX(self->budget / 2, self->least + others), self->budget);
  self->own_budget = own;
  GST_OBJECT_UNLOCK(self);
  astro_memory_add(asked, own);
}

/* To answer it, the base class would agree on caps. Where the pad flushes this stage may stop, and
 * forget what it waits for. */
static gboolean query(GstBaseTransform *trans, GstPadDirection direction, GstQuery *asked)
{
  if (direction == GST_PAD_SINK && astro_memory_is_asked(asked)) {
    share_budget(ASTRO_GRIDDER(trans), asked);
    return FALSE;
  }
  if (GST_QUERY_TYPE(asked) == GST_QUERY_ALLOCATION && direction == GST_PAD_SINK &&
      !GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(trans)) &&
      astro_gridder_auto_is_waiting(&ASTRO_GRIDDER(trans)->automatic))
    return FALSE;
  return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->query(trans, direction, asked);
}

static gboolean stop(GstBaseTransform *trans)
{
  astro_gridder_auto_forget(&ASTRO_GRIDDER(trans)->automatic);
  return GST_BASE_TRANSFORM_CLASS(astro_gridder_parent_class)->stop(trans);
}

static gboolean start(AstroStage *stage)
{
  AstroGridder *self = ASTRO_GRIDDER(stage);
  g_auto(AstroGridderSettings) settings;
  g_autoptr(GError) error = NULL;
  guint64 budget = 0;
  astro_gridder_settings_copy(self, &settings, &self->settings);
  self->earth = (AstroEarthUse){ 0 };
  if (astro_gridder_settings_check(&settings, &error) &&
      astro_memory_budget(settings.max_memory, &budget, &error)) {
    GST_OBJECT_LOCK(self);
    self->own_budget = self->budget = budget;
    self->least = 0;
    self->planned = (AstroGridderPlan){ 0 };
    GST_OBJECT_UNLOCK(self);
    self->collector.begin = self->collector.last = GST_CLOCK_TIME_NONE;
    return ASTRO_STAGE_CLASS(astro_gridder_parent_class)->start(stage);
  }
  GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

static void finalize(GObject *object)
{
  AstroGridder *self = ASTRO_GRIDDER(object);
  astro_grid_collector_forget(&self->collector);
  g_clear_pointer(&self->undelayed, astro_undelayed_free);
  astro_gridder_auto_clear(&self->automatic);
  astro_grid_clear(&self->grid);
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

  astro_fields_install(object, astro_gridder_settings_fields,
                       G_STRUCT_OFFSET(AstroGridder, settings));
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = fixate_caps;
  trans->set_caps = set_caps;
  trans->decide_allocation = decide_allocation;
  trans->sink_event = sink_event;
  stage->start = start;
  trans->stop = stop;
  trans->query = query;
  trans->submit_input_buffer = submit_input;
  stage->stage = "gridder";
  stage->backends = astro_gridder_backends;
  stage->tell_work = astro_gridder_work;
  stage->configure = configure;
  stage->feed = feed;
  stage->finish = finish;
  stage->latency_steps = latency_steps;
  stage->tell_stats = tell_stats;
  stage->orient = orient;
  stage->observed = observed;
  stage->reset = reset;
  astro_stage_class_add_pads(stage, visibilities, grids);
  astro_stage_class_add_devices(stage);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Gridder", "Filter/Analyzer",
      "Puts visibilities on a grid whose Fourier transform is an image", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "takes",
                                        "visibilities CF32LE CF64LE: channel:baseline:pol:pol");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "uvgrids CF32LE CF64LE: plane:pol:v:u of wstacking, else "
                                        "pol:v:u, with channel where they are per channel");
}

static void astro_gridder_init(AstroGridder *self)
{
  astro_fields_set_defaults(self);
  astro_gridder_auto_init(&self->automatic);
  self->collector.stage = ASTRO_STAGE(self);
}
