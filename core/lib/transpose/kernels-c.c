/* The portable kernels: plain C on vectors of 16 bytes, which every x86_64 has. */
#include "core/lib/transpose/kernels.h"

#define LANES 1
typedef guint8 Lane __attribute__((vector_size(16), aligned(1), may_alias));
typedef Lane Vector;

static inline void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
{
  __builtin_memcpy(to, (const guint8 *)&lane + first, bytes);
}

#include "core/lib/transpose/tiles.h"

static void fence(void)
{
  __atomic_thread_fence(__ATOMIC_RELEASE);
}

const AstroTransposeKernels astro_transpose_kernels_c = {
  { "c", ASTRO_CPU_C },
  { transpose_1, transpose_2, transpose_4, transpose_8, transpose_16 },
  rearrange,
  copy,
  copy,
  fence,
};
