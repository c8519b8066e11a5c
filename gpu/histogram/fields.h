/* Sums of what the two points of a pair carry, by the formulas of core/histogram/fields.h. */
#pragma once

#include "core/kit/units.h"
#include "gpu/histogram/near.h"

struct HistogramPoint {
  double at[3];
  double weight;
  double first, second, cos_ra, sin_ra; /* as in a FieldLeaf */
};

struct HistogramShear {
  double tangential, cross;
};

/* The shear at a point along the direction to another one, and across it. Opposite points have the
 * direction that rounding gives them, here as in the reference. */
__device__ inline HistogramShear turn(const HistogramPoint &p, const HistogramPoint &q)
{
  const double dx = q.at[0] - p.at[0], dy = q.at[1] - p.at[1], dz = q.at[2] - p.at[2];
  const double cos_dec = p.at[0] * p.cos_ra + p.at[1] * p.sin_ra;
  const double n = cos_dec * dz - p.at[2] * (dx * p.cos_ra + dy * p.sin_ra),
               e = dy * p.cos_ra - dx * p.sin_ra;
  const double both = n * n + e * e, over = both > 0 ? 1 / both : 0;
  const double cosine = (n * n - e * e) * over, sine = 2 * (n * e) * over;
  return { p.first * cosine + p.second * sine, p.second * cosine - p.first * sine };
}

__device__ inline double size_of(const HistogramPoint &p)
{
  return p.first * p.first + p.second * p.second;
}

/* square: of the pair's chord. */
template <HistogramAdds ADDS>
__device__ inline void add_fields(const HistogramPoint &a, const HistogramPoint &b, double square,
                                  double *sum)
{
  const double weight = a.weight * b.weight;
  sum[ASTRO_PAIR_PLANE_WEIGHT] += weight;
  sum[ASTRO_PAIR_PLANE_R] +=
      weight * (2 * asin(fmin(sqrt(square) / 2, 1.0)) * (60 * ASTRO_DEGREES));
  sum += ASTRO_PAIR_PLANE_FIRST;
  if constexpr (ADDS == ADDS_KK || ADDS == ADDS_NK) {
    const double product = (ADDS == ADDS_KK ? a.first : a.weight) * b.first;
    sum[0] += product;
    sum[1] += product * product;
  } else {
    const HistogramShear of_b = turn(b, a);
    if constexpr (ADDS == ADDS_NG) {
      sum[0] += a.weight * of_b.tangential;
      sum[1] += a.weight * of_b.cross;
      sum[2] += a.weight * a.weight * size_of(b) / 2;
    } else {
      const HistogramShear of_a = turn(a, b);
      const double tt = of_a.tangential * of_b.tangential, xx = of_a.cross * of_b.cross,
                   xt = of_a.cross * of_b.tangential, tx = of_a.tangential * of_b.cross;
      sum[0] += tt + xx;
      sum[1] += tt - xx;
      sum[2] += xt - tx;
      sum[3] += xt + tx;
      sum[4] += size_of(a) * size_of(b) / 2;
    }
  }
}
