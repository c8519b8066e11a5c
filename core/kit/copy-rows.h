/* Copies rows of a few bytes at regular distances, as many stages need it: memcpy of a size known
 * at compile time is one load and one store. */
#pragma once

#include <glib.h>
#include <string.h>

typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize to_step, from_step;
  guint64 n;
} AstroLines;

static inline __attribute__((always_inline)) void astro_lines_copy_of(AstroLines lines, gsize bytes)
{
  for (; lines.n; lines.n--, lines.to += lines.to_step, lines.from += lines.from_step)
    memcpy(lines.to, lines.from, bytes);
}

static inline void astro_lines_copy(const AstroLines *lines, gsize bytes)
{
  switch (bytes) {
#define SIZE(n)                                                                                    \
  case n:                                                                                          \
    astro_lines_copy_of(*lines, n);                                                                \
    break;
    SIZE(1)
    SIZE(2)
    SIZE(4)
    SIZE(8)
    SIZE(16)
    SIZE(32)
    SIZE(64)
#undef SIZE
  default:
    astro_lines_copy_of(*lines, bytes);
    break;
  }
}
