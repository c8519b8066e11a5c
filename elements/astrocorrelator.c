/**
 * SECTION:element-astrocorrelator
 *
 * Correlates every station with every other and sums over time: spectra become visibilities, one
 * block for every so many spectra (property integration; with time-step set, the mean of that many
 * integrations). Integrations begin at multiples of that number, counted from time step zero, so
 * that losses and cuts do not shift them. Lost samples lower the counts (validity) of the baselines
 * concerned, and so does a stream that begins or ends inside an integration.
 *
 * With integration-time, the number of spectra is the whole number nearest to that many seconds by
 * the rate in the caps. An element message astro-integration gives it and the exact duration.
 *
 * Both may be set while the stream runs. The open integration keeps its length, and the next one
 * has the new one, after caps with another rate and a message astro-integration: each spectrum is
 * in one integration. From there on integrations are counted from where the first of them begins.
 * Files take no other length, so that in front of one a warning says so, and nothing changes.
 *
 * Spectra may have their axes in any order. The order that suits the backend best is named first in
 * the caps, so that an astrotranspose upstream produces it: channel:time:station:pol for the CPU,
 * channel:station:pol:time for a GPU. Where a GPU has no room for the sums of all channels, groups
 * of channels take turns on it, and active-backend says how many channels a group has.
 *
 * Where samples are integers, upstream is told where blocks had best end: with an integration, or
 * with a part that divides it and is long enough to be multiplied at full speed. astroskysrc keeps
 * to that.
 *
 * With devices=0,1 or all, blocks of spectra are dealt out to several GPUs in turn. Each keeps the
 * sums of its own; when an integration ends one of them, another one each time, adds up what all
 * have made. Sums are the same as those of one device bit for bit; means differ by rounding, at
 * most 6e-8 of their parts for each device. A sum of CI32LE must fit on each device and when each
 * is added. What has to be on another GPU is copied there: straight where they are linked, which
 * gst-astro devices tells, else by the host.
 *
 * Visibilities are means (CF32LE), or exact sums (CI32LE) if the caps downstream ask for them and
 * samples are integers. Each block has validity counts, and its caps say so (counts=true): elements
 * refuse sums whose counts were lost on the way.
 *
 * |[
 * gst-launch-1.0 filesrc location=s.ci8 blocksize=8388608 ! \
 *   application/x-astro-spectra,format=CI8,layout=channel:time:station:pol,stations=64,pols=2,\
 * channels=16 ! astrocorrelator integration=1000 ! filesink location=v.cf32
 * ]|
 */
#include "config.h"
#include "elements/astrocorrelator.h"

#include <string.h>

#include "core/correlator/correlator.h"
#include "core/kit/enum.h"
#include "elements/astrocorrelator-parts.h"
#include "elements/base/astroblocklength.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrolength.h"

/* The layout that suits each backend best. */
#define CPU_LAYOUT "channel:time:station:pol"
#define CUDA_LAYOUT "channel:station:pol:time"
#define OUTPUT_LAYOUT "channel:baseline:pol:pol"

typedef struct {
  guint channel_step, time_step;
  AstroTriangle triangle;
} Settings;

struct _AstroCorrelator {
  AstroStage parent;
  /* properties */
  AstroLength length;
  Settings set;
  /* copies from when the backend was made, because properties may be set at any time */
  AstroCorrelatorConfig config; /* for checks of another length */
  guint64 spectra;              /* in one block of visibilities */
  guint32 full;                 /* samples behind each value if none was lost */

  gboolean open;  /* part of an integration has come */
  guint64 number; /* of that integration */
  guint64 end;    /* the step after the last one that came of it */
  guint32 *counts;
  guint64 n_counts; /* of them that differ, as the latest dump told */

  /* Sets of devices, a bit each; the host counts as one. */
  guint32 stale;              /* they still hold an integration that was dropped */
  guint32 used;               /* they have spectra of the open integration */
  guint lane;                 /* the one that has the block in work */
  AstroCorrelatorParts parts; /* what devices have made of the integration that ends */
};

G_DEFINE_TYPE(AstroCorrelator, astro_correlator, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astrocorrelator, "astrocorrelator", GST_RANK_NONE,
                            ASTRO_TYPE_CORRELATOR)

