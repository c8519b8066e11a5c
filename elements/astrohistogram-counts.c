/* Catalogues that astrohistogram takes and counts. */
#include "config.h"
#include "elements/astrohistogram-parts.h"

#include <string.h>

#include "core/histogram/check.h"
#include "core/lib/catalogue/split.h"
#include "core/memory/memory.h"
#include "core/stream/stream.h"
#include "elements/base/astrolog.h"

#define SPLIT_SEED 0x73706c69

gboolean astro_histogram_is_over(AstroHistogram *self)
{
  return g_atomic_int_get(&self->stopping) || g_atomic_int_get(&self->flushing);
}

static gboolean is_unwanted(gpointer self)
{
  return astro_histogram_is_over(self) || g_atomic_int_get(&ASTRO_HISTOGRAM(self)->interrupted);
}

static gboolean watch_count(guint64 done, guint64 total, gpointer data)
{
  AstroHistogram *self = data;
  const char *kind = astro_collector_kind(self->collector);
  astro_count_progress_note(&self->progress, kind, g_str_equal(kind, "dd") ? 0 : self->n_random + 1,
                            done, total);
  return !is_unwanted(self);
}

/* ---- what pads have ---- */

static gboolean has_pad(AstroHistogram *self, AstroSide side)
{
  g_autoptr(AstroCataloguePad) pad = astro_histogram_find_pad(self, side);
  return pad != NULL;
}

/* Refuses catalogues that come too late to be counted: on a pad requested or flushed after counting
 * has begun. */
static gboolean check_time(const AstroHistogram *self, AstroSide side, gboolean was_flushed,
                           GError **error)
{
  const gboolean is_data = side == ASTRO_SIDE_DATA || side == ASTRO_SIDE_DATA2;
  if (!self->collector || (self->is_there[side] && !is_data && !(was_flushed && self->n_random)))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "pad %s: a catalogue came after counting had begun, too late to be "
                             "counted: expected %s",
                             astro_side_name(side),
                             is_data       ? "all data earlier"
                             : was_flushed ? "all pads to be flushed together"
                                           : "the pad to be requested earlier");
}

/* A random catalogue that is split, and its part, share what one may take. */
static AstroHeldLimit limit_of(const AstroHistogram *self, AstroSide side)
{
  const gboolean is_split =
      self->split > 1 && (side == ASTRO_SIDE_RANDOM || side == ASTRO_SIDE_RANDOM2);
  return (AstroHeldLimit){ .bytes = self->limit.bytes / (is_split ? 2 : 1),
                           .of_a_point = self->limit.of_a_point };
}

/* Adds the pad's buffer to the catalogue. FALSE without an error: the pad has none. */
static gboolean take(AstroHistogram *self, AstroSide side, AstroHeld *held, GError **error)
{
  g_autoptr(AstroCataloguePad) pad = astro_histogram_find_pad(self, side);
  const AstroHeldLimit limit = limit_of(self, side);
  if (!pad)
    return FALSE;
  g_mutex_lock(&self->lock);
  g_autoptr(GstBuffer) buffer = gst_aggregator_pad_pop_buffer(GST_AGGREGATOR_PAD(pad));
  gboolean taken = buffer &&
                   check_time(self, side, g_atomic_int_exchange(&pad->flushed, FALSE), error) &&
                   astro_catalogue_pad_check_place(pad, buffer, error) &&
                   astro_buffer_align(&buffer, NULL, ASTRO_SAMPLES_ALIGN, error) &&
                   astro_catalogue_pad_append(pad, buffer, &limit, held, error);
  g_mutex_unlock(&self->lock);
  return taken;
}

/* A buffer marked as GAP holds no catalogue. */
static gboolean drop_gaps(AstroHistogram *self)
{
  gboolean dropped = FALSE;
  for (AstroSide side = 0; side < ASTRO_N_SIDES; side++) {
    g_autoptr(AstroCataloguePad) pad = astro_histogram_find_pad(self, side);
    g_autoptr(GstBuffer) buffer =
        pad ? gst_aggregator_pad_peek_buffer(GST_AGGREGATOR_PAD(pad)) : NULL;
    if (buffer && GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP))
      dropped |= gst_aggregator_pad_drop_buffer(GST_AGGREGATOR_PAD(pad));
  }
  return dropped;
}

/* ---- the data ---- */

