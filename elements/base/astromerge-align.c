/* What the pads hold is put on one time axis, and cut to blocks. */
#include "config.h"
#include "elements/base/astromerge-parts.h"

#define DAY_NS (G_GINT64_CONSTANT(86400) * GST_SECOND)
/* Days between starts, and ns and steps from the axis's begin on, beyond which nothing is added up.
 */
#define MOST_DAYS 30000
#define FARTHEST (G_GINT64_CONSTANT(1) << 62)
/* Nanoseconds by which times that were rounded, of either stream, may be apart. */
#define ROUNDING 3

#define PRIV(merge) astro_merge_parts(merge)

gboolean astro_merge_counts_steps(const AstroStream *stream)
{
  return stream->quantity == ASTRO_QUANTITY_VOLTAGES ||
         stream->quantity == ASTRO_QUANTITY_SPECTRA ||
         stream->quantity == ASTRO_QUANTITY_VISIBILITIES;
}

void astro_merge_axis_clear(AstroMergeAxis *axis)
{
  g_free(axis->pad);
  g_free(axis->start_pad);
  *axis = (AstroMergeAxis){ 0 };
}

static void clear_piece(gpointer data)
{
  AstroMergePiece *piece = data;
  gst_clear_buffer(&piece->buffer);
  gst_clear_event(&piece->told);
}

void astro_merge_next_clear(AstroMergeNext *next)
{
  g_clear_pointer(&next->pieces, g_array_unref);
  gst_clear_buffer(&next->like);
}

/* ---- the axis ---- */

static gboolean has_start(const AstroMergeStream *of)
{
  return of->observation && of->observation->has_start;
}

static gboolean is_earlier(const AstroObservation *a, const AstroObservation *b)
{
  return a->start_mjd != b->start_mjd ? a->start_mjd < b->start_mjd : a->start_ns < b->start_ns;
}

/* A time in whole steps, and what is left. */
static gint64 to_steps(const AstroMergeAxis *axis, GstClockTimeDiff time, GstClockTimeDiff *rest)
{
  const AstroStream stream = { .rate_n = axis->rate_n, .rate_d = axis->rate_d };
  const guint64 size = time < 0 ? 0 - (guint64)time : (guint64)time;
  const guint64 steps =
      gst_util_uint64_scale_round(size, (guint64)axis->rate_n, GST_SECOND * (guint64)axis->rate_d);
  const gint64 n = steps > (guint64)FARTHEST ? FARTHEST : (gint64)steps;
  *rest = (GstClockTimeDiff)(size - astro_stream_time(&stream, (guint64)n));
  if (time < 0)
    *rest = -*rest;
  return time < 0 ? -n : n;
}

static gboolean refuse_start(const AstroMergePad *pad, const AstroMergeAxis *axis,
                             const AstroMergeStream *of, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: the observation has %s start, and that of pad %s has %s: "
                             "expected all to have one, or none (astroobserve start-time)",
                             GST_PAD_NAME(pad), has_start(of) ? "a" : "no",
                             axis->start_pad ? axis->start_pad : axis->pad,
                             has_start(of) ? "none" : "one");
}

/* The time of a stream's own step 0 on the axis. */
static gboolean find_origin(const AstroMergePad *pad, const AstroMergeAxis *axis,
                            const AstroMergeEntry *entry, GstClockTimeDiff *origin, GError **error)
{
  const AstroObservation *o = entry->of->observation;
  *origin = entry->epoch - axis->epoch;
  if (!has_start(entry->of) && !axis->has_start)
    return TRUE;
  if (has_start(entry->of) != axis->has_start)
    return refuse_start(pad, axis, entry->of, error);
  const gint64 days = (gint64)o->start_mjd - axis->start_mjd;
  if (days > MOST_DAYS || days < -MOST_DAYS)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: the observation begins %" G_GINT64_FORMAT
                               " days %s that of pad %s, expected at most %d",
                               GST_PAD_NAME(pad), ABS(days), days < 0 ? "before" : "after",
                               axis->pad, MOST_DAYS);
  *origin += days * DAY_NS + (gint64)(o->start_ns - axis->start_ns);
  return TRUE;
}

static gboolean refuse_part(const AstroMergePad *pad, const AstroMergeAxis *axis,
                            GstClockTimeDiff rest, GError **error)
{
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS,
      "pad %s: samples are taken %.9f s (%.6g of a step) %s those of pad %s, at a rate of %d/%d: "
      "expected starts that are whole steps apart",
      GST_PAD_NAME(pad), (double)ABS(rest) / GST_SECOND,
      (double)ABS(rest) / GST_SECOND * axis->rate_n / axis->rate_d, rest > 0 ? "after" : "before",
      axis->pad, axis->rate_n, axis->rate_d);
}

