/* Reads a block by all threads: the limit of stages that write little. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/threads.h"

/* The exclusive or of all words, which nothing but memory slows down. */
static inline void bench_read_share(gpointer data, guint64 task)
{
  typedef guint64 Words __attribute__((vector_size(64)));
  static guint64 kept;
  const AstroBlock *block = data;
  const Words *words = block->data;
  const gsize n = block->bytes / sizeof *words, shares = astro_threads();
  Words all[4] = { { 0 } };
  for (gsize i = n / 4 * task / shares * 4; i + 4 <= n / 4 * (task + 1) / shares * 4; i += 4)
    for (guint k = 0; k < 4; k++)
      all[k] ^= words[i + k];
  all[0] ^= all[1] ^ all[2] ^ all[3];
  for (guint k = 0; k < 8; k++)
    __atomic_fetch_xor(&kept, all[0][k], __ATOMIC_RELAXED);
}

/* data: an AstroBlock. */
static inline void bench_read(gpointer data)
{
  astro_parallel(astro_threads(), 0, bench_read_share, data);
}