static Settings settings_of(AstroCorrelator *self)
{
  Settings now;
  astro_fields_copy_numbers(self, &now, &self->set, sizeof now);
  return now;
}

/* Spectra in one block of visibilities; 0 if refused, or not known for lack of a rate. */
static guint64 dump_spectra(AstroCorrelator *self, const Settings *set, const GstStructure *spectra)
{
  gint rate_n = 0, rate_d = 1;
  guint integration;
  if (spectra)
    gst_structure_get_fraction(spectra, "rate", &rate_n, &rate_d);
  return astro_length_find(ASTRO_STAGE(self), &self->length, rate_n, rate_d, &integration, NULL)
             ? (guint64)integration * set->time_step
             : 0;
}

ASTRO_STATIC_ENUM_TYPE(triangle_get_type, "AstroTriangle",
                       { ASTRO_TRIANGLE_LOWER,
                         "Each pair of stations once, and each station with itself", "lower" },
                       { ASTRO_TRIANGLE_FULL, "Each pair in both orders", "full" })

/* ---- negotiation ---- */

static const AstroFormat integers[] = { ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI4 };
static const AstroFormat floats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF16LE };

/* Sets the formats that the format on one side allows on the other. */
static void convert_format(GstStructure *to, const GstStructure *from, GstPadDirection direction)
{
  const GValue *value = gst_structure_get_value(from, "format");
  GValue list = G_VALUE_INIT;
  gboolean integer = FALSE;

  g_value_init(&list, GST_TYPE_LIST);
  if (direction == GST_PAD_SINK) {
    for (guint i = 0; i < G_N_ELEMENTS(integers); i++)
      integer |= astro_format_is_named(value, integers[i]);
    astro_format_append(&list, ASTRO_FORMAT_CF32LE);
    if (integer)
      astro_format_append(&list, ASTRO_FORMAT_CI32LE);
  } else {
    for (guint i = 0; i < G_N_ELEMENTS(floats) && astro_format_is_named(value, ASTRO_FORMAT_CF32LE);
         i++)
      astro_format_append(&list, floats[i]);
    for (guint i = 0; i < G_N_ELEMENTS(integers); i++)
      astro_format_append(&list, integers[i]);
  }
  gst_structure_take_value(to, "format", &list);
}

static guint stations_of(gint baselines, AstroTriangle triangle)
{
  guint n = 0;
  while ((gint64)astro_correlator_baselines(n, triangle) < baselines)
    n++;
  return (gint64)astro_correlator_baselines(n, triangle) == baselines ? n : 0;
}

static void copy_fields(GstStructure *to, const GstStructure *from)
{
  static const char *const fields[] = { "pols", "frequency", "bandwidth" };
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    astro_integration_copy_field(to, from, fields[i]);
}

static GstStructure *to_visibilities(AstroCorrelator *self, const Settings *set,
                                     const GstStructure *from)
{
  GstStructure *to = gst_structure_new_empty("application/x-astro-visibilities");
  gint stations, channels;

  convert_format(to, from, GST_PAD_SINK);
  gst_structure_set(to, "layout", G_TYPE_STRING, OUTPUT_LAYOUT, NULL);
  gboolean known = gst_structure_get_int(from, "stations", &stations) && stations > 0;
  astro_integration_set_int(to, "baselines",
                            known ? astro_correlator_baselines((guint)stations, set->triangle) : 0);
  known = gst_structure_get_int(from, "channels", &channels) && channels > 0;
  astro_integration_set_int(to, "channels", known ? (guint64)channels / set->channel_step : 0);
  gst_structure_set(to, "pols", GST_TYPE_INT_RANGE, 1, 2, NULL); /* spectra may have no pol axis */
  copy_fields(to, from);
  if (set->triangle == ASTRO_TRIANGLE_FULL)
    gst_structure_set(to, "triangle", G_TYPE_STRING, "full", NULL);
  astro_integration_convert_rate(to, from, 1, dump_spectra(self, set, from));
  gst_structure_set(to, "counts", G_TYPE_BOOLEAN, TRUE, NULL);
  return to;
}

