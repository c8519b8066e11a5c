/* Cuts what the pads of AstroMerge hold to blocks of the steps that they have in common. */
#include "config.h"
#include "elements/base/astromerge-parts.h"

#define PRIV(merge) astro_merge_parts(merge)

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

/* ---- what pads hold ---- */

static gint64 end_of(const AstroMergeEntry *entry)
{
  return entry->place + (gint64)(entry->steps - entry->skip);
}

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

/* Drops what is earlier than the blocks that went out: its pad was late, or another pad began
 * later. */
static void drop_late(AstroMerge *merge, AstroMergePad *pad)
{
  const gint64 next = PRIV(merge)->is_started ? PRIV(merge)->next : 0;
  AstroMergeEntry *head;
  while ((head = astro_merge_pad_head(pad)) && head->is_placed && head->place < next) {
    const guint64 late = MIN((guint64)(next - head->place), head->steps - head->skip);
    count(merge, &(AstroWorkStats){ .steps_again = late });
    ASTRO_DEBUG(pad, "%" G_GUINT64_FORMAT " steps came later than those that went out", late);
    advance(pad, head, late);
  }
}

static gboolean place_entries(AstroMerge *merge, AstroMergePad *pad, GError **error)
{
  for (GList *link = pad->entries.head; PRIV(merge)->axis.is_there && link; link = link->next)
    if (!astro_merge_axis_place(&PRIV(merge)->axis, pad, link->data, error))
      return FALSE;
  drop_late(merge, pad);
  return TRUE;
}

/* Adds the pad to an error about its stream. */
static gboolean fail_pad(const AstroMergePad *pad, GError *failed, GError **error)
{
  if (!g_str_has_prefix(failed->message, "pad "))
    g_prefix_error(&failed, "pad %s: ", GST_PAD_NAME(pad));
  g_propagate_error(error, failed);
  return FALSE;
}

/* Takes one buffer of a pad. FALSE without an error: there is none. */
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
  if (taken && astro_merge_pad_head(pad))
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

/* Up to which step it is known what a pad has. */
static gint64 known_until(const AstroMergePrivate *priv, AstroMergePad *pad)
{
  const AstroMergeEntry *last = g_queue_peek_tail(&pad->entries);
  if (last && !last->is_placed)
    return G_MAXINT64; /* it is of another rate: no more will come at this one */
  const gint64 until = last ? end_of(last) : G_MININT64;
  return MAX(until, astro_merge_axis_gap_end(&priv->axis, pad));
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

/* Takes buffers until every pad has something or is not waited for. */
static AstroMergeState fill_heads(AstroMerge *merge, GPtrArray *pads, gboolean is_due,
                                  GError **error)
{
  gboolean any = FALSE, all_over = TRUE;
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = astro_merge_pad_at(pads, i);
    GError *failed = NULL;
    pad->is_wanted = FALSE;
    place_entries(merge, pad, &failed);
    while (!failed && !astro_merge_pad_head(pad) && take_more(merge, pad, &failed))
      ;
    if (failed) {
      g_propagate_error(error, failed);
      return ASTRO_MERGE_FAILED;
    }
    any |= astro_merge_pad_head(pad) != NULL;
    all_over &= !astro_merge_pad_head(pad) && is_over(pad);
    if (astro_merge_pad_head(pad) || !is_awaited(pad) || GST_CLOCK_TIME_IS_VALID(pad->gap_end))
      continue;
    if (!is_due || !pad->latest)
      return want(pad);
    give_way(pad);
  }
  return all_over ? ASTRO_MERGE_IS_OVER : any ? ASTRO_MERGE_HAS_BLOCK : ASTRO_MERGE_NEEDS_MORE;
}

/* Without caps the size of a pad's part is unknown. */
static AstroMergeState check_known(const GPtrArray *pads, GError **error)
{
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = astro_merge_pad_at(pads, i);
    if (pad->latest)
      continue;
    if (!is_over(pad))
      return want(pad);
    astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "pad %s: the stream ended before its caps came, so the size of its part is unknown",
        GST_PAD_NAME(pad));
    return ASTRO_MERGE_FAILED;
  }
  return ASTRO_MERGE_HAS_BLOCK;
}

