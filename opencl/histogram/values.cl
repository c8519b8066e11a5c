/* What points are, and what their pairs are worth: pairs' own weights, by the formulas of
 * core/histogram/pair-weights.h. Behind seeds.cl. FIELDS: points carry something (carried.cl);
 * WEIGHS_PAIRS: pairs have weights. */
#define ANGULAR 0 /* as AstroBinning */
#define SMU 1
#define RPPI 2

#define ON_BOTH /* for CUDA, which shares carried.cl */

#ifdef FIELDS
#define PLANES 7 /* the most */
#else
#define PLANES 1
#endif

typedef struct {
  double x, y, z;
#ifdef WEIGHTED
  double weight;
#endif
#ifdef FIELDS
  double first, second, cos_ra, sin_ra;
#endif
} Point;

#ifdef FIELDS
Point point_of(__global const double *positions, __global const double *fields, uint slot)
{
  __global const double *leaf = fields + (ulong)(slot / LEAF) * 5 * LEAF + slot % LEAF;
  const double3 at = position_of(positions, slot);
  return (Point){ at.x,           at.y,           at.z,          leaf[0],
                  leaf[LEAF],     leaf[2 * LEAF], leaf[3 * LEAF], leaf[4 * LEAF] };
}
#else
Point point_of(__global const double *positions, __global const double *weights, uint slot)
{
  const double3 at = position_of(positions, slot);
#ifdef WEIGHTED
  return (Point){ at.x, at.y, at.z, weights ? weights[slot] : 1 };
#else
  return (Point){ at.x, at.y, at.z };
#endif
}
#endif

/* ---- weights of pairs ---- */

#ifdef WEIGHS_PAIRS
typedef struct {
  __global const ulong *bits_a, *bits_b; /* NULL: all are set */
  uint n_words;                          /* 0: bits are not looked at */
  __global const double *of_bits;        /* of common bits */
  uint n_table;
  __global const double *squares, *weights; /* of the table */
} Weigher;

double by_table(const Weigher *w, double square)
{
  uint low = 0, high = w->n_table - 1;
  if (!(square >= w->squares[0] && square < w->squares[high]))
    return 1;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (w->squares[middle] <= square)
      low = middle;
    else
      high = middle;
  }
  const double part = (square - w->squares[low]) / (w->squares[high] - w->squares[low]);
  return w->weights[low] + part * (w->weights[high] - w->weights[low]);
}

/* The square of the chord between the directions to two points. */
double chord_square(uint kind, const Point *a, const Point *b)
{
  double of_a = 1, of_b = 1;
  if (kind != ANGULAR) {
    of_a = 1 / sqrt((a->x * a->x + a->y * a->y) + a->z * a->z);
    of_b = 1 / sqrt((b->x * b->x + b->y * b->y) + b->z * b->z);
  }
  const double dx = a->x * of_a - b->x * of_b, dy = a->y * of_a - b->y * of_b,
               dz = a->z * of_a - b->z * of_b;
  return (dx * dx + dy * dy) + dz * dz;
}

double pair_weight(const Weigher *w, uint kind, const Point *a, ulong slot_a, const Point *b,
                   ulong slot_b)
{
  double weight = 1;
  ulong n = 0;
  for (uint k = 0; k < w->n_words; k++)
    n += popcount((w->bits_a ? w->bits_a[slot_a * w->n_words + k] : ULONG_MAX) &
                  (w->bits_b ? w->bits_b[slot_b * w->n_words + k] : ULONG_MAX));
  if (w->n_words)
    weight = w->of_bits[n];
  return w->n_table ? weight * by_table(w, chord_square(kind, a, b)) : weight;
}
#endif
