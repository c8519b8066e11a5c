/* Forward transforms of a few columns of a plane at once: as many as a cache line holds real parts
 * of. Real and imaginary parts of all columns lie next to one another, so that every operation is
 * one on whole vectors and nothing is transposed.
 *
 * A transform of n = n1 x n2 samples is n2 transforms of n1 samples, then n1 of n2, each so short
 * that it stays in the innermost cache; what lies between them is meant for the next one. */
#pragma once

#include "core/backend/cpu.h"

G_BEGIN_DECLS

#define ASTRO_FFT_COLUMNS_BYTES 64 /* of the real parts of a sample of all columns */

/* Transforms of m samples: passes of a radix each. */
typedef struct {
  guint m, n_passes;
  guint radices[32];
  gpointer twiddles[32]; /* of each pass: complex, [what is left of m][radix - 1]; of a radix
                          * without a kernel of its own, its roots behind them */
} AstroFftStep;

typedef struct {
  gboolean is_double;
  guint n;
  guint columns; /* that there are in a vector of columns */
  AstroFftStep steps[2];
  gsize pitch;      /* samples from one transform of the second step to the next */
  gpointer between; /* twiddles between the steps, [n2][n1] */
} AstroFftColumns;

AstroFftColumns *astro_fft_columns_new(guint n, gboolean is_double);
void astro_fft_columns_free(AstroFftColumns *self);

/* Bytes of a room for the samples of a transform, and of one for what a step works in. */
gsize astro_fft_columns_room_bytes(const AstroFftColumns *self);
gsize astro_fft_columns_work_bytes(const AstroFftColumns *self);

/* Columns of a plane: rows lie pitch bytes apart, those that are blank (NULL: none) are zeros
 * without being read. */
typedef struct {
  const guint8 *at; /* the first column's sample of row 0 */
  gsize pitch;
  const guint8 *blank;
  guint columns; /* at most as many as the transforms have */
  guint before;  /* of them, before a row's end: the others are its first ones */
} AstroFftColumnsFrom;

typedef struct {
  AstroVariant variant;
  /* Into a room, row number origin first, columns from the last to the first: pixels of an image
   * are counted against them. Columns that there are not are zeros. */
  void (*gather)(const AstroFftColumns *self, const AstroFftColumnsFrom *from, guint origin,
                 gpointer room);
  /* The first step, in place. */
  void (*begin)(const AstroFftColumns *self, gpointer room, gpointer work);
  /* The second: bins k1, k1 + n1, k1 + 2 n1, ... to made, [n2][re, im][columns]. */
  void (*finish)(const AstroFftColumns *self, guint k1, gconstpointer room, gpointer made,
                 gpointer work);
} AstroFftColumnsKernels;

/* By instruction set and precision. */
extern const AstroFftColumnsKernels astro_fft_columns_c[2], astro_fft_columns_avx2[2],
    astro_fft_columns_avx512[2];

G_END_DECLS