static gboolean is_foreign(const AstroMergeAxis *axis, const AstroMergeEntry *entry)
{
  return axis->is_there && (gint64)entry->of->stream.rate_n * axis->rate_d !=
                               (gint64)axis->rate_n * entry->of->stream.rate_d;
}

/* Where an entry lies on the axis; those of another rate have no place on it. */
static gboolean place(const AstroMergePad *pad, const AstroMergeAxis *axis, AstroMergeEntry *entry,
                      GError **error)
{
  GstClockTimeDiff origin, rest;
  if (entry->is_placed || is_foreign(axis, entry))
    return TRUE;
  entry->is_placed = TRUE;
  entry->place = (gint64)entry->first;
  if (!astro_merge_counts_steps(&entry->of->stream))
    return TRUE;
  if (!find_origin(pad, axis, entry, &origin, error))
    return FALSE;
  if (axis->rate_n == 0)
    return TRUE;
  const gint64 steps = to_steps(axis, origin, &rest);
  entry->place += steps;
  return ABS(rest) <= ROUNDING || refuse_part(pad, axis, rest, error);
}

static AstroMergeEntry *head_of(const AstroMergePad *pad)
{
  return g_queue_peek_head((GQueue *)&pad->entries);
}

static gint64 end_of(const AstroMergeEntry *entry)
{
  return entry->place + (gint64)(entry->steps - entry->skip);
}

static AstroMergePad *pad_at(const GPtrArray *pads, guint i)
{
  return g_ptr_array_index(pads, i);
}

static void set_start(AstroMergeAxis *axis, const GPtrArray *pads)
{
  const AstroObservation *earliest = NULL;
  for (guint i = 0; i < pads->len; i++) {
    const AstroMergeEntry *head = head_of(pad_at(pads, i));
    const AstroMergeStream *of = head ? head->of : pad_at(pads, i)->latest;
    if (!of || !has_start(of) || (earliest && !is_earlier(of->observation, earliest)))
      continue;
    earliest = of->observation;
    g_free(axis->start_pad);
    axis->start_pad = gst_pad_get_name(GST_PAD(pad_at(pads, i)));
  }
  axis->has_start = earliest != NULL;
  if (!earliest)
    return;
  axis->start_mjd = earliest->start_mjd;
  axis->start_ns = earliest->start_ns;
}

/* The first pad that has something says where steps begin. */
static gboolean make_axis(AstroMergePrivate *priv, const GPtrArray *pads, GError **error)
{
  AstroMergeAxis *axis = &priv->axis;
  AstroMergePad *first = NULL;
  for (guint i = 0; i < pads->len && !first; i++)
    if (head_of(pad_at(pads, i)))
      first = pad_at(pads, i);
  const AstroMergeEntry *head = head_of(first);
  astro_merge_axis_clear(axis);
  axis->is_there = TRUE;
  axis->pad = gst_pad_get_name(first);
  axis->rate_n = head->of->stream.rate_n;
  axis->rate_d = head->of->stream.rate_d;
  set_start(axis, pads);
  GstClockTimeDiff origin, rest = 0;
  if (astro_merge_counts_steps(&head->of->stream) && axis->rate_n > 0) {
    if (!find_origin(first, axis, head, &origin, error))
      return FALSE;
    to_steps(axis, origin, &rest);
    axis->epoch = rest;
  }
  priv->next = 0;
  for (guint i = 0; i < pads->len; i++)
    for (GList *link = pad_at(pads, i)->entries.head; link; link = link->next)
      ((AstroMergeEntry *)link->data)->is_placed = FALSE;
  return TRUE;
}

GstClockTime astro_merge_time(const AstroMergePrivate *priv, guint64 step)
{
  const GstClockTime since = astro_stream_time(&priv->out, step);
  const GstClockTimeDiff epoch = priv->axis.epoch;
  return epoch < 0 && (guint64)-epoch > since ? 0 : since + (guint64)epoch;
}

/* ---- what pads hold ---- */

static void drop_head(AstroMergePad *pad)
{
  astro_merge_entry_free(g_queue_pop_head(&pad->entries));
}

static void count(AstroMerge *merge, const AstroWorkStats *more)
{
  GST_OBJECT_LOCK(merge);
  astro_work_add(&PRIV(merge)->stats, more);
  GST_OBJECT_UNLOCK(merge);
}