/* Sets only what is known for certain: a range would unfix the fixed caps of a capsfilter upstream
 * that leaves out an axis of length 1. NULL: no spectra give such visibilities. */
static GstStructure *to_spectra(AstroCorrelator *self, const Settings *set,
                                const GstStructure *from, const char *layout)
{
  GstStructure *to = gst_structure_new_empty("application/x-astro-spectra");
  gint baselines, channels;

  convert_format(to, from, GST_PAD_SRC);
  if (layout)
    gst_structure_set(to, "layout", G_TYPE_STRING, layout, NULL);
  if (gst_structure_get_int(from, "baselines", &baselines)) {
    guint stations = stations_of(baselines, set->triangle);
    if (stations == 0) {
      gst_structure_free(to);
      return NULL;
    }
    astro_integration_set_int(to, "stations", stations);
  }
  /* With a channel step left open: the backend refuses one that does not divide the channels. */
  if (set->channel_step == 1 && gst_structure_get_int(from, "channels", &channels))
    astro_integration_set_int(to, "channels", (guint64)MAX(channels, 0));
  astro_integration_convert_rate(to, from, dump_spectra(self, set, NULL), 1);
  copy_fields(to, from);
  return to;
}

/* For spectra, names the layout that suits the backend best first; any other is accepted. */
static GstCaps *transform_caps(GstBaseTransform *trans, GstPadDirection direction, GstCaps *caps,
                               GstCaps *filter)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(trans);
  const Settings set = settings_of(self);
  GstCaps *result = gst_caps_new_empty();
  const char *layouts[] = { CPU_LAYOUT, NULL };

  if (direction == GST_PAD_SRC && astro_stage_prefers_device(ASTRO_STAGE(trans)))
    layouts[0] = CUDA_LAYOUT;

  for (guint i = 0; i < gst_caps_get_size(caps) && direction == GST_PAD_SINK; i++)
    gst_caps_append_structure(result, to_visibilities(self, &set, gst_caps_get_structure(caps, i)));
  for (guint l = 0; l < G_N_ELEMENTS(layouts) && direction == GST_PAD_SRC; l++)
    for (guint i = 0; i < gst_caps_get_size(caps); i++) {
      GstStructure *to = to_spectra(self, &set, gst_caps_get_structure(caps, i), layouts[l]);
      if (to)
        gst_caps_append_structure(result, to);
    }
  return astro_stage_filter_caps(result, filter);
}

/* The number of baselines is an int in caps. */
static gboolean check_baselines(const AstroCorrelatorConfig *config, GError **error)
{
  const guint64 baselines = astro_correlator_baselines(config->stations, config->triangle);
  return baselines <= G_MAXINT ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%u stations make %" G_GUINT64_FORMAT
                             " baselines, expected at most %d, the most that caps can hold",
                             config->stations, baselines, G_MAXINT);
}

/* Caps may give extents for axes that the layout does not have. */
static gboolean check_extents(const AstroCorrelatorConfig *config, const AstroStream *out,
                              GError **error)
{
  const struct {
    AstroAxis axis;
    guint64 expected;
  } axes[] = {
    { ASTRO_AXIS_CHANNEL, config->channels / config->channel_step },
    { ASTRO_AXIS_BASELINE, astro_correlator_baselines(config->stations, config->triangle) },
    { ASTRO_AXIS_POL, config->pols },
  };
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++) {
    guint64 found = astro_stream_extent(out, axes[i].axis);
    g_autofree char *layout = astro_layout_to_string(&config->layout);
    if (found != axes[i].expected && axes[i].expected > 0)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "visibilities of %" G_GUINT64_FORMAT
                                 " %ss, expected %" G_GUINT64_FORMAT
                                 ", for %u stations, %u channels and %u polarisations in layout %s",
                                 found, astro_axis_name(axes[i].axis), axes[i].expected,
                                 config->stations, config->channels, config->pols, layout);
  }
  return TRUE;
}

