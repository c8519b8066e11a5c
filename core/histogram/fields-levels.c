/* Products of what points carry, over the pairs of two leaves, a vector of pairs at a time. */
#include "config.h"
#include "core/histogram/kernels.h"

#include "core/backend/level.h"
#include "core/histogram/vector-sums.h"
#include "core/kit/units.h"

/* ---- angles ---- */

/* asin(x) for 0 <= x <= 1/2 is x + x R(x x), with FreeBSD's coefficients (msun, e_asin.c), to the
 * last digit or nearly so. Beyond, asin(x) is pi/2 - 2 asin(sqrt((1 - x) / 2)). */
INLINE Doubles ratio(Doubles t)
{
  static const double above[] = { 3.47933107596021167570e-05,  7.91534994289814532176e-04,
                                  -4.00555345006794114027e-02, 2.01212532134862925881e-01,
                                  -3.25565818622400915405e-01, 1.66666666666666657415e-01 },
                      below[] = { 7.70381505559019352791e-02, -6.88283971605453293030e-01,
                                  2.02094576023350569471e+00, -2.40339491173441421878e+00, 1 };
  Doubles p = doubles_all(above[0]), q = doubles_all(below[0]);
  UNROLL for (guint k = 1; k < G_N_ELEMENTS(above); k++) p = p * t + doubles_all(above[k]);
  UNROLL for (guint k = 1; k < G_N_ELEMENTS(below); k++) q = q * t + doubles_all(below[k]);
  return p * t / q;
}

/* The angle in arcminutes whose chord has that square. */
INLINE Doubles angle_of(Doubles square)
{
  const Doubles half = doubles_all(0.5), one = doubles_all(1), none = doubles_all(0);
  const Doubles quarter = square * doubles_all(0.25), x = doubles_root(quarter);
  const DoublesMask is_large = doubles_below(doubles_all(0.25), quarter);
  Doubles t = quarter, y = x;
  if (doubles_lanes(is_large)) {
    const Doubles rest = (one - x) * half,
                  far = doubles_pick(doubles_below(none, rest), rest, none);
    t = doubles_pick(is_large, far, quarter);
    y = doubles_pick(is_large, doubles_root(far), x);
  }
  const Doubles near = y + y * ratio(t);
  const Doubles asin = doubles_pick(is_large, doubles_all(G_PI_2) - (near + near), near);
  return asin * doubles_all(2 * 60 * ASTRO_DEGREES);
}

/* ---- points ---- */

typedef struct {
  Doubles x, y, z;
} Places;

typedef struct {
  Doubles weight, first, second, cos_ra, sin_ra;
} Carried;

INLINE Carried load(const FieldLeaf *leaf, guint j)
{
  return (Carried){ doubles_load(leaf->weight + j), doubles_load(leaf->first + j),
                    doubles_load(leaf->second + j), doubles_load(leaf->cos_ra + j),
                    doubles_load(leaf->sin_ra + j) };
}

INLINE Carried spread(const FieldLeaf *leaf, guint i)
{
  return (Carried){ doubles_all(leaf->weight[i]), doubles_all(leaf->first[i]),
                    doubles_all(leaf->second[i]), doubles_all(leaf->cos_ra[i]),
                    doubles_all(leaf->sin_ra[i]) };
}

typedef struct {
  Doubles tangential, cross;
} Shear;

/* The shear at a place, along the direction d and across it. */
INLINE Shear turn(const Carried *c, Places at, Places d)
{
  const Doubles one = doubles_all(1), none = doubles_all(0);
  const Doubles cos_dec = at.x * c->cos_ra + at.y * c->sin_ra;
  const Doubles out = d.x * c->cos_ra + d.y * c->sin_ra;
  const Doubles n = cos_dec * d.z - at.z * out, e = d.y * c->cos_ra - d.x * c->sin_ra;
  const Doubles nn = n * n, ee = e * e, ne = n * e, both = nn + ee;
  const Doubles over = doubles_pick(doubles_below(none, both), one / both, none);
  const Doubles cosine = (nn - ee) * over, sine = (ne + ne) * over;
  return (Shear){ c->first * cosine + c->second * sine, c->second * cosine - c->first * sine };
}

INLINE Doubles size_of(const Carried *c)
{
  return c->first * c->first + c->second * c->second;
}

/* ---- pairs ---- */

