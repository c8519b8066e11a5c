/* Converts weights in files to counts of good samples. Weights in our own files are counts already.
 * Others may be any numbers: they are multiplied by a power of two that makes the largest a count
 * of 32 bits, so that digits and ratios are preserved. */
#pragma once

#include <float.h>
#include <glib.h>
#include <math.h>

G_BEGIN_DECLS

/* All weights of a file, of which those that are not above 0, NaN or infinite do not count. */
typedef struct {
  float least, largest;
  gboolean whole;
} AstroWeightRange;
#define ASTRO_WEIGHT_RANGE_EMPTY                                                                   \
  {                                                                                                \
    .least = FLT_MAX, .whole = TRUE                                                                \
  }

#define ASTRO_WEIGHT_WHOLE_FROM 8388608.0f /* from here on single precision has no fractions */

static inline void astro_weight_range_add(AstroWeightRange *range, float weight)
{
  const gboolean good = weight > 0 && weight <= FLT_MAX;
  const float clipped = good && weight < ASTRO_WEIGHT_WHOLE_FROM ? weight : 0;
  range->whole &= !good || (float)(gint32)clipped == clipped;
  range->largest = good && weight > range->largest ? weight : range->largest;
  range->least = good && weight < range->least ? weight : range->least;
}

/* The factor from weights to counts, and the largest count. Returns a warning to be freed if small
 * weights are rounded, else NULL. */
char *astro_weight_range_scale(const AstroWeightRange *range, double *scale, guint32 *full);

static inline guint32 astro_weight_count(double weight, double scale)
{
  if (!isfinite(weight) || !(weight > 0))
    return 0;
  weight = weight * scale + 0.5;
  return weight < 2 ? 1 : weight < G_MAXUINT32 ? (guint32)weight : G_MAXUINT32;
}

G_END_DECLS
