/* The inner loops of fold.
 *
 * Bins of a phase p and a channel's lag l are found without a multiplication a sample. Let bins p =
 * 2^32 P + r and bins l = 2^32 L + s: then the bin is P - L where r >= s, else the one before it.
 * P and r are those of a row of samples, L and s those of a lane, which is a channel. So kernels
 * add the lanes of a row to two rows of sums, P and P - 1, each lane to one of the two, and lanes
 * are turned by L at the end. */
#pragma once

#include "core/backend/cpu.h"

/* Both r and s have their highest bit turned, so that they compare as signed integers. Rows are
 * those of one P; n, the number of lanes, is a multiple of the kernels'. */
typedef struct {
  AstroVariant variant;
  guint lanes;
  /* Rows are `stride` floats apart. */
  void (*add)(const float *in, gsize stride, const gint32 *rests, guint rows, guint n,
              const gint32 *splits, double *high, double *low);
  /* The same, and counts the rows of each lane. */
  void (*add_and_count)(const float *in, gsize stride, const gint32 *rests, guint rows, guint n,
                        const gint32 *splits, double *high, double *low, gint32 *high_count,
                        gint32 *low_count);
  /* Counts alone. good: a row of lanes for each row, all bits set where a sample is good. */
  void (*count)(const gint32 *good, gsize stride, const gint32 *rests, guint rows, guint n,
                const gint32 *splits, gint32 *high, gint32 *low);
} AstroFoldKernels;

extern const AstroFoldKernels astro_fold_kernels_c, astro_fold_kernels_avx2,
    astro_fold_kernels_avx512;