/* Planes behind that of r; fields is known where this is inlined. */
INLINE void products(const AstroPairFields fields, const Carried *a, Places at_a, const Carried *b,
                     Places at_b, Doubles *planes)
{
  const Doubles half = doubles_all(0.5);
  const Places d = { at_b.x - at_a.x, at_b.y - at_a.y, at_b.z - at_a.z };
  if (fields == ASTRO_PAIR_FIELDS_KK || fields == ASTRO_PAIR_FIELDS_NK) {
    const Doubles product = (fields == ASTRO_PAIR_FIELDS_KK ? a->first : a->weight) * b->first;
    planes[0] = product;
    planes[1] = product * product;
    return;
  }
  const Shear of_b = turn(b, at_b, d);
  if (fields == ASTRO_PAIR_FIELDS_NG) {
    planes[0] = a->weight * of_b.tangential;
    planes[1] = a->weight * of_b.cross;
    planes[2] = a->weight * a->weight * size_of(b) * half;
    return;
  }
  const Shear of_a = turn(a, at_a, d);
  const Doubles tt = of_a.tangential * of_b.tangential, xx = of_a.cross * of_b.cross,
                xt = of_a.cross * of_b.tangential, tx = of_a.tangential * of_b.cross;
  planes[0] = tt + xx;
  planes[1] = tt - xx;
  planes[2] = xt - tx;
  planes[3] = xt + tx;
  planes[4] = size_of(a) * size_of(b) * half;
}

INLINE void add_pairs(const AstroPairFields fields, const guint n_planes, const FieldLeaves *leaves,
                      double low, double high, guint64 *n_pairs,
                      double sums[ASTRO_PAIR_MOST_PLANES])
{
  const Doubles from = doubles_all(low), to = doubles_all(high);
  Doubles all[ASTRO_PAIR_MOST_PLANES] = { 0 };
  Longs pairs = { 0 };
  for (guint i = leaves->from; i < leaves->to; i++) {
    const Places at_a = { doubles_all(leaves->at_a->x[i]), doubles_all(leaves->at_a->y[i]),
                          doubles_all(leaves->at_a->z[i]) };
    const Carried a = spread(leaves->a, i);
    for (guint j = 0; j < LEAF_POINTS; j += LEVEL_DOUBLES) {
      const Places at_b = { doubles_load(leaves->at_b->x + j), doubles_load(leaves->at_b->y + j),
                            doubles_load(leaves->at_b->z + j) };
      const Doubles dx = at_a.x - at_b.x, dy = at_a.y - at_b.y, dz = at_a.z - at_b.z;
      const Doubles square = (dx * dx + dy * dy) + dz * dz;
      const DoublesMask is_in = doubles_at_least(square, from) & doubles_below(square, to);
      if (!doubles_lanes(is_in))
        continue;
      const Carried b = load(leaves->b, j);
      Doubles planes[ASTRO_PAIR_MOST_PLANES];
      planes[ASTRO_PAIR_PLANE_WEIGHT] = a.weight * b.weight;
      planes[ASTRO_PAIR_PLANE_R] = planes[ASTRO_PAIR_PLANE_WEIGHT] * angle_of(square);
      products(fields, &a, at_a, &b, at_b, planes + ASTRO_PAIR_PLANE_FIRST);
      pairs = count(pairs, is_in);
      UNROLL for (guint p = 0; p < n_planes; p++) all[p] = add_where(all[p], is_in, planes[p]);
    }
  }
  *n_pairs += sum_longs(pairs);
  UNROLL for (guint p = 0; p < n_planes; p++) sums[p] += sum_doubles(all[p]);
}

void LEVEL_NAMED(astro_histogram_fields)(AstroPairFields fields, const FieldLeaves *leaves,
                                         double low, double high, guint64 *n_pairs,
                                         double sums[ASTRO_PAIR_MOST_PLANES])
{
  if (fields == ASTRO_PAIR_FIELDS_GG)
    add_pairs(ASTRO_PAIR_FIELDS_GG, 7, leaves, low, high, n_pairs, sums);
  else if (fields == ASTRO_PAIR_FIELDS_NG)
    add_pairs(ASTRO_PAIR_FIELDS_NG, 5, leaves, low, high, n_pairs, sums);
  else if (fields == ASTRO_PAIR_FIELDS_NK)
    add_pairs(ASTRO_PAIR_FIELDS_NK, 4, leaves, low, high, n_pairs, sums);
  else
    add_pairs(ASTRO_PAIR_FIELDS_KK, 4, leaves, low, high, n_pairs, sums);
}
