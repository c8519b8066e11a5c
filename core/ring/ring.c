/* Which pieces of a stream are held, which of them are wanted, and which were lost. */
#include "config.h"
#include "core/ring/ring.h"

typedef struct {
  AstroRingPiece piece;
  guint64 number;
  gint64 age;       /* ns of stream that had passed when it ended */
  guint references; /* by the ring and by those that wait */
  gboolean is_wanted;
  gboolean is_late; /* it waits, and has left the ring */
} Entry;

typedef struct {
  AstroRingTime time;
  gint64 from, to; /* ns, on the time's scale */
} Window;

struct _AstroRing {
  AstroRingSettings settings;
  GQueue held;    /* of Entry, oldest first */
  GQueue waiting; /* of Entry, oldest first; NULL ends a dump */
  GArray *open;   /* windows that may want pieces to come */

  guint64 next;                    /* the number of the next piece */
  gint64 now;                      /* ns of stream that have passed */
  AstroRingPiece first, gone;      /* without data: since the time scale changed the first piece,
                                      and the last one that left the ring without being wanted */
  gboolean has_first, has_gone;    /* whether there are such */
  gboolean was_wanted;             /* the piece that came last, or the last in the ring is */
  guint64 last_wanted, last_taken; /* numbers, plus 1; 0: none */
  guint64 bytes, late;             /* of all that is held, and of those that left the ring */
  guint64 lost;                    /* wanted bytes lost since the last piece was taken */
  gint64 lost_ns;
};

AstroRingStore *astro_ring_new(const AstroRingSettings *settings)
{
  AstroRingStore *ring = g_new0(AstroRingStore, 1);
  ring->settings = *settings;
  ring->open = g_array_new(FALSE, FALSE, sizeof(Window));
  g_queue_init(&ring->held);
  g_queue_init(&ring->waiting);
  return ring;
}

static void release(AstroRingStore *ring, Entry *entry)
{
  if (--entry->references > 0)
    return;
  ring->bytes -= entry->piece.bytes;
  if (entry->piece.data)
    ring->settings.free_data(entry->piece.data);
  g_free(entry);
}

void astro_ring_free(AstroRingStore *ring)
{
  if (!ring)
    return;
  for (Entry *entry; (entry = g_queue_pop_head(&ring->held));)
    release(ring, entry);
  while (!g_queue_is_empty(&ring->waiting)) {
    Entry *entry = g_queue_pop_head(&ring->waiting);
    if (entry)
      release(ring, entry);
  }
  g_array_unref(ring->open);
  g_free(ring);
}

guint64 astro_ring_bytes(const AstroRingStore *ring)
{
  return ring->bytes;
}

gboolean astro_ring_has_waiting(const AstroRingStore *ring)
{
  return !g_queue_is_empty((GQueue *)&ring->waiting);
}

void astro_ring_set_most_late(AstroRingStore *ring, guint64 bytes)
{
  ring->settings.most_late = bytes;
}

/* ---- windows ---- */

/* The piece's time on the scale of a window. FALSE: it has none. */
static gboolean place(const AstroRingPiece *piece, const Window *window, gint64 *begin, gint64 *end)
{
  const gint64 zero = window->time.is_utc ? piece->utc : 0;
  *begin = piece->begin + zero;
  *end = piece->end + zero;
  return zero != ASTRO_RING_UNDATED;
}

/* How many ns of the piece lie in the window. A piece without a length lies in it or does not. */
static gboolean overlaps(const AstroRingPiece *piece, const Window *window, gint64 *ns)
{
  gint64 begin, end;
  if (!place(piece, window, &begin, &end))
    return FALSE;
  *ns = MIN(end, window->to) - MAX(begin, window->from);
  return begin < window->to && (end > window->from || (begin == end && begin >= window->from));
}

static void want(AstroRingStore *ring, Entry *entry)
{
  entry->is_wanted = TRUE;
  entry->references++;
  ring->last_wanted = entry->number + 1;
  g_queue_push_tail(&ring->waiting, entry);
}

static void end_dump(AstroRingStore *ring)
{
  if (!g_queue_is_empty(&ring->waiting) ? g_queue_peek_tail(&ring->waiting) != NULL
                                        : ring->last_taken > 0)
    g_queue_push_tail(&ring->waiting, NULL);
}

/* ---- pieces that come and go ---- */

/* The oldest piece that waits outside the ring is lost. */
static void lose_oldest(AstroRingStore *ring)
{
  for (GList *link = ring->waiting.head; link; link = link->next) {
    Entry *entry = link->data;
    if (!entry || !entry->is_late)
      continue;
    ring->late -= entry->piece.bytes;
    ring->lost += entry->piece.bytes;
    ring->lost_ns += entry->piece.end - entry->piece.begin;
    g_queue_delete_link(&ring->waiting, link);
    release(ring, entry);
    return;
  }
}

