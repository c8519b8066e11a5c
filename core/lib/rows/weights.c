/* Chooses the factor from weights to counts. */
#include "core/lib/rows/weights.h"

#define COUNT_BITS 32
/* A weight of fewer counts is rounded by more than a thousandth. */
#define FEW_COUNTS 512

char *astro_weight_range_scale(const AstroWeightRange *range, double *scale, guint32 *full)
{
  int exponent;
  if (range->whole && range->largest < 0x1p32f) {
    *scale = 1;
    *full = (guint32)MAX(range->largest, 1);
    return NULL;
  }
  frexp(range->largest, &exponent);
  *scale = ldexp(1, COUNT_BITS - exponent);
  *full = (guint32)(range->largest * *scale);
  return range->least * *scale < FEW_COUNTS
             ? g_strdup_printf("weights are between %g and %g, a range too large for counts: they "
                               "are rounded to steps of %g",
                               range->least, range->largest, 1 / *scale)
             : NULL;
}