/* Negative weights are accepted, but few people mean them. */
static void warn_of_negative_weights(AstroHistogram *self)
{
  static const AstroSide sides[] = { ASTRO_SIDE_DATA, ASTRO_SIDE_DATA2 };
  for (guint i = 0; i < G_N_ELEMENTS(sides); i++) {
    const guint64 n = astro_collector_n_negative(self->collector, sides[i]);
    if (n > 0)
      GST_ELEMENT_WARNING(self, STREAM, FAILED,
                          ("the %s catalogue has weights below 0 at %" G_GUINT64_FORMAT
                           " points: their pairs are subtracted",
                           astro_side_name(sides[i]), n),
                          (NULL));
  }
}

/* A cross-correlation of a catalogue with itself is probably a mistake. */
static void warn_of_same(AstroHistogram *self, AstroSide side, const AstroHeld *first,
                         const AstroHeld *second)
{
  if (!astro_held_is_same(first, second))
    return;
  const char *name = astro_side_name(side);
  GST_ELEMENT_WARNING(
      self, STREAM, FAILED,
      ("pads %s and %s2 have the same catalogue of %" G_GUINT64_FORMAT
       " points: each point pairs with itself at angle 0, and all other pairs count twice. "
       "Expected different catalogues; for an auto-correlation use pads data and random alone",
       name, name, first->n),
      (NULL));
}

static void note_files(AstroHistogram *self, AstroSide side, const AstroHeld *held)
{
  if (held->spill)
    ASTRO_INFO(self,
               "the %s catalogue of %" G_GUINT64_FORMAT
               " points is counted in slices, from a temporary file of %.3g GB, as max-memory "
               "leaves it %" G_GUINT64_FORMAT " bytes",
               astro_side_name(side), held->n,
               (double)(held->n * astro_spill_n_columns(held->spill) * sizeof(double)) * 1e-9,
               self->limit.bytes);
}

static GstFlowReturn begin(AstroHistogram *self)
{
  GError *error = NULL;
  const AstroStop stop = { is_unwanted, self };
  AstroHistogramCall call = { watch_count, self, &stop };
  astro_count_progress_begin(&self->progress, GST_ELEMENT(self));
  g_mutex_lock(&self->lock);
  g_auto(AstroHeld) data = self->data[ASTRO_SIDE_DATA];
  g_auto(AstroHeld) data2 = self->data[ASTRO_SIDE_DATA2];
  memset(self->data, 0, sizeof self->data);
  g_mutex_unlock(&self->lock);
  warn_of_same(self, ASTRO_SIDE_DATA, &data, &data2);
  note_files(self, ASTRO_SIDE_DATA, &data);
  note_files(self, ASTRO_SIDE_DATA2, &data2);
  if (!astro_histogram_make_collector(self, &error) ||
      !astro_collector_take_data(self->collector, &data, &data2, &call, &error))
    return astro_histogram_fail(self, error);
  warn_of_negative_weights(self);
  astro_histogram_set_active_backend(self);
  return GST_FLOW_OK;
}

/* ---- random catalogues ---- */

static void deal_random(AstroHistogram *self)
{
  if (self->n_random >= self->n_whole)
    astro_collector_deal(self->collector, self->rank, self->ranks);
  else
    astro_collector_deal(self->collector, 0, self->n_random % self->ranks == self->rank);
}

static GstFlowReturn count_whole(AstroHistogram *self, AstroHeld *random, AstroHeld *random2)
{
  GError *error = NULL;
  const AstroStop stop = { is_unwanted, self };
  AstroHistogramCall call = { watch_count, self, &stop };
  astro_count_progress_next(&self->progress);
  deal_random(self);
  if (self->n_random == 0)
    warn_of_same(self, ASTRO_SIDE_RANDOM, random, random2);
  note_files(self, ASTRO_SIDE_RANDOM, random);
  note_files(self, ASTRO_SIDE_RANDOM2, random2);
  if (!astro_collector_take_random(self->collector, random, random2, &call, &error))
    return astro_histogram_fail(self, error);
  self->n_random++;
  if (self->interval == 0 || self->n_random % self->interval != 0)
    return GST_FLOW_OK;
  GstFlowReturn flow = astro_histogram_settle(self);
  return flow == GST_FLOW_OK ? astro_histogram_push(self) : flow;
}

/* A number of two bytes for every point says which part it is in (split.h). */
static gboolean has_room_to_split(const AstroHistogram *self, const AstroHeld *random,
                                  AstroSide side, GError **error)
{
  const guint64 needed = random->n * sizeof(guint16), room = limit_of(self, side).bytes;
  return !random->spill || needed <= room ||
         astro_backend_no_memory(error,
                                 "%" G_GUINT64_FORMAT " points take %" G_GUINT64_FORMAT
                                 " bytes to split, and max-memory has room for %" G_GUINT64_FORMAT
                                 ": expected more memory, or several smaller random catalogues",
                                 random->n, needed, room);
}

