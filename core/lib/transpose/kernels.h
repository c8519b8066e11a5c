/* The kernels of transposition. Everything strided happens between two small stages that stay in
 * the caches of a core (plan.h), so kernels need not care about pages, cache sets or alignment. */
#pragma once

#include "core/lib/transpose/prefetch.h"
#include "core/backend/cpu.h"

G_BEGIN_DECLS

/* The unit at out[column_to[c] + r * unit] becomes the one at in[r * in_pitch + c * unit], for all
 * rows r and columns c. This is done `times` times, each time `in_step` and `out_step` bytes
 * further on. All distances are in bytes. Kernels may read past the end of a row:
 * ASTRO_TRANSPOSE_SLACK bytes behind the last one may be read. */
#define ASTRO_TRANSPOSE_SLACK 64
typedef struct {
  guint8 *out;
  const guint8 *in;
  const guint32 *column_to;
  gsize in_pitch;
  gsize rows, columns;
  gsize times, out_step, in_step;
  gsize unit;
  AstroTransposeAhead *ahead; /* rows to fetch meanwhile, or NULL */
} AstroTransposePlane;

#define ASTRO_TRANSPOSE_UNITS 5 /* 1, 2, 4, 8, 16 bytes */

typedef struct {
  AstroVariant variant;
  /* Indexed by the binary logarithm of the unit. */
  void (*transpose[ASTRO_TRANSPOSE_UNITS])(const AstroTransposePlane *plane);
  /* For any other unit, of at least 2 bytes. */
  void (*rearrange)(const AstroTransposePlane *plane);
  void (*copy)(guint8 *to, const guint8 *from, gsize bytes);
  /* Copies, with whole cache lines bypassing the caches. After fence other threads may look. */
  void (*stream)(guint8 *to, const guint8 *from, gsize bytes);
  void (*fence)(void);
} AstroTransposeKernels;

extern const AstroTransposeKernels astro_transpose_kernels_c;
extern const AstroTransposeKernels astro_transpose_kernels_avx2;
extern const AstroTransposeKernels astro_transpose_kernels_avx512;

/* The fastest kernels that astro_cpu_level() allows. */
const AstroTransposeKernels *astro_transpose_kernels(void);

G_END_DECLS
