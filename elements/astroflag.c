/**
 * SECTION:element-astroflag
 *
 * Flags interference: it lowers the counts of good samples (validity) of what is spoilt to 0, and
 * changes nothing else. Everything downstream obeys: the means of astrocorrelator, astropower and
 * astrobeamform leave out what is flagged, astrogridder images without it, and files have it as
 * weights of 0.
 *
 * method=kurtosis flags spectra, or power with its squares (astropower square=true), that are not
 * like the noise of a receiver: their spectral kurtosis, of `block` spectra or of one integration,
 * lies beyond limits that noise passes with the probability false-alarm. It sees what is on for
 * less than half of the time, or always, but a signal that is on for just half of it hides. Spectra
 * of format CI4 are refused, since their rounding changes the kurtosis; values of integers that are
 * too small for it are left alone and counted as coarse. Of power it takes XX, YY, RR and LL: the
 * kurtosis of I depends on how much stronger one polarisation is than the other, and on their
 * correlation, and Q, U and V have a mean of about 0, by which the kurtosis would be divided.
 *
 * method=threshold is SumThreshold (Offringa et al. 2010), on the amplitudes of visibilities or
 * spectra and on power, in blocks of `block` steps by all channels: windows of 1, 2, 4 ... longest
 * values in time and in frequency whose mean is more than threshold standard deviations (falling by
 * 1.45 for each doubling) away from a smooth baseline; flags then grow by a fifth of their length.
 *
 * method=list flags what a file (location) names. Its lines have items that hold together:
 * channels=0-3,60- stations=CS302,4 beams=2 times=FROM/TO, with lists as astroselect takes them,
 * and times in UTC or in seconds from the start of the observation.
 *
 * Kurtosis and threshold run on NVIDIA GPUs too, with the same verdicts; lists are the CPU's.
 *
 * What one polarisation or product shows is flagged in all of them. Blocks are held back until all
 * their steps have come. What is missing is neither judged nor counted. An element message
 * `flagged` says at the end, and once a second before it, how many values were judged and flagged
 * (judged-values, flagged-values, flagged-percent, coarse-values) and the worst channels
 * (worst-channels, worst-values); the property stats has the same.
 *
 * |[
 * gst-launch-1.0 astroskysrc stations=1 duration=1 rfi="150.1e6,5,on=0.1,period=0.3" ! \
 *   astrochannelizer channels=64 ! astroflag method=kurtosis block=1000 ! \
 *   astropower integration=1000 ! filesink location=power.f32
 * ]|
 */
#include "config.h"
#include "elements/astroflag.h"

#include "core/kit/enum.h"
#include "elements/astroflag-blocks.h"
#include "elements/astroflag-rules.h"
#include "elements/astroflag-told.h"
#include "elements/base/astrofields.h"
#include "elements/base/astrosteptimes.h"

#define KURTOSIS_BLOCK 1024 /* steps, where the user leaves it open */
#define THRESHOLD_BLOCK 64

struct _AstroFlag {
  AstroStage parent;
  /* properties */
  AstroFlagMethod method;
  double false_alarm, threshold;
  guint block, longest;
  char *location;

  AstroPowerProducts products; /* of the caps, if they are of power */
  AstroFlagConfig config;
  AstroFlagBlocks blocks;
  AstroFlagTold told;
  gboolean stale;       /* the backend still holds part of a block that was dropped */
  gboolean said_coarse; /* that integers are too small */
  AstroFlagList *list;
  GArray *rules; /* of the list, for this stream; NULL: not known yet */
  /* The flags of the block that goes out: for each step; NULL: none. */
  const guint8 **rows;
  guint64 row_steps;
};

G_DEFINE_TYPE(AstroFlag, astro_flag, ASTRO_TYPE_STAGE)
GST_ELEMENT_REGISTER_DEFINE(astroflag, "astroflag", GST_RANK_NONE, ASTRO_TYPE_FLAG)

ASTRO_STATIC_ENUM_TYPE(method_get_type, "AstroFlagMethod",
                       { ASTRO_FLAG_KURTOSIS, "Spectral kurtosis, of spectra or power with squares",
                         "kurtosis" },
                       { ASTRO_FLAG_THRESHOLD, "SumThreshold, of spectra, power or visibilities",
                         "threshold" },
                       { ASTRO_FLAG_LIST, "What the file `location` names", "list" })

