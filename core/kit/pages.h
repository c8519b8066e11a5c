/* Memory that is read in no order: on large pages, whose addresses the processor keeps at hand. */
#pragma once

#include <glib.h>
#include <stdlib.h>
#include <sys/mman.h>

#define ASTRO_LARGE_PAGE ((gsize)2 << 20)

/* For free(); NULL where there is none. */
static inline gpointer astro_pages_alloc(gsize bytes)
{
  if (bytes < ASTRO_LARGE_PAGE)
    return malloc(MAX(bytes, 1));
  const gsize whole = (bytes + ASTRO_LARGE_PAGE - 1) & ~(ASTRO_LARGE_PAGE - 1);
  gpointer memory = bytes <= whole ? aligned_alloc(ASTRO_LARGE_PAGE, whole) : NULL;
  if (memory)
    madvise(memory, whole, MADV_HUGEPAGE); /* a wish: the machine may have none */
  return memory;
}

/* The same wish for what malloc gave. */
static inline void astro_pages_wish(gpointer memory, gsize bytes)
{
  const gsize from = ((gsize)memory + ASTRO_LARGE_PAGE - 1) & ~(ASTRO_LARGE_PAGE - 1);
  const gsize to = ((gsize)memory + bytes) & ~(ASTRO_LARGE_PAGE - 1);
  if (from < to)
    madvise((gpointer)from, to - from, MADV_HUGEPAGE);
}

/* Memory of the process's own that nobody reads any more: what of it is whole pages goes back to
 * the system before it is freed. */
static inline void astro_pages_give_back(gpointer memory, gsize bytes)
{
  const gsize from = ((gsize)memory + ASTRO_LARGE_PAGE - 1) & ~(ASTRO_LARGE_PAGE - 1);
  const gsize to = ((gsize)memory + bytes) & ~(ASTRO_LARGE_PAGE - 1);
  if (from < to)
    madvise((gpointer)from, to - from, MADV_DONTNEED);
}
