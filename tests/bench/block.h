/* Blocks for benchmarks, as the pools of pipelines give them: on huge pages, where there are any.
 */
#pragma once

#include <glib.h>
#include <string.h>
#include <sys/mman.h>

static inline gpointer bench_block(gsize bytes)
{
  const gsize huge_page = 2u << 20;
  gpointer block = g_aligned_alloc(1, bytes, huge_page);
  madvise(block, bytes, MADV_HUGEPAGE);
  memset(block, 0, bytes);
  return block;
}
