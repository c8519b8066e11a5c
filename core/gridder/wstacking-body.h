/* The kernel, for values of type REAL in vectors of VECTOR_BYTES; NAME(x) names what is defined.
 *
 * The visibilities of a group add to the same rows and the same few vectors in each: as many rows
 * as registers hold are summed in registers over a handful of visibilities and then added to the
 * grid. Taps in u stand in their places in the row beforehand, zeros around them. */

typedef REAL NAME(Vector) __attribute__((vector_size(VECTOR_BYTES), aligned(VECTOR_BYTES)));

typedef REAL NAME(Unaligned) __attribute__((vector_size(VECTOR_BYTES), aligned(sizeof(REAL))));

typedef typeof((NAME(Vector)){ 0 } < (NAME(Vector)){ 0 }) NAME(Places);

typedef gint64 NAME(Wide) __attribute__((vector_size(VECTOR_BYTES)));

enum {
  NAME(LANES) = VECTOR_BYTES / sizeof(REAL),
  NAME(BLOCK) = 32 / sizeof(REAL), /* cells whose groups are one */
  NAME(MOST_U) = (2 * ASTRO_SEMICIRCLE_MAX + NAME(LANES) - 1) / NAME(LANES),
  NAME(MOST_V) = (ASTRO_SEMICIRCLE_MAX + NAME(LANES) - 1) / NAME(LANES),
  NAME(ROW) = (2 * (ASTRO_SEMICIRCLE_MAX + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES)
};

/* A handful of visibilities, their taps evaluated. */
typedef struct {
  NAME(Vector) u[HANDFUL][NAME(ROW) + NAME(MOST_U)];
  _Alignas(64) REAL v[HANDFUL][2 * ASTRO_SEMICIRCLE_MAX];
  REAL w[HANDFUL][2]; /* complex, the plane's turn in it */
  _Alignas(2 * sizeof(REAL)) REAL values[ASTRO_MAX_PRODUCTS][HANDFUL][2];
} NAME(Handful);

static inline __attribute__((always_inline)) void
NAME(evaluate)(const AstroSpreadPlane *p, guint64 from, guint n, const guint support,
               const guint degree, NAME(Handful) * h)
{
  const guint n_u = (2 * support + NAME(LANES) - 1) / NAME(LANES);
  const guint n_v = (support + NAME(LANES) - 1) / NAME(LANES);
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const REAL *at_u = (const REAL *)p->sorted->u + from, *at_v = (const REAL *)p->sorted->v + from;
  const REAL *at_w = (const REAL *)p->sorted->w + from;
  const guint16 *first_planes = p->sorted->first_planes + from;
  const guint8 *offsets = p->sorted->offsets + from;

  for (guint i = 0; i < n; i++) {
    NAME(Vector) u[NAME(MOST_U)], v[NAME(MOST_V)];
    const NAME(Vector) *taps_u = (const NAME(Vector) *)p->taps->u[degree];
    const NAME(Vector) *taps_v = (const NAME(Vector) *)p->taps->v[degree];
    UNROLLED
    for (guint k = 0; k < n_u; k++)
      u[k] = taps_u[k];
    UNROLLED
    for (guint k = 0; k < n_v; k++)
      v[k] = taps_v[k];
    for (guint term = degree; term-- > 0;) {
      taps_u = (const NAME(Vector) *)p->taps->u[term];
      taps_v = (const NAME(Vector) *)p->taps->v[term];
      UNROLLED
      for (guint k = 0; k < n_u; k++)
        u[k] = u[k] * at_u[i] + taps_u[k];
      UNROLLED
      for (guint k = 0; k < n_v; k++)
        v[k] = v[k] * at_v[i] + taps_v[k];
    }
    UNROLLED
    for (guint k = 0; k < row; k++)
      h->u[i][k] = (NAME(Vector)){ 0 };
    REAL *from_offset = (REAL *)h->u[i] + 2 * offsets[i];
    UNROLLED
    for (guint k = 0; k < n_u; k++)
      *(NAME(Unaligned) *)(from_offset + k * NAME(LANES)) = u[k];
    UNROLLED
    for (guint k = 0; k < n_v; k++)
      ((NAME(Vector) *)h->v[i])[k] = v[k];
  }
  for (guint i = 0; i < n; i++) {
    const double *taps = p->taps->w[p->plane - first_planes[i]];
    double w = taps[degree];
    for (guint term = degree; term-- > 0;)
      w = w * at_w[i] + taps[term];
    h->w[i][0] = (REAL)(w * p->turn[0]);
    h->w[i][1] = (REAL)(w * p->turn[1]);
  }
}

/* Over and over; a vector that is put together of scalars becomes an instruction for each. */
static inline __attribute__((always_inline)) NAME(Vector) NAME(repeat)(const REAL pair[2])
{
  NAME(Places) places;
  if (sizeof(REAL) == sizeof(float)) {
    gint64 both;
    memcpy(&both, pair, sizeof both);
    return (NAME(Vector))((NAME(Wide)){ 0 } + both);
  }
  UNROLLED
  for (guint k = 0; k < NAME(LANES); k++)
    places[k] = k % 2;
  return __builtin_shuffle((NAME(Vector)){ pair[0], pair[1] }, places);
}

/* Rows first to first + ROWS of the footprint, summed in registers. */
static inline __attribute__((always_inline)) void
NAME(sum_rows)(const NAME(Handful) * h, guint product, guint n, guint first, const guint rows,
               const guint row, guint support, guint n_there, REAL *cells, gsize stride)
{
  NAME(Vector) sums[REGISTERS + NAME(ROW)];
  UNROLLED
  for (guint r = 0; r < rows; r++)
    UNROLLED
  for (guint k = 0; k < row; k++)
    sums[r * row + k] = (NAME(Vector)){ 0 };
  for (guint i = 0; i < n; i++) {
    NAME(Vector) values[NAME(ROW)], value = NAME(repeat)(h->values[product][i]);
    UNROLLED
    for (guint k = 0; k < row; k++)
      values[k] = h->u[i][k] * value;
    UNROLLED
    for (guint r = 0; r < rows; r++)
      UNROLLED
    for (guint k = 0; k < row; k++)
      sums[r * row + k] += values[k] * h->v[i][first + r];
  }
  UNROLLED
  for (guint r = 0; r < rows; r++) {
    if (first + r >= support)
      break;
    NAME(Vector) *there = (NAME(Vector) *)(cells + (first + r) * stride);
    UNROLLED
    for (guint k = 0; k < row; k++)
      if (k < n_there)
        there[k] += sums[r * row + k];
  }
}

static inline __attribute__((always_inline)) void
NAME(spread)(const AstroSpreadPlane *p, const AstroSortedGroup *group, const guint support)
{
  const guint degree = astro_semicircle_degree(support), products = p->sorted->products;
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const guint most = (guint)MAX((REGISTERS - 2 - (gint)row) / (gint)row, 1);
  const guint strips = (support + most - 1) / most, rows = (support + strips - 1) / strips;
  const gsize stride = 2 * (gsize)p->size;
  /* The last block's footprints end with the grid's row; beyond are zeros only. */
  const guint n_there = MIN(row, 2 * (p->size - group->block * (guint)NAME(BLOCK)) / NAME(LANES));
  REAL *cells = (REAL *)p->grid + group->row * stride + 2 * group->block * NAME(BLOCK);
  NAME(Handful) h;

  for (guint64 from = group->start + group->lo, end = group->start + group->hi; from < end;
       from += HANDFUL) {
    const guint n = (guint)MIN(end - from, HANDFUL);
    NAME(evaluate)(p, from, n, support, degree, &h);
    const REAL *value = (const REAL *)p->sorted->values + 2 * from * products;
    for (guint i = 0; i < n; i++)
      for (guint product = 0; product < products; product++, value += 2) {
        h.values[product][i][0] = value[0] * h.w[i][0] - value[1] * h.w[i][1];
        h.values[product][i][1] = value[0] * h.w[i][1] + value[1] * h.w[i][0];
      }
    for (guint product = 0; product < products; product++) {
      for (guint strip = 0; strip < strips; strip++)
        NAME(sum_rows)
      (&h, product, n, strip * rows, rows, row, support, n_there,
       cells + product * stride * p->size, stride);
    }
  }
}

#define SPREAD(support)                                                                            \
  static void NAME(spread_##support)(const AstroSpreadPlane *p, const AstroSortedGroup *group)     \
  {                                                                                                \
    NAME(spread)(p, group, support);                                                               \
  }
SPREAD(4)
SPREAD(5)
SPREAD(6)
SPREAD(7)
SPREAD(8)
SPREAD(9)
SPREAD(10)
SPREAD(11)
SPREAD(12)
SPREAD(13)
SPREAD(14)
SPREAD(15)
SPREAD(16)
#undef SPREAD