/* ---- negotiation ---- */

static gboolean set_caps(GstBaseTransform *trans, GstCaps *in, GstCaps *out)
{
  AstroFlag *self = ASTRO_FLAG(trans);
  const GstStructure *s = gst_caps_get_structure(in, 0);
  g_autoptr(GError) error = NULL;
  AstroStream stream;
  self->products.n = 0;
  if (astro_quantity_from_media_type(gst_structure_get_name(s)) == ASTRO_QUANTITY_POWER &&
      !astro_power_from_caps(&stream, &self->products, in, &error)) {
    GST_ELEMENT_ERROR(self, STREAM, WRONG_TYPE, ("%s", error->message), (NULL));
    return FALSE;
  }
  return GST_BASE_TRANSFORM_CLASS(astro_flag_parent_class)->set_caps(trans, in, out);
}

static void forget_rules(AstroFlag *self)
{
  g_clear_pointer(&self->rules, g_array_unref);
}

static gboolean configure(AstroStage *stage, gpointer configuration, gboolean *pass_through,
                          GError **error)
{
  AstroFlag *self = ASTRO_FLAG(stage);
  self->config = (AstroFlagConfig){
    .in = *astro_stage_in(stage),
    .products = self->products,
    .method = self->method,
    .block = self->block                            ? self->block
             : self->method == ASTRO_FLAG_THRESHOLD ? THRESHOLD_BLOCK
                                                    : KURTOSIS_BLOCK,
    .false_alarm = self->false_alarm,
    .threshold = self->threshold,
    .longest = self->longest,
  };
  *(AstroFlagConfig *)configuration = self->config;
  self->blocks.length = self->config.block;
  self->blocks.row = astro_flag_units(&self->config.in) * astro_flag_channels(&self->config.in);
  self->blocks.one_row = self->method == ASTRO_FLAG_KURTOSIS;
  self->stale = FALSE;
  if (self->told.channels != astro_flag_channels(&self->config.in))
    astro_flag_told_reset(&self->told, GST_ELEMENT(self), astro_flag_channels(&self->config.in));
  forget_rules(self);
  return TRUE;
}

static gboolean observed(AstroStage *stage, GError **error)
{
  forget_rules(ASTRO_FLAG(stage));
  return TRUE;
}

/* ---- blocks out ---- */

static gboolean validity(AstroStage *stage, GstBuffer *in, GstBuffer *out)
{
  AstroFlag *self = ASTRO_FLAG(stage);
  if (!self->rows)
    return ASTRO_STAGE_CLASS(astro_flag_parent_class)->validity(stage, in, out);
  astro_flag_apply(&self->config.in, self->row_steps, self->rows, astro_buffer_get_validity(in),
                   out);
  return TRUE;
}

/* rows: NULL for a gap. */
static gboolean emit(AstroFlag *self, GstBuffer *in, guint64 first, guint64 steps,
                     const guint8 **rows, GError **error)
{
  self->rows = rows;
  self->row_steps = steps;
  const gboolean ok =
      astro_stage_emit_part(ASTRO_STAGE(self), in, 0, gst_buffer_get_size(in), first, steps, error);
  self->rows = NULL;
  return ok;
}

static gboolean is_gap(GstBuffer *buffer)
{
  return GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP);
}