static void advance(AstroMergePad *pad, AstroMergeEntry *head, guint64 steps)
{
  head->skip += steps;
  head->first += steps;
  head->place += (gint64)steps;
  if (head->skip == head->steps)
    drop_head(pad);
}

/* What is earlier than what went out already, since its pad gave way or another one began later. */
static void drop_late(AstroMerge *merge, AstroMergePad *pad)
{
  const gint64 next = PRIV(merge)->is_started ? PRIV(merge)->next : 0;
  AstroMergeEntry *head;
  while ((head = head_of(pad)) && head->is_placed && head->place < next) {
    const guint64 late = MIN((guint64)(next - head->place), head->steps - head->skip);
    count(merge, &(AstroWorkStats){ .steps_again = late });
    ASTRO_DEBUG(pad, "%" G_GUINT64_FORMAT " steps came later than those that went out", late);
    advance(pad, head, late);
  }
}

static gboolean place_entries(AstroMerge *merge, AstroMergePad *pad, GError **error)
{
  for (GList *link = pad->entries.head; PRIV(merge)->axis.is_there && link; link = link->next)
    if (!place(pad, &PRIV(merge)->axis, link->data, error))
      return FALSE;
  drop_late(merge, pad);
  return TRUE;
}

/* What the pad's own stream says does not name it. */
static gboolean fail_pad(const AstroMergePad *pad, GError *failed, GError **error)
{
  if (!g_str_has_prefix(failed->message, "pad "))
    g_prefix_error(&failed, "pad %s: ", GST_PAD_NAME(pad));
  g_propagate_error(error, failed);
  return FALSE;
}

/* Takes one buffer. FALSE without an error: there is none. */
static gboolean take_more(AstroMerge *merge, AstroMergePad *pad, GError **error)
{
  GError *failed = NULL;
  AstroMergeTaken what;
  const gboolean taken = astro_merge_pad_take_buffer(pad, &what, &failed);
  if (taken) {
    count(merge,
          &(AstroWorkStats){ .buffers_in = 1, .bytes_in = what.bytes, .steps_again = what.again });
    ASTRO_LOG(pad, "in: %" G_GUINT64_FORMAT " bytes", what.bytes);
    if (what.again)
      ASTRO_DEBUG(pad, "%" G_GUINT64_FORMAT " steps came again, or late, and are left out",
                  what.again);
    place_entries(merge, pad, &failed);
  }
  if (failed)
    return fail_pad(pad, failed, error);
  if (taken && head_of(pad))
    pad->is_lagging = FALSE;
  return taken;
}

static gboolean is_over(AstroMergePad *pad)
{
  return gst_aggregator_pad_is_eos(GST_AGGREGATOR_PAD(pad));
}

/* Whether a pad that holds nothing is waited for. */
static gboolean is_awaited(AstroMergePad *pad)
{
  return !pad->is_lagging && !is_over(pad);
}

/* How far it is known what a pad has. */
static gint64 known_until(const AstroMergePrivate *priv, AstroMergePad *pad)
{
  const AstroMergeEntry *last = g_queue_peek_tail(&pad->entries);
  GstClockTimeDiff origin, rest;
  if (last && !last->is_placed)
    return G_MAXINT64; /* of another rate: there is no more of this one */
  gint64 until = last ? end_of(last) : G_MININT64;
  if (GST_CLOCK_TIME_IS_VALID(pad->gap_end) && pad->latest && priv->axis.rate_n > 0) {
    const AstroMergeEntry gap = { .of = pad->latest };
    if (find_origin(pad, &priv->axis, &gap, &origin, NULL))
      until = MAX(until, to_steps(&priv->axis, origin + (GstClockTimeDiff)pad->gap_end, &rest));
  }
  return until;
}

static AstroMergeState want(AstroMergePad *pad)
{
  pad->is_wanted = TRUE;
  return ASTRO_MERGE_NEEDS_MORE;
}

static void give_way(AstroMergePad *pad)
{
  ASTRO_DEBUG(pad, "gives way: nothing came in time");
  pad->is_lagging = TRUE;
}

/* ---- the next block ---- */

/* Every pad has something, or nobody waits for it. */
static AstroMergeState fill_heads(AstroMerge *merge, GPtrArray *pads, gboolean is_due,
                                  GError **error)
{
  gboolean any = FALSE, all_over = TRUE;
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = pad_at(pads, i);
    GError *failed = NULL;
    pad->is_wanted = FALSE;
    place_entries(merge, pad, &failed);
    while (!failed && !head_of(pad) && take_more(merge, pad, &failed))
      ;
    if (failed) {
      g_propagate_error(error, failed);
      return ASTRO_MERGE_FAILED;
    }
    any |= head_of(pad) != NULL;
    all_over &= !head_of(pad) && is_over(pad);
    if (head_of(pad) || !is_awaited(pad) || GST_CLOCK_TIME_IS_VALID(pad->gap_end))
      continue;
    if (!is_due || !pad->latest)
      return want(pad);
    give_way(pad);
  }
  return all_over ? ASTRO_MERGE_IS_OVER : any ? ASTRO_MERGE_HAS_BLOCK : ASTRO_MERGE_NEEDS_MORE;
}

