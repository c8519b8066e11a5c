/* SPEAD heaps out of the packets that carry their parts, in any order. A heap that lacks a part is
 * not there. */
#pragma once

#include "core/packets/packets.h"

G_BEGIN_DECLS

/* Bounds of what is held of heaps that are not whole: the oldest gives way. */
#define ASTRO_HEAPS_MOST 4096
#define ASTRO_HEAPS_MOST_BYTES ((gsize)256 << 20)

typedef enum {
  ASTRO_HEAP_WHOLE,
  ASTRO_HEAP_PART,      /* more has to come */
  ASTRO_HEAP_DUPLICATE, /* the part was there */
  ASTRO_HEAP_ASIDE,     /* of no samples */
  ASTRO_HEAP_ALIEN,     /* it contradicts the heap's other parts */
} AstroHeapAnswer;

typedef struct _AstroHeaps AstroHeaps;

AstroHeaps *astro_heaps_new(void);
void astro_heaps_free(AstroHeaps *heaps);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroHeaps, astro_heaps_free)

/* sender: tells apart those that number their heaps alike; 0: not known. Of a heap that is whole
 * packet becomes the header of all of it, and payload its samples, until the next call. */
AstroHeapAnswer astro_heaps_take(AstroHeaps *heaps, guint64 sender, AstroPacket *packet,
                                 const guint8 **payload);
/* Heaps of samples that were given up: a part of them never came. */
guint64 astro_heaps_incomplete(const AstroHeaps *heaps);
/* Heaps that were whole and of which parts came again. */
guint64 astro_heaps_copied(const AstroHeaps *heaps);
void astro_heaps_reset(AstroHeaps *heaps); /* forgets what is held, and counts it */

G_END_DECLS