/* GStreamer reads -1 as the largest number. */
static gboolean check_spectra(const AstroCorrelatorConfig *config, guint integration,
                              guint time_step, GError **error)
{
  if (!astro_integration_check(integration, error))
    return FALSE;
  if (time_step == G_MAXUINT)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property time-step is -1, expected 1 to %u integrations",
                               G_MAXUINT - 1);
  if (config->integration <= G_MAXUINT32 / config->channel_step)
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "integration=%u, time-step=%u and channel-step=%u sum %.0f samples "
                             "in a visibility, expected a product of at most %u",
                             integration, time_step, config->channel_step,
                             (double)config->integration * config->channel_step, G_MAXUINT32);
}

/* An AstroLengthCheck. */
static gboolean check_length(AstroStage *stage, guint spectra, GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  const guint time_step = settings_of(self).time_step;
  AstroCorrelatorConfig config = self->config;
  config.integration = (guint64)spectra * time_step;
  return check_spectra(&config, spectra, time_step, error);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  const AstroStream *in = astro_stage_in(stage), *out = astro_stage_out(stage);
  AstroCorrelatorConfig *config = configuration;
  const Settings set = settings_of(self);
  guint integration;

  if (!astro_length_find(stage, &self->length, in->rate_n, in->rate_d, &integration, error))
    return FALSE;
  *config = (AstroCorrelatorConfig){
    .stations = (guint)astro_stream_extent(in, ASTRO_AXIS_STATION),
    .pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
    .channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
    .layout = in->layout,
    .from = in->format,
    .to = out->format,
    .triangle = set.triangle,
    .channel_step = set.channel_step,
    .integration = (guint64)integration * set.time_step,
  };
  if (!check_spectra(config, integration, set.time_step, error) ||
      !astro_integration_check_rate(config->integration, in, out, error))
    return FALSE;
  if (!check_baselines(config, error) || !check_extents(config, out, error))
    return FALSE;
  g_clear_pointer(&self->counts, g_free);
  self->spectra = config->integration;
  self->full = (guint32)config->integration * config->channel_step;
  self->stale = self->used = 0;
  self->lane = 0;
  self->config = *config;
  astro_correlator_parts_clear(&self->parts);
  astro_length_tell(stage, &self->length, integration);
  return TRUE;
}

/* Sums of floats depend on blocks, in their rounding: those stay as they are. */
static gboolean is_exact(AstroFormat format)
{
  for (guint i = 0; i < G_N_ELEMENTS(integers); i++)
    if (format == integers[i])
      return TRUE;
  return FALSE;
}

static gboolean propose_allocation(GstBaseTransform *trans, GstQuery *decide, GstQuery *query)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(trans);
  if (!GST_BASE_TRANSFORM_CLASS(astro_correlator_parent_class)
           ->propose_allocation(trans, decide, query))
    return FALSE;
  if (!decide || !is_exact(self->config.from))
    return TRUE;
  AstroBlockLength length = { .steps = astro_correlator_part_steps(
                                  &self->config, astro_stage_prefers_device(ASTRO_STAGE(trans))) };
  length.phase = length.steps ? self->length.origin % length.steps : 0;
  astro_block_length_add(query, &length);
  return TRUE;
}

/* ---- work ---- */

static guint64 n_counts(AstroStage *stage)
{
  const AstroStream *out = astro_stage_out(stage);
  return astro_stream_extent(out, ASTRO_AXIS_CHANNEL) *
         astro_stream_extent(out, ASTRO_AXIS_BASELINE);
}

/* Adds the counts of good samples behind each channel and baseline, or behind each baseline where
 * all channels have the same, or one count for all. A block without any good sample is a GAP. */
static void add_counts(AstroStage *stage, GstBuffer *out)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  const AstroResult *result = astro_stage_result(stage);
  const AstroLayout *layout = &astro_stage_out(stage)->layout;
  AstroLayout shape = { .n_axes = 2,
                        .axes = { layout->axes[0], layout->axes[1] },
                        .extents = { layout->extents[0], layout->extents[1] } };

  if (result->complete)
    shape.n_axes = 0;
  else if (self->n_counts < n_counts(stage))
    shape = (AstroLayout){ 1, { layout->axes[1] }, { layout->extents[1] } };
  AstroValidityMeta *meta = astro_buffer_add_validity(out, &shape, self->full);
  if (result->complete)
    meta->counts[0] = (guint32)result->samples;
  else
    memcpy(meta->counts, self->counts, self->n_counts * sizeof *self->counts);
  for (guint64 i = 0; i < astro_validity_n_counts(meta); i++)
    if (meta->counts[i])
      return;
  GST_BUFFER_FLAG_SET(out, GST_BUFFER_FLAG_GAP);
}