/* Without caps nobody knows how large a pad's part is. */
static AstroMergeState check_known(const GPtrArray *pads, GError **error)
{
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = pad_at(pads, i);
    if (pad->latest)
      continue;
    if (!is_over(pad))
      return want(pad);
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "pad %s: the stream ended before its caps came, so that nobody knows how "
                        "large its part is",
                        GST_PAD_NAME(pad));
    return ASTRO_MERGE_FAILED;
  }
  return ASTRO_MERGE_HAS_BLOCK;
}

/* Streams of another rate have their own time axis, once no pad has anything on this one. */
static gboolean find_axis(AstroMergePrivate *priv, const GPtrArray *pads, GError **error)
{
  gboolean is_left = !priv->axis.is_there;
  for (guint i = 0; i < pads->len && !is_left; i++)
    if (head_of(pad_at(pads, i)) && head_of(pad_at(pads, i))->is_placed)
      return TRUE;
  if (priv->axis.is_there)
    priv->is_started = FALSE;
  return make_axis(priv, pads, error);
}

static gint64 find_first(const GPtrArray *pads, AstroMergeEntry **lead)
{
  gint64 first = G_MAXINT64;
  for (guint i = 0; i < pads->len; i++) {
    AstroMergeEntry *head = head_of(pad_at(pads, i));
    if (!head || !head->is_placed || head->place >= first)
      continue;
    first = head->place;
    *lead = head;
  }
  return first;
}

/* A block ends with the buffer that leads, and before what is of another stream. */
static gint64 find_end(const GPtrArray *pads, gint64 first, gint64 end)
{
  for (guint i = 0; i < pads->len; i++) {
    const AstroMergePad *pad = pad_at(pads, i);
    const AstroMergeEntry *head = head_of(pad);
    const AstroMergeStream *of = head && head->place == first ? head->of : pad->agreed;
    for (const GList *link = pad->entries.head; link; link = link->next) {
      const AstroMergeEntry *entry = link->data;
      if (!of)
        of = entry->of;
      if (entry->is_placed && entry->of != of && entry->place > first)
        end = MIN(end, entry->place);
    }
  }
  return end;
}

/* Buffers that are cut elsewhere than those that lead come later than these by as much. */
static gboolean note_misaligned(AstroMergePrivate *priv, guint64 steps)
{
  if (steps <= priv->misaligned)
    return FALSE;
  priv->misaligned = steps;
  return TRUE;
}

static AstroMergeState fill_block(AstroMerge *merge, GPtrArray *pads, gboolean is_due, gint64 first,
                                  gint64 *end, GError **error)
{
  AstroMergePrivate *priv = PRIV(merge);
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = pad_at(pads, i);
    while (known_until(priv, pad) < *end) {
      GError *failed = NULL;
      if (take_more(merge, pad, &failed)) {
        *end = find_end(pads, first, *end);
        continue;
      }
      if (failed) {
        g_propagate_error(error, failed);
        return ASTRO_MERGE_FAILED;
      }
      if (!is_awaited(pad))
        break;
      if (!is_due ||
          (known_until(priv, pad) > first && note_misaligned(priv, (guint64)(*end - first))))
        return want(pad);
      give_way(pad);
    }
  }
  return ASTRO_MERGE_HAS_BLOCK;
}

/* ---- its pieces ---- */

typedef struct {
  AstroMerge *merge;
  AstroMergeNext *next;
  gint64 first, end;
} Cut;

static void add_piece(Cut *cut, guint input, const AstroMergeEntry *entry, gint64 from, gint64 to)
{
  if (from >= to)
    return;
  AstroMergePiece piece = { .input = input,
                            .steps = (guint64)(to - from),
                            .n = (guint64)(to - from),
                            .at = (guint64)(from - cut->first) };
  if (entry && entry->buffer) {
    piece.buffer = gst_buffer_ref(entry->buffer);
    piece.told = entry->told ? gst_event_ref(entry->told) : NULL;
    piece.steps = entry->steps;
    piece.first = entry->skip;
    cut->next->is_lost = FALSE;
  } else {
    count(cut->merge, &(AstroWorkStats){ .steps_lost = piece.n });
    ASTRO_DEBUG(cut->merge,
                "loss: input %u has nothing of %" G_GUINT64_FORMAT " steps from %" G_GINT64_FORMAT
                " on",
                input, piece.n, from);
  }
  g_array_append_val(cut->next->pieces, piece);
}

