/* Forward transforms of a few columns of a plane at once: as many as fit, as real parts, into a
 * cache line. Real and imaginary parts of all columns are contiguous, so that every operation is
 * one on whole vectors and nothing is transposed.
 *
 * A transform of n = n1 x n2 samples is n2 transforms of n1 samples, then n1 of n2, each so short
 * that it stays in the L1 cache; the values between the two steps should stay in the second-level
 * cache. */
#pragma once

#include "core/backend/cpu.h"

G_BEGIN_DECLS

#define ASTRO_FFT_COLUMNS_BYTES 64 /* of the real parts of one sample of all columns */

/* Transforms of m samples, as passes of one radix each. */
typedef struct {
  guint m, n_passes;
  guint radices[32];
  gpointer twiddles[32]; /* of each pass: complex, [remaining factor of m][radix - 1]; for a radix
                            without a kernel of its own, its roots follow them */
} AstroFftStep;

typedef struct {
  gboolean is_double;
  guint n;
  guint columns; /* columns in a vector */
  AstroFftStep steps[2];
  gsize pitch;      /* samples from one transform of the second step to the next */
  gpointer between; /* twiddles between the steps, [n2][n1] */
} AstroFftColumns;

AstroFftColumns *astro_fft_columns_new(guint n, gboolean is_double);
void astro_fft_columns_free(AstroFftColumns *self);

/* Bytes of `room`, for the samples of a transform, and of `work`, scratch memory of a step. */
gsize astro_fft_columns_room_bytes(const AstroFftColumns *self);
gsize astro_fft_columns_work_bytes(const AstroFftColumns *self);

/* Columns of a plane: rows are pitch bytes apart; blank rows (NULL: none) are zeros and are not
 * read. */
typedef struct {
  const guint8 *at; /* the first column's sample of row 0 */
  gsize pitch;
  const guint8 *blank;
  guint columns; /* at most as many as the transforms have */
  guint before;  /* those before the end of a row: the others are its first columns */
} AstroFftColumnsFrom;

typedef struct {
  AstroVariant variant;
  /* Copies columns into room, row number origin first, and the columns from last to first, since
   * pixels of an image count against them. Missing columns are zeros. */
  void (*gather)(const AstroFftColumns *self, const AstroFftColumnsFrom *from, guint origin,
                 gpointer room);
  /* The first step, in place. */
  void (*begin)(const AstroFftColumns *self, gpointer room, gpointer work);
  /* The second: bins k1, k1 + n1, k1 + 2 n1, ... are written to made, [n2][re, im][columns]. */
  void (*finish)(const AstroFftColumns *self, guint k1, gconstpointer room, gpointer made,
                 gpointer work);
} AstroFftColumnsKernels;

/* By instruction set and precision. */
extern const AstroFftColumnsKernels astro_fft_columns_c[2], astro_fft_columns_avx2[2],
    astro_fft_columns_avx512[2];

G_END_DECLS