/* The parts of both sides have to be independent. A side without points has no parts, and its lack
 * is refused where the first part is counted. */
static AstroSplit *split_side(const AstroHistogram *self, const AstroHeld *random, AstroSide side,
                              GError **error)
{
  AstroSplit *split = NULL;
  if (random->n > 0 && has_room_to_split(self, random, side, error))
    split = astro_split_new(random->n, self->split, SPLIT_SEED + side, self->n_random, error);
  if (*error)
    g_prefix_error(error, "split=%u: the %s catalogue: ", self->split, astro_side_name(side));
  return split;
}

static gboolean take_part(const AstroHistogram *self, AstroSide side, const AstroSplit *split,
                          const AstroHeld *all, guint part, AstroHeld *held, GError **error)
{
  const AstroHeldLimit limit = limit_of(self, side);
  return !split || astro_split_held(split, all, &limit, part, held, error);
}

/* Each part of a random catalogue is counted as one. */
static GstFlowReturn count_random(AstroHistogram *self, AstroHeld *random, AstroHeld *random2)
{
  GError *error = NULL;
  if (self->split < 2)
    return count_whole(self, random, random2);
  g_autoptr(AstroSplit) split = split_side(self, random, ASTRO_SIDE_RANDOM, &error);
  g_autoptr(AstroSplit) split2 =
      error ? NULL : split_side(self, random2, ASTRO_SIDE_RANDOM2, &error);
  if (error)
    return astro_histogram_fail(self, error);
  const AstroHeldLimit limit = limit_of(self, ASTRO_SIDE_RANDOM);
  astro_collector_set_limit(self->collector, &limit);
  GstFlowReturn flow = GST_FLOW_OK;
  for (guint p = 0; p < self->split && flow == GST_FLOW_OK; p++) {
    g_auto(AstroHeld) part = { 0 };
    g_auto(AstroHeld) part2 = { 0 };
    if (take_part(self, ASTRO_SIDE_RANDOM, split, random, p, &part, &error) &&
        take_part(self, ASTRO_SIDE_RANDOM2, split2, random2, p, &part2, &error))
      flow = count_whole(self, &part, &part2);
    else
      flow = astro_histogram_fail(self, error);
  }
  return flow;
}

/* Random catalogues of the two sides have to come in pairs. */
static GstFlowReturn miss_random(AstroHistogram *self, gboolean has_one)
{
  AstroSide more = has_one ? ASTRO_SIDE_RANDOM : ASTRO_SIDE_RANDOM2,
            fewer = has_one ? ASTRO_SIDE_RANDOM2 : ASTRO_SIDE_RANDOM;
  return astro_histogram_fail(
      self, g_error_new(ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                        "pad %s ended after %" G_GUINT64_FORMAT
                        " catalogues, and pad %s has more: expected equal numbers",
                        astro_side_name(fewer), self->n_random, astro_side_name(more)));
}

GstFlowReturn astro_histogram_count_next(AstroHistogram *self)
{
  g_auto(AstroHeld) random = { 0 };
  g_auto(AstroHeld) random2 = { 0 };
  GError *error = NULL;
  if (drop_gaps(self))
    return GST_FLOW_OK;
  if (!astro_histogram_share_memory(self, &error))
    return astro_histogram_fail(self, error);
  gboolean more = take(self, ASTRO_SIDE_DATA, &self->data[ASTRO_SIDE_DATA], &error);
  more |= !error && take(self, ASTRO_SIDE_DATA2, &self->data[ASTRO_SIDE_DATA2], &error);
  if (error)
    return astro_histogram_fail(self, error);
  if (more)
    return GST_FLOW_OK;
  GstFlowReturn flow = self->collector ? GST_FLOW_OK : begin(self);
  if (flow != GST_FLOW_OK)
    return flow;
  gboolean has_one = take(self, ASTRO_SIDE_RANDOM, &random, &error),
           has_two = !error && take(self, ASTRO_SIDE_RANDOM2, &random2, &error);
  gboolean wants_both = has_pad(self, ASTRO_SIDE_RANDOM) && has_pad(self, ASTRO_SIDE_RANDOM2);
  if (error)
    flow = astro_histogram_fail(self, error);
  else if (!has_one && !has_two)
    flow = astro_histogram_finish(self);
  else if (wants_both && has_one != has_two)
    flow = miss_random(self, has_one);
  else
    flow = count_random(self, &random, &random2);
  return flow;
}
