/* Asks for the rows of the input that will be copied after a plane, evenly while it is turned,
 * since turning leaves the memory idle. Private to core/transpose. */
#pragma once

#include "core/lib/transpose/loops.h"

typedef struct {
  const guint8 *row; /* NULL: nothing to ask for */
  gsize row_bytes, at;
  AstroTransposeLoops rows;
} AstroTransposeAhead;

void astro_transpose_next_row(AstroTransposeAhead *ahead);

static inline __attribute__((always_inline)) void astro_transpose_ask(AstroTransposeAhead *ahead,
                                                                      gsize bytes)
{
  enum { LINE = 64, TO_SECOND_CACHE = 2 };
  for (gsize asked = 0; ahead && asked < bytes && ahead->row; asked += LINE) {
    __builtin_prefetch(ahead->row + ahead->at, 0, TO_SECOND_CACHE);
    ahead->at += LINE;
    if (ahead->at >= ahead->row_bytes)
      astro_transpose_next_row(ahead);
  }
}