/* The end of the stream shortens a block's duration, so that its (u,v,w) are those of its middle.
 */
static void end_early(AstroStage *stage, GstBuffer *out, guint64 number, guint64 end)
{
  const AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  if (astro_stage_in(stage)->rate_n > 0)
    GST_BUFFER_DURATION(out) =
        astro_stage_time_in(stage, end) -
        astro_stage_time_in(stage, number * self->spectra + self->length.origin);
}

static void emit(AstroStage *stage, GstBuffer *out, guint64 number, guint64 end, gboolean is_cut)
{
  add_counts(stage, out);
  astro_stage_emit(stage, out, number, 1);
  if (is_cut)
    end_early(stage, out, number, end);
}

/* ---- one integration ---- */

static GstBuffer *new_block(AstroStage *stage, GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  if (!self->counts)
    self->counts = g_new(guint32, n_counts(stage));
  astro_stage_result(stage)->counts = self->counts;
  return astro_stage_new_buffer(stage, astro_stream_step_bytes(astro_stage_out(stage)), error);
}

/* Hands the steps to a device. *out: the block of visibilities that it made of all that it has, if
 * arguments->dump. is_part: others will be added to it. */
static gboolean add_on(AstroStage *stage, guint lane, GstBuffer *in,
                       AstroCorrelatorArguments *arguments, gboolean is_part, GstBuffer **out,
                       GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  const guint32 bit = 1u << lane;
  *out = NULL;
  arguments->begin = (self->stale & bit) != 0;
  arguments->n_counts = &self->n_counts;
  astro_stage_take_lane(stage, lane);
  if (arguments->dump && !(*out = new_block(stage, error)))
    return FALSE;
  if (!astro_stage_submit_part(stage, in, *out, arguments, TRUE, !is_part, error)) {
    gst_clear_buffer(out);
    return FALSE;
  }
  self->stale &= ~bit;
  self->used = arguments->dump ? self->used & ~bit : self->used | bit;
  return TRUE;
}

static gboolean dump_on(AstroStage *stage, guint lane, GstBuffer *in,
                        AstroCorrelatorArguments *arguments, gboolean is_part, GError **error)
{
  GstBuffer *out;
  if (!add_on(stage, lane, in, arguments, is_part, &out, error))
    return FALSE;
  astro_correlator_parts_add(&ASTRO_CORRELATOR(stage)->parts, out, lane, astro_stage_result(stage),
                             ASTRO_CORRELATOR(stage)->n_counts);
  return TRUE;
}

/* Ends the integration on all devices that have spectra of it. The one whose turn it is has the
 * block in work, or nothing of an integration that ends without a block. */
static gboolean dump_parts(AstroStage *stage, GstBuffer *in, AstroCorrelatorArguments *arguments,
                           GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  const guint32 own = 1u << self->lane, others = self->used & ~own;
  const gboolean has_own = in || !others || (self->used & own);
  const gboolean is_part = has_own ? others != 0 : (others & (others - 1)) != 0;
  if (has_own && !dump_on(stage, self->lane, in, arguments, is_part, error))
    return FALSE;
  for (guint lane = 0; lane < astro_stage_n_lanes(stage); lane++) {
    AstroCorrelatorArguments none = { .dump = TRUE };
    if ((others & (1u << lane)) && !dump_on(stage, lane, NULL, &none, is_part, error))
      return FALSE;
  }
  return TRUE;
}

/* Devices take turns in adding up what all of them have made. */
static gboolean join_and_emit(AstroStage *stage, gboolean is_cut, GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  AstroCorrelatorParts *parts = &self->parts;
  GstBuffer *out = astro_correlator_parts_join(parts, stage, (guint)(self->number % parts->n),
                                               astro_stage_result(stage), n_counts(stage),
                                               &self->n_counts, error);
  if (out)
    emit(stage, out, self->number, self->end, is_cut);
  return out != NULL;
}

/* Adds time steps of a block (in is NULL: none), and ends the integration if arguments->dump.
 * is_cut: the stream ended inside this integration. */
