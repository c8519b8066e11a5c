/* Puts SPEAD heaps together from their packets. */
#include "config.h"
#include "core/packets/heaps.h"

#include <string.h>

/* Most separate stretches of a heap; few are needed, since senders send parts nearly in order. */
#define MOST_STRETCHES 256

typedef struct {
  guint64 sender, heap;
} Key;

typedef struct {
  gsize begin, end;
} Stretch;

typedef struct {
  Key key;
  GList link; /* in the order in which heaps began */
  AstroPacket header;
  gboolean is_aside;
  gboolean is_done;  /* its number is kept, but not its bytes */
  gboolean is_again; /* reuses the number of a done heap: duplicates, or a restarted sender */
  guint8 *bytes;     /* NULL once the heap is done */
  gsize size;
  guint n_stretches;
  Stretch stretches[MOST_STRETCHES];
} Heap;

struct _AstroHeaps {
  GHashTable *heaps;
  GQueue order;
  gsize held;
  guint8 *given; /* bytes of the last whole heap */
  guint64 incomplete, copied;
};

static guint key_hash(gconstpointer data)
{
  const Key *key = data;
  return (guint)((key->heap ^ key->sender * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 32);
}

static gboolean key_equal(gconstpointer a, gconstpointer b)
{
  const Key *x = a, *y = b;
  return x->sender == y->sender && x->heap == y->heap;
}

static void heap_free(gpointer data)
{
  Heap *heap = data;
  g_free(heap->bytes);
  g_free(heap);
}

AstroHeaps *astro_heaps_new(void)
{
  AstroHeaps *self = g_new0(AstroHeaps, 1);
  self->heaps = g_hash_table_new_full(key_hash, key_equal, NULL, heap_free);
  g_queue_init(&self->order);
  return self;
}

static void give_up(AstroHeaps *self, Heap *heap)
{
  g_queue_unlink(&self->order, &heap->link);
  if (heap->is_again && !heap->is_done)
    self->copied++;
  else if (!heap->is_done && !heap->is_aside)
    self->incomplete++;
  self->held -= heap->bytes ? heap->size : 0;
  g_hash_table_remove(self->heaps, &heap->key);
}

void astro_heaps_reset(AstroHeaps *self)
{
  while (self->order.length)
    give_up(self, self->order.head->data);
}

void astro_heaps_free(AstroHeaps *self)
{
  astro_heaps_reset(self);
  g_hash_table_unref(self->heaps);
  g_free(self->given);
  g_free(self);
}

guint64 astro_heaps_incomplete(const AstroHeaps *self)
{
  return self->incomplete;
}

guint64 astro_heaps_copied(const AstroHeaps *self)
{
  return self->copied;
}

static Heap *begin(AstroHeaps *self, const Key *key, const AstroPacket *packet)
{
  const gsize size = (gsize)packet->heap_bytes;
  while (self->order.length &&
         (self->order.length >= ASTRO_HEAPS_MOST || self->held + size > ASTRO_HEAPS_MOST_BYTES))
    give_up(self, self->order.head->data);
  Heap *heap = g_new0(Heap, 1);
  heap->key = *key;
  heap->header = *packet;
  heap->size = size;
  heap->bytes = g_malloc(size);
  heap->link.data = heap;
  self->held += size;
  g_queue_push_tail_link(&self->order, &heap->link);
  g_hash_table_insert(self->heaps, &heap->key, heap);
  return heap;
}

/* Parts that tell the same thing have to agree on it. */
static gboolean agree(guint64 *of_heap, guint64 of_part, guint64 unknown)
{
  if (*of_heap == unknown)
    *of_heap = of_part;
  return of_part == unknown || *of_heap == of_part;
}

/* A restarted sender uses the same heap numbers again, but its count differs, as the time does. */
static gboolean is_another(const Heap *heap, const AstroPacket *part)
{
  return heap->header.count_bits && part->count_bits && heap->header.count != part->count;
}

static gboolean merge(Heap *heap, const AstroPacket *part)
{
  AstroPacket *whole = &heap->header;
  if (part->heap_bytes != heap->size ||
      !agree(&whole->station, part->station, ASTRO_PACKET_UNKNOWN) ||
      !agree(&whole->channel, part->channel, ASTRO_PACKET_UNKNOWN))
    return FALSE;
  if (part->samples_bytes) {
    whole->samples_offset = part->samples_offset;
    whole->samples_bytes = part->samples_bytes;
  }
  if (part->count_bits) {
    whole->count = part->count;
    whole->count_bits = part->count_bits;
    whole->count_step = part->count_step;
  }
  return TRUE;
}

typedef enum { NEW, THERE, TOO_MANY } Added;

static Added add(Heap *heap, gsize begin, gsize end)
{
  guint at = 0;
  while (at < heap->n_stretches && heap->stretches[at].end < begin)
    at++;
  Stretch *next = &heap->stretches[at];
  if (at == heap->n_stretches || next->begin > end) {
    if (heap->n_stretches == MOST_STRETCHES)
      return TOO_MANY;
    memmove(next + 1, next, (heap->n_stretches - at) * sizeof *next);
    *next = (Stretch){ begin, end };
    heap->n_stretches++;
    return NEW;
  }
  if (begin < next->end && end > next->begin)
    return THERE;
  next->begin = MIN(next->begin, begin);
  next->end = MAX(next->end, end);
  if (at + 1 < heap->n_stretches && next->end >= next[1].begin) {
    next->end = MAX(next->end, next[1].end);
    memmove(next + 1, next + 2, (heap->n_stretches - at - 2) * sizeof *next);
    heap->n_stretches--;
  }
  return NEW;
}

/* Cuts the samples out of a whole heap. FALSE: they are not within it. */
static gboolean cut_samples(AstroPacket *packet, const guint8 **payload)
{
  const guint64 offset = packet->samples_offset, bytes = packet->samples_bytes;
  if (bytes == 0)
    return TRUE;
  if (offset > packet->payload_bytes || bytes > packet->payload_bytes - offset)
    return FALSE;
  *payload += offset;
  packet->payload_bytes = (gsize)bytes;
  return TRUE;
}

static AstroHeapAnswer finish(AstroHeaps *self, Heap *heap, AstroPacket *packet,
                              const guint8 **payload)
{
  const gsize bytes = packet->bytes;
  heap->is_done = TRUE;
  self->held -= heap->size;
  g_free(self->given);
  self->given = g_steal_pointer(&heap->bytes);
  *packet = heap->header;
  packet->heap_offset = 0;
  packet->payload_bytes = heap->size;
  packet->bytes = bytes; /* those of the last part */
  *payload = self->given;
  if (heap->is_aside)
    return ASTRO_HEAP_ASIDE;
  return cut_samples(packet, payload) ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_ALIEN;
}

AstroHeapAnswer astro_heaps_take(AstroHeaps *self, guint64 sender, AstroPacket *packet,
                                 const guint8 **payload)
{
  const Key key = { sender, packet->heap };
  const gboolean is_aside = packet->kind != ASTRO_PACKET_DATA;
  if (packet->heap_bytes == 0 || packet->payload_bytes == 0)
    return is_aside ? ASTRO_HEAP_ASIDE : ASTRO_HEAP_ALIEN;
  if (packet->heap_offset == 0 && packet->payload_bytes == packet->heap_bytes) {
    if (is_aside)
      return ASTRO_HEAP_ASIDE;
    return cut_samples(packet, payload) ? ASTRO_HEAP_WHOLE : ASTRO_HEAP_ALIEN;
  }
  Heap *heap = g_hash_table_lookup(self->heaps, &key);
  const gboolean is_again = heap && heap->is_done;
  if (heap && (is_again || is_another(heap, packet))) {
    give_up(self, heap);
    heap = NULL;
  }
  if (!heap) {
    heap = begin(self, &key, packet);
    heap->is_again = is_again;
  } else if (!merge(heap, packet))
    return ASTRO_HEAP_ALIEN;
  heap->is_aside |= is_aside;
  const gsize from = (gsize)packet->heap_offset;
  switch (add(heap, from, from + packet->payload_bytes)) {
  case THERE:
    return ASTRO_HEAP_DUPLICATE;
  case TOO_MANY:
    return ASTRO_HEAP_ALIEN;
  case NEW:
    break;
  }
  memcpy(heap->bytes + from, *payload, packet->payload_bytes);
  if (heap->n_stretches > 1 || heap->stretches[0].begin > 0 || heap->stretches[0].end < heap->size)
    return ASTRO_HEAP_PART;
  return finish(self, heap, packet, payload);
}
