/* Nested loops that step through two blocks at once. For transposition only. */
#pragma once

#include "core/stream/stream.h"

/* The first loop is the innermost. from, to: bytes between two steps on either side. */
typedef struct {
  guint n;
  gsize steps[ASTRO_MAX_AXES], from[ASTRO_MAX_AXES], to[ASTRO_MAX_AXES];
  gsize at[ASTRO_MAX_AXES];
} AstroTransposeLoops;

static inline void astro_transpose_add_loop(AstroTransposeLoops *loops, gsize steps, gsize from,
                                            gsize to)
{
  guint last = loops->n - 1;
  if (steps == 1)
    return;
  if (loops->n && from == loops->from[last] * loops->steps[last] &&
      to == loops->to[last] * loops->steps[last]) {
    loops->steps[last] *= steps;
    return;
  }
  loops->steps[loops->n] = steps;
  loops->from[loops->n] = from;
  loops->to[loops->n] = to;
  loops->at[loops->n++] = 0;
}

/* Moves both sides on by one step; FALSE after the last. */
static inline gboolean astro_transpose_next(AstroTransposeLoops *loops, const guint8 **from,
                                            guint8 **to)
{
  for (guint i = 0; i < loops->n; i++) {
    *from += loops->from[i];
    *to += loops->to[i];
    if (++loops->at[i] < loops->steps[i])
      return TRUE;
    *from -= loops->from[i] * loops->steps[i];
    *to -= loops->to[i] * loops->steps[i];
    loops->at[i] = 0;
  }
  return FALSE;
}
