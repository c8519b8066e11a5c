/* The inner loops of dedispersion: sums of rows. */
#pragma once

#include "core/backend/cpu.h"

#define ASTRO_DEDISPERSE_LINE 16 /* numbers of a line of the caches: rows are multiples of it */

/* A row of `more` steps beyond those asked for: to = a + b, each a distance from a pointer. */
typedef struct {
  guint32 to, a, b, more;
} AstroDedisperseSum;

/* Bands whose rows are taken together, which saves reading and writing the sums in between. */
#define ASTRO_DEDISPERSE_BANDS 4
typedef struct {
  guint n;
  gconstpointer rows[ASTRO_DEDISPERSE_BANDS];
  const guint32 *from[ASTRO_DEDISPERSE_BANDS];
} AstroDedisperseTaken;

/* A row of the power and one of the counts are both numbers of four bytes. Rows of n steps, a
 * multiple of the line; beyond a row's end may be read, up to a line. */
typedef struct {
  AstroVariant variant;
  /* sums[i]: to = a + b. */
  void (*add_floats)(float *to, const float *a, const float *b, const AstroDedisperseSum *sums,
                     guint n_sums, guint n);
  void (*add_counts)(guint32 *to, const guint32 *a, const guint32 *b,
                     const AstroDedisperseSum *sums, guint n_sums, guint n);
  /* Row i of to, which are `pitch` apart, is increased by what is at from[b][i] of each band, in
   * their order; first: it becomes their sum. */
  void (*take_floats)(float *to, gsize pitch, const AstroDedisperseTaken *taken, guint n_rows,
                      guint n, gboolean first);
  void (*take_counts)(guint32 *to, gsize pitch, const AstroDedisperseTaken *taken, guint n_rows,
                      guint n, gboolean first);
} AstroDedisperseKernels;

extern const AstroDedisperseKernels astro_dedisperse_kernels_c, astro_dedisperse_kernels_avx2,
    astro_dedisperse_kernels_avx512;