/* An integration that the end of its stream cut short is the whole of its buffer. */
static void note_length(AstroMergeNext *next, const AstroMergeEntry *entry)
{
  const GstClockTime length = GST_BUFFER_DURATION(entry->buffer);
  const gboolean is_short = entry->steps == 1 && GST_CLOCK_TIME_IS_VALID(length) && length > 0;
  next->length = MAX(next->length, is_short ? length : GST_CLOCK_TIME_NONE);
}

static void cut_pad(Cut *cut, AstroMergePad *pad, guint input)
{
  gint64 at = cut->first;
  AstroMergeEntry *head;
  while ((head = head_of(pad)) && head->is_placed && head->place < cut->end) {
    const gint64 to = MIN(end_of(head), cut->end);
    add_piece(cut, input, NULL, at, head->place);
    add_piece(cut, input, head, head->place, to);
    if (!cut->next->like && head->buffer)
      cut->next->like = gst_buffer_ref(head->buffer);
    if (head->buffer)
      note_length(cut->next, head);
    at = to;
    advance(pad, head, (guint64)(to - head->place));
  }
  add_piece(cut, input, NULL, at, cut->end);
}

/* Whether the streams of the block are others than the output was made for. */
static gboolean take_agreed(AstroMergePrivate *priv, GPtrArray *pads, gint64 first)
{
  gboolean is_other = !priv->pads || priv->pads->len != pads->len;
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = pad_at(pads, i);
    const AstroMergeEntry *head = head_of(pad);
    AstroMergeStream *of = head && (head->place == first || !pad->agreed) ? head->of
                           : pad->agreed                                  ? pad->agreed
                                                                          : pad->latest;
    is_other |= of != pad->agreed || (!is_other && pad_at(priv->pads, i) != pad);
    astro_merge_stream_ref(of);
    g_clear_pointer(&pad->agreed, astro_merge_stream_unref);
    pad->agreed = of;
  }
  return is_other;
}

/* Pads that were all flushed, one by one too, have no time in common with what was before. That is
 * seen to here, by the thread that aggregates, since GstAggregator calls flush() from the thread of
 * the pad that was flushed last, and by then this one may be at work again: where the element was
 * stopped and started between the two events of a flush. */
static void begin_after_flush(AstroMerge *merge, const GPtrArray *pads)
{
  for (guint i = 0; i < pads->len; i++)
    if (!pad_at(pads, i)->is_flushed)
      return;
  astro_merge_begin_anew(merge);
}

AstroMergeState astro_merge_find_block(AstroMerge *merge, GPtrArray *pads, gboolean is_due,
                                       AstroMergeNext *next, GError **error)
{
  AstroMergePrivate *priv = PRIV(merge);
  AstroMergeEntry *lead = NULL;
  begin_after_flush(merge, pads);
  AstroMergeState state = fill_heads(merge, pads, is_due, error);
  if (state == ASTRO_MERGE_HAS_BLOCK)
    state = check_known(pads, error);
  if (state != ASTRO_MERGE_HAS_BLOCK)
    return state;
  if (!find_axis(priv, pads, error))
    return ASTRO_MERGE_FAILED;
  for (guint i = 0; i < pads->len; i++)
    if (!place_entries(merge, pad_at(pads, i), error))
      return ASTRO_MERGE_FAILED;
  const gint64 first = find_first(pads, &lead);
  if (!lead) /* all of it was late */
    return ASTRO_MERGE_NEEDS_MORE;
  gint64 end = find_end(pads, first, end_of(lead));
  state = fill_block(merge, pads, is_due, first, &end, error);
  if (state != ASTRO_MERGE_HAS_BLOCK)
    return state;
  next->is_other = take_agreed(priv, pads, first);
  next->first = first;
  next->steps = (guint64)(end - first);
  next->is_lost = TRUE;
  next->pieces = g_array_new(FALSE, FALSE, sizeof(AstroMergePiece));
  g_array_set_clear_func(next->pieces, clear_piece);
  Cut cut = { merge, next, first, end };
  for (guint i = 0; i < pads->len; i++) {
    cut_pad(&cut, pad_at(pads, i), i);
    pad_at(pads, i)->is_flushed = FALSE;
  }
  priv->next = end;
  return ASTRO_MERGE_HAS_BLOCK;
}
