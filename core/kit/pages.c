/* Allocates memory on large pages. */
#include "config.h"
#include "core/kit/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { CACHE_LINE = 64 };

gpointer astro_pages_alloc_aligned(gsize bytes, gsize align)
{
  void *memory = NULL;
  align = MAX(align, bytes >= ASTRO_LARGE_PAGE ? ASTRO_LARGE_PAGE : CACHE_LINE);
  if (posix_memalign(&memory, align, MAX(bytes, 1)) != 0)
    return NULL;
  astro_pages_wish(memory, bytes);
  return memory;
}

gpointer astro_pages_alloc(gsize bytes)
{
  return astro_pages_alloc_aligned(bytes, CACHE_LINE);
}

gpointer astro_pages_zeros(gsize bytes)
{
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return NULL;
  madvise(memory, bytes, MADV_HUGEPAGE);
  return memory;
}

void astro_pages_zeros_free(gpointer memory, gsize bytes)
{
  munmap(memory, bytes);
}

/* Gives advice on the whole large pages within some memory. */
static void advise(gpointer memory, gsize bytes, int advice)
{
  const gsize from = ((gsize)memory + ASTRO_LARGE_PAGE - 1) & ~(ASTRO_LARGE_PAGE - 1);
  const gsize to = ((gsize)memory + bytes) & ~(ASTRO_LARGE_PAGE - 1);
  if (from < to)
    madvise((gpointer)from, to - from, advice);
}

void astro_pages_wish(gpointer memory, gsize bytes)
{
  advise(memory, bytes, MADV_HUGEPAGE);
}

void astro_pages_give_back(gpointer memory, gsize bytes)
{
  advise(memory, bytes, MADV_DONTNEED);
}