static gboolean emit_judged(AstroFlag *self, GError **error)
{
  AstroFlagHeld *next;
  while ((next = astro_flag_blocks_pop(&self->blocks))) {
    g_autoptr(AstroFlagHeld) held = next;
    g_autofree const guint8 **rows =
        is_gap(held->buffer) ? NULL : astro_flag_blocks_rows(&self->blocks, held);
    if (!emit(self, held->buffer, held->first, held->steps, rows, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- verdicts ---- */

static void tell(AstroFlag *self, const guint8 *flags, guint64 rows)
{
  GstElement *element = GST_ELEMENT(self);
  astro_flag_told_add(&self->told, element, flags, rows, astro_flag_units(&self->config.in));
  astro_flag_told_post(&self->told, element, FALSE);
  if (self->said_coarse || !self->told.tally.coarse)
    return;
  self->said_coarse = TRUE;
  GST_ELEMENT_WARNING(self, STREAM, FORMAT,
                      ("method=kurtosis leaves channels alone whose %s samples are too small: "
                       "rounding changes their kurtosis; expected a standard deviation of at "
                       "least 2 (stats counts them as coarse-values)",
                       astro_format_name(self->config.in.format)),
                      (NULL));
}

/* Judges the steps that the arguments end; in: the last of them, or NULL. */
static guint8 *judge(AstroFlag *self, GstBuffer *in, AstroFlagArguments *arguments, GError **error)
{
  const guint64 rows = astro_flag_rows(&self->config, arguments);
  AstroFlagVerdict verdict = { .flags = g_try_malloc(rows * self->blocks.row) };
  if (!verdict.flags) {
    astro_backend_no_memory(error, "no memory for the flags of a block");
    return NULL;
  }
  arguments->end = TRUE;
  astro_stage_result(ASTRO_STAGE(self))->own = &verdict;
  const gboolean ok = astro_stage_submit(ASTRO_STAGE(self), in, NULL, arguments, error);
  astro_stage_result(ASTRO_STAGE(self))->own = NULL;
  if (!ok) {
    g_free(verdict.flags);
    return NULL;
  }
  tell(self, verdict.flags, rows);
  return verdict.flags;
}

static gboolean judge_block(AstroFlag *self, GError **error)
{
  AstroFlagArguments arguments = { .phase = self->blocks.phase };
  guint8 *flags = judge(self, NULL, &arguments, error);
  if (!flags)
    return FALSE;
  astro_flag_blocks_judged(&self->blocks, flags);
  return TRUE;
}

/* ---- blocks in ---- */

/* Hands steps from..to of a block, which begins at step `first`, to the backend: all of them belong
 * to one judged block. */
static gboolean add_piece(AstroFlag *self, GstBuffer *in, guint64 first, guint64 steps,
                          guint64 from, guint64 to, GError **error)
{
  AstroFlagBlocks *blocks = &self->blocks;
  const guint64 number = (first + from) / blocks->length;
  const AstroFlagArguments arguments = { .block_steps = steps,
                                         .first = from,
                                         .steps = to - from,
                                         .phase = (first + from) % blocks->length,
                                         .begin = self->stale,
                                         .meta = astro_buffer_get_validity(in) };
  if (blocks->open && blocks->number != number && !judge_block(self, error))
    return FALSE;
  if (!astro_stage_submit(ASTRO_STAGE(self), in, NULL, &arguments, error))
    return FALSE;
  self->stale = FALSE;
  blocks->open = TRUE;
  blocks->number = number;
  blocks->phase = arguments.phase + arguments.steps;
  return blocks->phase < blocks->length || judge_block(self, error);
}

static gboolean feed_blocks(AstroFlag *self, GstBuffer *in, guint64 first, guint64 steps,
                            GError **error)
{
  const guint64 length = self->blocks.length;
  /* Lost steps took the rest of the open block with them. */
  if (self->blocks.open && first / length != self->blocks.number && !judge_block(self, error))
    return FALSE;
  astro_flag_blocks_hold(&self->blocks, in, first, steps);
  for (guint64 from = 0, to; !is_gap(in) && from < steps; from = to) {
    to = MIN(steps, ((first + from) / length + 1) * length - first);
    if (!add_piece(self, in, first, steps, from, to, error))
      return FALSE;
  }
  return emit_judged(self, error);
}

static void forget_blocks(AstroFlag *self)
{
  astro_flag_blocks_clear(&self->blocks);
  self->stale = TRUE;
}

/* Each step is judged by itself. */
static gboolean feed_steps(AstroFlag *self, GstBuffer *in, guint64 first, guint64 steps,
                           GError **error)
{
  AstroFlagArguments arguments = { .block_steps = steps,
                                   .steps = steps,
                                   .meta = astro_buffer_get_validity(in) };
  g_autofree guint8 *flags = judge(self, in, &arguments, error);
  if (!flags)
    return FALSE;
  g_autofree const guint8 **rows = g_new(const guint8 *, steps);
  for (guint64 t = 0; t < steps; t++)
    rows[t] = flags + t * self->blocks.row;
  return emit(self, in, first, steps, rows, error);
}

/* ---- the list ---- */

static gboolean know_rules(AstroFlag *self, GError **error)
{
  if (!self->rules)
    self->rules = astro_flag_rules_new(self->list, &self->config.in,
                                       astro_stage_observation(ASTRO_STAGE(self)), error);
  return self->rules != NULL;
}

/* Seconds from the observation's start at which a step begins and ends. */
static gboolean find_times(AstroFlag *self, GstBuffer *in, guint64 first, guint64 t, guint64 steps,
                           double times[2], GError **error)
{
  GstClockTime at[2];
  if (!astro_stage_step_times(ASTRO_STAGE(self), in, first, t, steps, at, error))
    return FALSE;
  for (guint i = 0; i < 2; i++)
    times[i] = (double)at[i] / 1e9;
  return TRUE;
}

/* Steps that the same rules hold for share a row. */
static gboolean feed_list(AstroFlag *self, GstBuffer *in, guint64 first, guint64 steps,
                          GError **error)
{
  if (!know_rules(self, error))
    return FALSE;
  const gboolean by_time = astro_flag_rules_have_times(self->rules);
  const guint64 rows = by_time ? steps : 1;
  g_autofree guint8 *flags = g_malloc(rows * self->blocks.row);
  g_autofree const guint8 **row = g_new(const guint8 *, steps);
  for (guint64 t = 0; t < rows; t++) {
    double times[2] = { 0 };
    if (by_time && !find_times(self, in, first, t, steps, times, error))
      return FALSE;
    astro_flag_by_rules(&self->config.in, (const AstroFlagKnownRule *)(gpointer)self->rules->data,
                        self->rules->len, times[0], times[1], flags + t * self->blocks.row);
  }
  for (guint64 t = 0; t < steps; t++)
    row[t] = flags + (by_time ? t : 0) * self->blocks.row;
  for (guint64 t = 0; t < steps; t++)
    astro_flag_told_add(&self->told, GST_ELEMENT(self), row[t], 1,
                        astro_flag_units(&self->config.in));
  astro_flag_told_post(&self->told, GST_ELEMENT(self), FALSE);
  return emit(self, in, first, steps, row, error);
}

static gboolean feed(AstroStage *stage, GstBuffer *in, guint64 first, guint64 steps, GError **error)
{
  AstroFlag *self = ASTRO_FLAG(stage);
  if (astro_flag_has_blocks(&self->config)) {
    const gboolean ok = feed_blocks(self, in, first, steps, error);
    /* Blocks whose verdict was given up, for a flush or an error, would wait for it in vain. */
    if (!ok)
      forget_blocks(self);
    return ok;
  }
  if (is_gap(in))
    return emit(self, in, first, steps, NULL, error);
  return self->config.method == ASTRO_FLAG_LIST ? feed_list(self, in, first, steps, error)
                                                : feed_steps(self, in, first, steps, error);
}

static gboolean finish(AstroStage *stage, GError **error)
{
  AstroFlag *self = ASTRO_FLAG(stage);
  const gboolean ok = (!self->blocks.open || judge_block(self, error)) && emit_judged(self, error);
  /* Old verdicts are not for the steps of other caps, which may count from 0 again. */
  if (ok)
    astro_flag_blocks_clear(&self->blocks);
  astro_flag_told_post(&self->told, GST_ELEMENT(self), TRUE);
  return ok;
}

static void reset(AstroStage *stage)
{
  forget_blocks(ASTRO_FLAG(stage));
}

static guint64 latency_steps(AstroStage *stage)
{
  AstroFlag *self = ASTRO_FLAG(stage);
  return astro_flag_has_blocks(&self->config) ? self->config.block : 0;
}

static void tell_stats(AstroStage *stage, GstStructure *stats)
{
  astro_flag_told_fill(&ASTRO_FLAG(stage)->told, GST_ELEMENT(stage), stats);
}

/* ---- states and properties ---- */

static gboolean read_list(AstroFlag *self, GError **error)
{
  g_autofree char *location = astro_fields_copy_text(self, &self->location);
  g_clear_pointer(&self->list, astro_flag_list_free);
  if (self->method != ASTRO_FLAG_LIST)
    return TRUE;
  if (!astro_field_given(location))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "method=list without location, expected the name of a file with "
                               "what is to be flagged");
  self->list = astro_flag_list_read(location, error);
  return self->list != NULL;
}

static gboolean start(AstroStage *stage)
{
  AstroFlag *self = ASTRO_FLAG(stage);
  g_autoptr(GError) error = NULL;
  self->said_coarse = FALSE;
  astro_flag_told_reset(&self->told, GST_ELEMENT(self), 0);
  if (read_list(self, &error))
    return ASTRO_STAGE_CLASS(astro_flag_parent_class)->start(stage);
  GST_ELEMENT_ERROR(self, LIBRARY, SETTINGS, ("%s", error->message), (NULL));
  return FALSE;
}

static const AstroField fields[] = {
  ASTRO_ENUM(AstroFlag, method, "method", "Method", "How interference is found", method_get_type,
             ASTRO_FLAG_KURTOSIS),
  ASTRO_DOUBLE(AstroFlag, false_alarm, "false-alarm", "False alarm",
               "For kurtosis: the probability that noise is flagged, of each polarisation", 1e-12,
               0.5, 0.001),
  ASTRO_DOUBLE(AstroFlag, threshold, "threshold", "Threshold",
               "For threshold: standard deviations of a single value that are flagged", 0.1, 100,
               5),
  ASTRO_UINT(AstroFlag, block, "block", "Block",
             "Time steps judged together: for kurtosis of spectra those that it is computed of, at "
             "least 64, for threshold those of a plane (0: 1024 for kurtosis, 64 for threshold)",
             0, ASTRO_FLAG_MOST_BLOCK, 0),
  ASTRO_UINT(AstroFlag, longest, "longest", "Longest",
             "For threshold: the longest window, in steps and in channels", 1, ASTRO_FLAG_LONGEST,
             64),
  ASTRO_TEXT(AstroFlag, location, "location", "Location",
             "For list: a file whose lines name what to flag, as channels=0-3 stations=4 "
             "times=FROM/TO",
             NULL),
  { 0 },
};

static void finalize(GObject *object)
{
  AstroFlag *self = ASTRO_FLAG(object);
  astro_flag_blocks_clear(&self->blocks);
  g_free(self->told.tally.channels);
  g_clear_pointer(&self->list, astro_flag_list_free);
  forget_rules(self);
  G_OBJECT_CLASS(astro_flag_parent_class)->finalize(object);
}

static void astro_flag_class_init(AstroFlagClass *klass)
{
  static const AstroQuantity quantities[] = { ASTRO_QUANTITY_VOLTAGES, ASTRO_QUANTITY_SPECTRA,
                                              ASTRO_QUANTITY_POWER, ASTRO_QUANTITY_VISIBILITIES,
                                              ASTRO_QUANTITY_UNKNOWN };
  GObjectClass *object = G_OBJECT_CLASS(klass);
  GstBaseTransformClass *trans = GST_BASE_TRANSFORM_CLASS(klass);
  AstroStageClass *stage = ASTRO_STAGE_CLASS(klass);

  astro_fields_install(object, fields, 0);
  object->finalize = finalize;
  trans->fixate_caps = astro_stage_fixate_same;
  trans->set_caps = set_caps;
  stage->stage = "flag";
  stage->backends = astro_flag_backends;
  stage->tell_work = astro_flag_work;
  stage->start = start;
  stage->configure = configure;
  stage->observed = observed;
  stage->validity = validity;
  stage->feed = feed;
  stage->finish = finish;
  stage->reset = reset;
  stage->latency_steps = latency_steps;
  stage->tell_stats = tell_stats;
  stage->adds_counts = TRUE;
  astro_stage_class_add_pads(stage, quantities, quantities);
  gst_element_class_set_static_metadata(GST_ELEMENT_CLASS(klass), "Flag", "Filter/Effect",
                                        "Finds interference, and lowers the counts of good samples",
                                        ASTRO_AUTHOR);
  gst_element_class_add_static_metadata(
      GST_ELEMENT_CLASS(klass), "takes",
      "spectra, power or visibilities in any layout; for method=list voltages as well");
  gst_element_class_add_static_metadata(GST_ELEMENT_CLASS(klass), "gives",
                                        "the same, with counts of good samples");
}

static void astro_flag_init(AstroFlag *self)
{
  astro_fields_set_defaults(self);
  astro_flag_blocks_init(&self->blocks);
}