/* Streams of another rate get a new time axis, once no pad has anything left on this one. */
static gboolean find_axis(AstroMergePrivate *priv, const GPtrArray *pads, GError **error)
{
  gboolean is_left = !priv->axis.is_there;
  for (guint i = 0; i < pads->len && !is_left; i++)
    if (astro_merge_pad_head(astro_merge_pad_at(pads, i)) &&
        astro_merge_pad_head(astro_merge_pad_at(pads, i))->is_placed)
      return TRUE;
  if (priv->axis.is_there)
    priv->is_started = FALSE;
  return astro_merge_axis_make(priv, pads, error);
}

static gint64 find_first(const GPtrArray *pads, AstroMergeEntry **lead)
{
  gint64 first = G_MAXINT64;
  for (guint i = 0; i < pads->len; i++) {
    AstroMergeEntry *head = astro_merge_pad_head(astro_merge_pad_at(pads, i));
    if (!head || !head->is_placed || head->place >= first)
      continue;
    first = head->place;
    *lead = head;
  }
  return first;
}

/* A block ends with the buffer that begins it, or where another stream begins. */
static gint64 find_end(const GPtrArray *pads, gint64 first, gint64 end)
{
  for (guint i = 0; i < pads->len; i++) {
    const AstroMergePad *pad = astro_merge_pad_at(pads, i);
    const AstroMergeEntry *head = astro_merge_pad_head(pad);
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

/* If inputs are cut at different steps, blocks wait that many steps for the last of them. */
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
    AstroMergePad *pad = astro_merge_pad_at(pads, i);
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

/* Keeps the length of an integration that the end of its stream cut short: it is alone in its
 * buffer. */
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
  while ((head = astro_merge_pad_head(pad)) && head->is_placed && head->place < cut->end) {
    const gint64 to = MIN(end_of(head), cut->end);
    add_piece(cut, input, NULL, at, head->place);
    add_piece(cut, input, head, head->place, to);
    if (!cut->next->like && head->buffer) {
      cut->next->like = gst_buffer_ref(head->buffer);
      cut->next->frames =
          gst_buffer_get_size(head->buffer) / astro_stream_step_bytes(&head->of->stream);
    }
    if (head->buffer) {
      note_length(cut->next, head);
      cut->next->is_discont |= head->skip == 0 && GST_BUFFER_IS_DISCONT(head->buffer);
    }
    at = to;
    advance(pad, head, (guint64)(to - head->place));
  }
  add_piece(cut, input, NULL, at, cut->end);
}

/* Whether the streams of the block are not those that the output was negotiated for. */
static gboolean take_agreed(AstroMergePrivate *priv, GPtrArray *pads, gint64 first)
{
  gboolean is_other = !priv->pads || priv->pads->len != pads->len;
  for (guint i = 0; i < pads->len; i++) {
    AstroMergePad *pad = astro_merge_pad_at(pads, i);
    const AstroMergeEntry *head = astro_merge_pad_head(pad);
    AstroMergeStream *of = head && (head->place == first || !pad->agreed) ? head->of
                           : pad->agreed                                  ? pad->agreed
                                                                          : pad->latest;
    is_other |= of != pad->agreed || (!is_other && astro_merge_pad_at(priv->pads, i) != pad);
    astro_merge_stream_ref(of);
    g_clear_pointer(&pad->agreed, astro_merge_stream_unref);
    pad->agreed = of;
  }
  return is_other;
}

/* Once all pads were flushed, even one by one, what comes has no time in common with what was
 * before. The thread that aggregates sees to that: GstAggregator calls flush() from the thread of
 * the pad that was flushed last, while this thread may be at work again, if the element was stopped
 * and started between the two events of a flush. */
static void begin_after_flush(AstroMerge *merge, const GPtrArray *pads)
{
  for (guint i = 0; i < pads->len; i++)
    if (!astro_merge_pad_at(pads, i)->is_flushed)
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
    if (!place_entries(merge, astro_merge_pad_at(pads, i), error))
      return ASTRO_MERGE_FAILED;
  const gint64 first = find_first(pads, &lead);
  if (!lead) /* everything came too late */
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
    cut_pad(&cut, astro_merge_pad_at(pads, i), i);
    astro_merge_pad_at(pads, i)->is_flushed = FALSE;
  }
  priv->next = end;
  return ASTRO_MERGE_HAS_BLOCK;
}
