/* Fetches rows of the input that are copied next, spread evenly over the transposition of a plane,
 * which leaves the memory idle. For transposition only. */
#pragma once

#include "core/lib/transpose/loops.h"

typedef struct {
  const guint8 *row; /* NULL: nothing to fetch */
  gsize row_bytes, at;
  AstroTransposeLoops rows;
} AstroTransposeAhead;

void astro_transpose_next_row(AstroTransposeAhead *ahead);

static inline __attribute__((always_inline)) void astro_transpose_fetch(AstroTransposeAhead *ahead,
                                                                        gsize bytes)
{
  enum { LINE = 64, TO_SECOND_CACHE = 2 };
  for (gsize fetched = 0; ahead && fetched < bytes && ahead->row; fetched += LINE) {
    __builtin_prefetch(ahead->row + ahead->at, 0, TO_SECOND_CACHE);
    ahead->at += LINE;
    if (ahead->at >= ahead->row_bytes)
      astro_transpose_next_row(ahead);
  }
}
