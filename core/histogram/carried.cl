/* Sums of what the two points of a pair carry, by the formulas of fields.h: one text for OpenCL and
 * CUDA, behind that of a Point { x, y, z, weight, first, second, cos_ra, sin_ra }, and of ON_BOTH. */
#define KK 1 /* as AstroPairFields */
#define NK 2
#define NG 3
#define GG 4

#define ARCMINUTES (60 * 180 / M_PI) /* in a radian */

typedef struct {
  double tangential, cross;
} Shear;

/* The shear at a point along the direction to another one, and across it. Opposite points have the
 * direction that rounding gives them, the same as in the reference. */
ON_BOTH static inline Shear turn(const Point *p, const Point *q)
{
  const double dx = q->x - p->x, dy = q->y - p->y, dz = q->z - p->z;
  const double cos_dec = p->x * p->cos_ra + p->y * p->sin_ra;
  const double n = cos_dec * dz - p->z * (dx * p->cos_ra + dy * p->sin_ra),
               e = dy * p->cos_ra - dx * p->sin_ra;
  const double both = n * n + e * e, over = both > 0 ? 1 / both : 0;
  const double cosine = (n * n - e * e) * over, sine = 2 * (n * e) * over;
  const Shear turned = { p->first * cosine + p->second * sine,
                         p->second * cosine - p->first * sine };
  return turned;
}

ON_BOTH static inline double size_of(const Point *p)
{
  return p->first * p->first + p->second * p->second;
}

/* square: of the pair's chord. */
ON_BOTH static inline void add_planes(unsigned fields, const Point *a, const Point *b,
                                      double square, double *sum)
{
  const double weight = a->weight * b->weight;
  sum[0] += weight;
  sum[1] += weight * (2 * asin(fmin(sqrt(square) / 2, 1.0)) * ARCMINUTES);
  if (fields == KK || fields == NK) {
    const double product = (fields == KK ? a->first : a->weight) * b->first;
    sum[2] += product;
    sum[3] += product * product;
    return;
  }
  const Shear of_b = turn(b, a);
  if (fields == NG) {
    sum[2] += a->weight * of_b.tangential;
    sum[3] += a->weight * of_b.cross;
    sum[4] += a->weight * a->weight * size_of(b) / 2;
    return;
  }
  const Shear of_a = turn(a, b);
  const double tt = of_a.tangential * of_b.tangential, xx = of_a.cross * of_b.cross,
               xt = of_a.cross * of_b.tangential, tx = of_a.tangential * of_b.cross;
  sum[2] += tt + xx;
  sum[3] += tt - xx;
  sum[4] += xt - tx;
  sum[5] += xt + tx;
  sum[6] += size_of(a) * size_of(b) / 2;
}
