/* Allocates blocks for benchmarks. */
#pragma once

#include "core/backend/threads.h"

#include <glib.h>
#include <string.h>
#include <sys/mman.h>

/* A block like those of a pipeline's pools: on huge pages, if there are any. */
static inline gpointer bench_block(gsize bytes)
{
  const gsize huge_page = 2u << 20;
  gpointer block = g_aligned_alloc(1, bytes, huge_page);
  madvise(block, bytes, MADV_HUGEPAGE);
  memset(block, 0, bytes);
  return block;
}

/* An input and an output block, for comparisons with memcpy of as many bytes on as many threads. */
typedef struct {
  guint8 *in, *out;
  gsize bytes; /* number of bytes copied; set before each measurement */
} BenchBlocks;

static inline BenchBlocks bench_blocks(gsize most_bytes)
{
  BenchBlocks blocks = { g_aligned_alloc(1, most_bytes, 4096), g_aligned_alloc(1, most_bytes, 4096),
                         most_bytes };
  memset(blocks.in, 0, most_bytes);
  memset(blocks.out, 0, most_bytes);
  return blocks;
}

static inline void bench_blocks_free(BenchBlocks *blocks)
{
  g_aligned_free(blocks->in);
  g_aligned_free(blocks->out);
}

static inline void bench_copy_share(gpointer data, guint64 task)
{
  const BenchBlocks *blocks = data;
  const gsize n = astro_threads(), start = blocks->bytes * task / n;
  memcpy(blocks->out + start, blocks->in + start, blocks->bytes * (task + 1) / n - start);
}

static inline void bench_memcpy(gpointer blocks)
{
  astro_parallel(astro_threads(), 0, bench_copy_share, blocks);
}