static void forget_old(AstroRingStore *ring)
{
  for (;;) {
    Entry *entry = g_queue_peek_head(&ring->held);
    if (!entry || ring->now - entry->age < ring->settings.length)
      break;
    g_queue_pop_head(&ring->held);
    if (!entry->is_wanted) {
      ring->gone = entry->piece;
      ring->gone.data = NULL;
      ring->has_gone = TRUE;
    }
    if (entry->references > 1) {
      entry->is_late = TRUE;
      ring->late += entry->piece.bytes;
    }
    release(ring, entry);
  }
  while (ring->late > ring->settings.most_late)
    lose_oldest(ring);
}

/* How much later the stream is now. Pieces of another time scale follow those before. */
static void pass(AstroRingStore *ring, const AstroRingPiece *piece)
{
  const Entry *last = g_queue_peek_tail(&ring->held);
  const gboolean follows = last && last->piece.utc == piece->utc && piece->begin >= last->piece.end;
  ring->now += piece->end - (follows ? last->piece.end : piece->begin);
  if (!ring->has_first || (last && last->piece.utc != piece->utc)) {
    ring->first = *piece;
    ring->has_first = TRUE;
    ring->has_gone = FALSE;
  }
}

guint astro_ring_add(AstroRingStore *ring, const AstroRingPiece *piece)
{
  guint undated = 0;
  gboolean wanted = FALSE;
  Entry *entry = g_new0(Entry, 1);

  pass(ring, piece);
  entry->piece = *piece;
  entry->number = ring->next++;
  entry->age = ring->now;
  entry->references = 1;
  ring->bytes += piece->bytes;
  for (guint i = 0; i < ring->open->len;) {
    const Window *window = &g_array_index(ring->open, Window, i);
    gint64 begin, end, ns;
    const gboolean has_place = place(piece, window, &begin, &end);
    wanted |= overlaps(piece, window, &ns);
    undated += !has_place;
    if (!has_place || begin >= window->to)
      g_array_remove_index(ring->open, i);
    else
      i++;
  }
  if (wanted)
    want(ring, entry);
  else if (ring->was_wanted)
    end_dump(ring);
  ring->was_wanted = wanted;
  g_queue_push_tail(&ring->held, entry);
  forget_old(ring);
  return undated;
}

/* ---- triggers ---- */

/* How much of a window the ring no longer has, as far as the stream had begun by then. */
static gint64 find_gone(const AstroRingStore *ring, const Window *window)
{
  gint64 begin, end, first, unused;
  if (!ring->has_gone || !place(&ring->gone, window, &begin, &end) ||
      !place(&ring->first, window, &first, &unused))
    return 0;
  return MAX(0, MIN(end, window->to) - MAX(first, window->from));
}

void astro_ring_trigger(AstroRingStore *ring, const AstroRingTime *time, AstroRingAnswer *answer)
{
  const Entry *newest = g_queue_peek_tail(&ring->held);
  Window window = { { 0 } };
  gint64 ns, begin, end;

  *answer = (AstroRingAnswer){ 0 };
  if (time)
    window.time = *time;
  else
    window.time.ns = newest ? newest->piece.end : 0;
  window.from = window.time.ns - ring->settings.before;
  window.to = window.time.ns + ring->settings.after;
  answer->gone = find_gone(ring, &window);
  for (GList *link = ring->held.head; link; link = link->next) {
    Entry *entry = link->data;
    if (entry->is_wanted || !overlaps(&entry->piece, &window, &ns))
      continue;
    if (entry->number < ring->last_wanted) {
      answer->behind += ns;
    } else {
      want(ring, entry);
      answer->wanted++;
    }
  }
  answer->waits = !newest || !place(&newest->piece, &window, &begin, &end) || end < window.to;
  if (answer->waits)
    g_array_append_val(ring->open, window);
  if (newest && ring->last_wanted == newest->number + 1)
    ring->was_wanted = TRUE;
  else if (answer->wanted)
    end_dump(ring);
}

void astro_ring_close(AstroRingStore *ring)
{
  g_array_set_size(ring->open, 0);
  if (ring->was_wanted)
    end_dump(ring);
  ring->was_wanted = FALSE;
}

void astro_ring_take(AstroRingStore *ring, AstroRingNext *next)
{
  *next = (AstroRingNext){ ASTRO_RING_NOTHING, .lost = ring->lost, .lost_ns = ring->lost_ns };
  ring->lost = 0;
  ring->lost_ns = 0;
  if (g_queue_is_empty(&ring->waiting))
    return;
  Entry *entry = g_queue_pop_head(&ring->waiting);
  next->kind = entry ? ASTRO_RING_PIECE : ASTRO_RING_END;
  if (!entry) {
    ring->last_taken = 0;
    return;
  }
  next->begins = ring->last_taken != entry->number || entry->number == 0;
  ring->last_taken = entry->number + 1;
  if (entry->is_late)
    ring->late -= entry->piece.bytes;
  next->piece = entry->piece;
  /* Nobody asks for it again, so the ring keeps only its times. */
  entry->piece.data = NULL;
  ring->bytes -= entry->piece.bytes;
  entry->piece.bytes = 0;
  release(ring, entry);
}
