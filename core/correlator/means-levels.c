/* Converts sums to means, and clears the sums. A mean is its sum times 1 / count, the same on every
 * machine. */
#include "config.h"
#include "core/correlator/kernels.h"

#include "core/backend/level.h"

#define MEANS(name, SUM)                                                                           \
  void LEVEL_NAMED(astro_correlator_means_##name)(float *restrict out, gpointer sums, guint64 n,   \
                                                  double factor)                                   \
  {                                                                                                \
    SUM *restrict sum = sums;                                                                      \
    for (guint64 i = 0; i < n; i++) {                                                              \
      out[i] = (float)((double)sum[i] * factor);                                                   \
      sum[i] = 0;                                                                                  \
    }                                                                                              \
  }

MEANS(integer, gint64)
MEANS(real, double)