static gboolean add(AstroStage *stage, GstBuffer *in, AstroCorrelatorArguments *arguments,
                    gboolean is_cut, GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  GstBuffer *out;
  if (!arguments->dump)
    return add_on(stage, self->lane, in, arguments, FALSE, &out, error);
  if (!dump_parts(stage, in, arguments, error) || !join_and_emit(stage, is_cut, error))
    return FALSE;
  self->open = FALSE;
  return TRUE;
}

static gboolean end_integration(AstroStage *stage, gboolean is_cut, GError **error)
{
  AstroCorrelatorArguments arguments = { .dump = TRUE };
  return !ASTRO_CORRELATOR(stage)->open || add(stage, NULL, &arguments, is_cut, error);
}

static guint64 number_of(const AstroCorrelator *self, guint64 step)
{
  return (step - self->length.origin) / self->spectra;
}

/* Ends the open integration where lost steps took the rest of it with them. Between integrations a
 * new length may begin. */
static gboolean go_to(AstroStage *stage, guint64 step, GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  if (self->open && number_of(self, step) != self->number && !end_integration(stage, FALSE, error))
    return FALSE;
  return self->open || astro_length_renew(stage, &self->length, step, settings_of(self).time_step,
                                          check_length, error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  gboolean gap = GST_BUFFER_FLAG_IS_SET(in, GST_BUFFER_FLAG_GAP);
  AstroCorrelatorArguments arguments = { .steps = steps };
  AstroGoodSamples good = { 0 };
  if (!gap)
    astro_integration_mark_good(&good, in, astro_stage_in(stage), steps);
  g_autofree guint8 *valid = good.valid;
  arguments.valid = valid;
  arguments.valid_time = good.time;
  arguments.valid_channel = good.channel;
  arguments.valid_station = good.station;

  if (!gap)
    self->lane = (self->lane + 1) % astro_stage_n_lanes(stage);
  for (guint64 done = 0; done < steps; done += arguments.count) {
    const guint64 at = first + done;
    if (!go_to(stage, at, error))
      return FALSE;
    self->open = TRUE;
    self->number = number_of(self, at);
    const guint64 end = (self->number + 1) * self->spectra + self->length.origin;
    arguments.first = done;
    arguments.count = MIN(steps - done, end - at);
    arguments.dump = at + arguments.count == end;
    self->end = at + arguments.count;
    if (gap ? arguments.dump && !end_integration(stage, FALSE, error)
            : !add(stage, in, &arguments, FALSE, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean finish(AstroStage *stage, GError **error)
{
  const gboolean ok = end_integration(stage, TRUE, error);
  astro_length_restart(stage, &ASTRO_CORRELATOR(stage)->length);
  return ok;
}

/* The open integration goes out as one that lost the samples of devices that have failed. */
static void rescue(AstroStage *stage)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  AstroCorrelatorArguments none = { .dump = TRUE };
  for (guint lane = 0; lane < astro_stage_n_lanes(stage); lane++)
    if (!astro_stage_lane_works(stage, lane)) {
      self->used &= ~(1u << lane);
      astro_correlator_parts_drop(&self->parts, lane);
    }
  for (guint lane = 0; lane < astro_stage_n_lanes(stage) && self->open; lane++)
    if (self->used & (1u << lane))
      dump_on(stage, lane, NULL, &none, TRUE, NULL);
  if (self->open && self->parts.n > 0)
    join_and_emit(stage, TRUE, NULL);
  self->open = FALSE;
}

static void reset(AstroStage *stage)
{
  AstroCorrelator *self = ASTRO_CORRELATOR(stage);
  astro_correlator_parts_clear(&self->parts);
  self->open = FALSE;
  self->stale = ~0u;
  self->used = 0;
  astro_length_restart(stage, &self->length);
}

static guint64 latency_steps(AstroStage *stage)
{
  return ASTRO_CORRELATOR(stage)->spectra;
}

/* ---- states and properties ---- */

static gboolean start(AstroStage *stage)
{
  astro_length_start(stage, &ASTRO_CORRELATOR(stage)->length);
  return ASTRO_STAGE_CLASS(astro_correlator_parent_class)->start(stage);
}

static gboolean stop(GstBaseTransform *trans)
{
  const gboolean ok = GST_BASE_TRANSFORM_CLASS(astro_correlator_parent_class)->stop(trans);
  astro_length_stop(ASTRO_STAGE(trans), &ASTRO_CORRELATOR(trans)->length);
  return ok;
}

static gboolean sink_event(GstBaseTransform *trans, GstEvent *event)
{
  astro_length_see(ASTRO_STAGE(trans), &ASTRO_CORRELATOR(trans)->length, event);
  return GST_BASE_TRANSFORM_CLASS(astro_correlator_parent_class)->sink_event(trans, event);
}

static void length_changed(GObject *object)
{
  astro_length_changed(&ASTRO_CORRELATOR(object)->length);
}

static const AstroField fields[] = {
  ASTRO_UINT(AstroCorrelator, length.set.spectra, "integration", "Integration",
             "Number of spectra summed into one block of visibilities, at least 1", 0, G_MAXUINT,
             1024, .when = ASTRO_WHEN_PLAYING, .changed = length_changed),
  ASTRO_DOUBLE(AstroCorrelator, length.set.seconds, "integration-time", "Integration time",
               "Duration of one block of visibilities in seconds, instead of integration: the "
               "nearest whole number of spectra by the rate in caps; 0: use integration",
               0, 1e9, 0, .when = ASTRO_WHEN_PLAYING, .changed = length_changed),
  ASTRO_ENUM(AstroCorrelator, set.triangle, "triangle", "Triangle", "Pairs of stations to output",
             triangle_get_type, ASTRO_TRIANGLE_LOWER),
  ASTRO_UINT(AstroCorrelator, set.channel_step, "channel-step", "Channel step",
             "Neighbouring channels averaged into one; has to divide the number of channels", 1,
             G_MAXUINT, 1),
  ASTRO_UINT(AstroCorrelator, set.time_step, "time-step", "Time step",
             "Successive integrations averaged into one", 1, G_MAXUINT, 1),
  { 0 },
};

static void finalize(GObject *object)
{
  astro_correlator_parts_clear(&ASTRO_CORRELATOR(object)->parts);
  g_free(ASTRO_CORRELATOR(object)->counts);
  G_OBJECT_CLASS(astro_correlator_parent_class)->finalize(object);
}

static gboolean amend(AstroStage *stage, AstroObservation *observation, GError **error)
{
  AstroHistory *done = &observation->done;
  if (!astro_integration_check_bandpass(done, error))
    return FALSE;
  done->delays = astro_history_delays(done, ASTRO_QUANTITY_SPECTRA);
  return TRUE;
}

static void astro_correlator_class_init(AstroCorrelatorClass *klass)
{
  static const AstroQuantity spectra[] = { ASTRO_QUANTITY_SPECTRA, ASTRO_QUANTITY_UNKNOWN };
  static const AstroQuantity visibilities[] = { ASTRO_QUANTITY_VISIBILITIES,
                                                ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->transform_caps = transform_caps;
  trans->fixate_caps = astro_stage_fixate_preferred;
  trans->propose_allocation = propose_allocation;
  trans->sink_event = sink_event;
  trans->stop = stop;
  stage->stage = "correlator";
  stage->start = start;
  stage->backends = astro_correlator_backends;
  stage->tell_work = astro_correlator_work;
  stage->configure = configure;
  stage->feed = feed;
  stage->amend = amend;
  stage->finish = finish;
  stage->reset = reset;
  stage->rescue = rescue;
  stage->latency_steps = latency_steps;
  astro_stage_class_add_devices(stage);
  astro_stage_class_add_pads(stage, spectra, visibilities);
  gst_element_class_set_static_metadata(
      GST_ELEMENT_CLASS(klass), "Correlator", "Filter/Analyzer",
      "Correlates every station with every other and sums over time", ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "spectra CI4 CI8 CI16LE CF16LE CF32LE: time, channel, station and pol in any order");
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "gives",
      "visibilities CF32LE, from integers also CI32LE: channel:baseline:pol:pol");
}

static void astro_correlator_init(AstroCorrelator *self)
{
  astro_fields_set_defaults(self);
}
