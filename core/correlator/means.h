/* Sums to means, sums left at zero. Plain C, included by a file for each instruction set.
 * A mean is its sum times 1 / count, the same on every machine. */
#include "core/correlator/kernels.h"

#define MEANS(name, SUM)                                                                           \
  void astro_correlator_means_##name(float *restrict out, gpointer sums, guint64 n, double factor) \
  {                                                                                                \
    SUM *restrict sum = sums;                                                                      \
    for (guint64 i = 0; i < n; i++) {                                                              \
      out[i] = (float)((double)sum[i] * factor);                                                   \
      sum[i] = 0;                                                                                  \
    }                                                                                              \
  }
