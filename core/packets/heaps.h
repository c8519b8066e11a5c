/* Puts SPEAD heaps together from packets that carry their parts, in any order. If a part is
 * missing, the whole heap is lost. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

/* Limits on the heaps remembered and on the bytes held for incomplete ones; the oldest heap is
 * given up first. */
#define ASTRO_HEAPS_MOST 4096
#define ASTRO_HEAPS_MOST_BYTES ((gsize)256 << 20)

typedef enum {
  ASTRO_HEAP_WHOLE,
  ASTRO_HEAP_PART,      /* more parts are needed */
  ASTRO_HEAP_DUPLICATE, /* the part had come before */
  ASTRO_HEAP_ASIDE,     /* without samples */
  ASTRO_HEAP_ALIEN,     /* contradicts the other parts of its heap */
} AstroHeapAnswer;

typedef struct _AstroHeaps AstroHeaps;

AstroHeaps *astro_heaps_new(void);
void astro_heaps_free(AstroHeaps *heaps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroHeaps, astro_heaps_free)

/* sender: distinguishes senders that use the same heap numbers; 0: unknown. Once a heap is whole,
 * packet becomes the header of the whole heap and payload its samples, until the next call. */
AstroHeapAnswer astro_heaps_take(AstroHeaps *heaps, guint64 sender, AstroPacket *packet,
                                 const guint8 **payload);
/* Heaps of samples that were given up because a part never came. */
guint64 astro_heaps_incomplete(const AstroHeaps *heaps);
/* Heaps of which some parts came again after they were whole. */
guint64 astro_heaps_copied(const AstroHeaps *heaps);
void astro_heaps_reset(AstroHeaps *heaps); /* gives up all heaps and counts them */

G_END_DECLS
