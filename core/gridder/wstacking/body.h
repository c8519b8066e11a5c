/* The kernel, for values of type REAL in vectors of LEVEL_BYTES; NAME(x) names what is defined.
 *
 * The visibilities of a group add to the same rows and the same few vectors in each: as many rows
 * as registers hold are summed in registers over a handful of visibilities and then added to the
 * grid. Taps in u stand in their places in the row beforehand, zeros around them. */

typedef REAL NAME(Vector) __attribute__((vector_size(LEVEL_BYTES), aligned(LEVEL_BYTES)));

typedef REAL NAME(Unaligned)
    __attribute__((vector_size(LEVEL_BYTES), aligned(sizeof(REAL)), may_alias));

typedef typeof((NAME(Vector)){ 0 } < (NAME(Vector)){ 0 }) NAME(Places);

typedef gint64 NAME(Wide) __attribute__((vector_size(LEVEL_BYTES)));

enum {
  NAME(LANES) = LEVEL_BYTES / sizeof(REAL),
  NAME(BLOCK) = 32 / sizeof(REAL), /* cells whose groups are one */
  NAME(ROW) = (2 * (ASTRO_SEMICIRCLE_MAX + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES),
  /* Taps are evaluated in vectors no longer than half of the widest footprint. */
  NAME(TAPS) = MIN((guint)NAME(LANES), ASTRO_SEMICIRCLE_HALF),
  NAME(PARTS) = ASTRO_SEMICIRCLE_HALF / NAME(TAPS),
  NAME(LINE) = NAME(BLOCK) + NAME(ROW) * NAME(LANES) /* taps and zeros on both sides */
};

typedef REAL NAME(Taps) __attribute__((vector_size(NAME(TAPS) * sizeof(REAL))));

typedef REAL NAME(SomeTaps)
    __attribute__((vector_size(NAME(TAPS) * sizeof(REAL)), aligned(sizeof(REAL)), may_alias));

typedef typeof((NAME(Taps)){ 0 } < (NAME(Taps)){ 0 }) NAME(TapPlaces);

/* A handful of visibilities, their taps evaluated. */
typedef struct {
  NAME(Vector) u[HANDFUL][NAME(ROW)];          /* at their places in the row */
  _Alignas(64) REAL line[HANDFUL][NAME(LINE)]; /* in u, from BLOCK on; all else is 0 */
  _Alignas(64) REAL v[HANDFUL][2 * ASTRO_SEMICIRCLE_MAX];
  NAME(Places) taps[HANDFUL / NAME(LANES)]; /* in w, by their numbers */
  _Alignas(64) REAL w[HANDFUL];
  _Alignas(2 * sizeof(REAL)) REAL values[ASTRO_MAX_PRODUCTS][HANDFUL][2];
} NAME(Handful);

G_STATIC_ASSERT(sizeof(NAME(Handful)) <= ASTRO_SPREAD_ROOM);

/* Both ends of an axis: the last taps at x are the first ones at -x, in opposite order. */
static inline __attribute__((always_inline)) void NAME(store_taps)(REAL *to, const guint support,
                                                                   const NAME(Taps) * even,
                                                                   const NAME(Taps) * odd,
                                                                   NAME(Taps) x)
{
  const guint parts = ((support + 1) / 2 + NAME(TAPS) - 1) / NAME(TAPS);
  NAME(TapPlaces) backward;
  UNROLLED
  for (guint k = 0; k < NAME(TAPS); k++)
    backward[k] = NAME(TAPS) - 1 - k;
  UNROLLED
  for (guint k = 0; k < parts; k++) {
    *(NAME(SomeTaps) *)(to + k * NAME(TAPS)) = even[k] + x * odd[k];
    if (parts * NAME(TAPS) < support)
      *(NAME(SomeTaps) *)(to + support - (k + 1) * NAME(TAPS)) =
          ASTRO_SHUFFLE(even[k] - x * odd[k], backward);
  }
}

/* A polynomial is the sum of its even and its odd powers, both polynomials in x^2. */
static inline __attribute__((always_inline)) void
NAME(evaluate_taps)(const AstroSpreadTaps *taps, const guint support, const guint degree,
                    const REAL *at_x, const REAL *at_y, REAL *to_x, REAL *to_y)
{
  const NAME(Taps) x = *at_x - (NAME(Taps)){ 0 }, y = *at_y - (NAME(Taps)){ 0 };
  const NAME(Taps) x2 = x * x, y2 = y * y;
  const guint parts = ((support + 1) / 2 + NAME(TAPS) - 1) / NAME(TAPS);
  const NAME(Taps) *terms = (const NAME(Taps) *)taps->terms;
  NAME(Taps) at[2][2][NAME(PARTS)]; /* of x, y; even, odd */
  UNROLLED
  for (guint k = 0; k < parts; k++)
    UNROLLED
  for (guint i = 0; i < 2; i++)
    at[0][(degree - i) % 2][k] = at[1][(degree - i) % 2][k] = terms[(degree - i) * NAME(PARTS) + k];
  UNROLLED
  for (guint term = degree - 1; term-- > 0;)
    UNROLLED
  for (guint k = 0; k < parts; k++) {
    at[0][term % 2][k] = at[0][term % 2][k] * x2 + terms[term * NAME(PARTS) + k];
    at[1][term % 2][k] = at[1][term % 2][k] * y2 + terms[term * NAME(PARTS) + k];
  }
  NAME(store_taps)(to_x, support, at[0][0], at[0][1], x);
  NAME(store_taps)(to_y, support, at[1][0], at[1][1], y);
}

/* Each visibility has a different tap in w. Where one instruction looks up as many values in a
 * table as a vector has lanes, a whole vector of them is evaluated at once. */
static inline __attribute__((always_inline)) void NAME(evaluate_w)(const AstroSpreadPlane *p,
                                                                   guint64 from, guint n,
                                                                   const guint degree,
                                                                   NAME(Handful) * h)
{
  const REAL *at = (const REAL *)p->sorted->w + from, *terms = (const REAL *)p->taps->w;
  const guint16 *first_planes = p->sorted->first_planes + from;
#if LEVEL_BYTES == 64
  enum { TABLES = ASTRO_SEMICIRCLE_MAX / NAME(LANES) };
  const NAME(Vector) *tables = (const NAME(Vector) *)terms;
  const guint full = p->sorted->n - from < HANDFUL
                         ? n
                         : HANDFUL; /* a constant number, where possible, for whole vectors */
  for (guint i = 0; i < full; i++) {
    ((typeof(h->taps[0][0]) *)h->taps)[i] = p->plane - first_planes[i];
    h->w[i] = at[i];
  }
  for (guint k = 0; k * NAME(LANES) < n; k++) {
    const NAME(Vector) x = ((NAME(Vector) *)h->w)[k];
    const NAME(Places) tap = h->taps[k];
    NAME(Vector)
    w = ASTRO_SHUFFLE_TWO(tables[degree * TABLES], tables[degree * TABLES + TABLES - 1], tap);
    UNROLLED
    for (guint term = degree; term-- > 0;)
      w = w * x + ASTRO_SHUFFLE_TWO(tables[term * TABLES], tables[term * TABLES + TABLES - 1], tap);
    ((NAME(Vector) *)h->w)[k] = w;
  }
#else
  for (guint i = 0; i < n; i++) {
    const REAL *taps = terms + (p->plane - first_planes[i]);
    REAL w = taps[degree * ASTRO_SEMICIRCLE_MAX];
    for (guint term = degree; term-- > 0;)
      w = w * at[i] + taps[term * ASTRO_SEMICIRCLE_MAX];
    h->w[i] = w;
  }
#endif
}

/* Multiplies values by their taps in w and by the plane's phase factor. */
static inline __attribute__((always_inline)) void NAME(weigh)(const AstroSpreadPlane *p,
                                                              guint64 from, guint n,
                                                              const guint products,
                                                              NAME(Handful) * h)
{
  const REAL *value = (const REAL *)p->sorted->values + 2 * from * products;
  const REAL factor[2] = { (REAL)p->phase_factor[0], (REAL)p->phase_factor[1] };
  for (guint i = 0; i < n; i++) {
    const REAL re = h->w[i] * factor[0], im = h->w[i] * factor[1];
    for (guint product = 0; product < products; product++, value += 2) {
      h->values[product][i][0] = value[0] * re - value[1] * im;
      h->values[product][i][1] = value[0] * im + value[1] * re;
    }
  }
}

static inline __attribute__((always_inline)) void NAME(evaluate)(const AstroSpreadPlane *p,
                                                                 guint64 from, guint n,
                                                                 const guint support,
                                                                 NAME(Handful) * h)
{
  const guint degree = astro_semicircle_degree(support);
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const REAL *at_u = (const REAL *)p->sorted->u + from, *at_v = (const REAL *)p->sorted->v + from;
  const guint8 *offsets = p->sorted->offsets + from;
  NAME(Places) twice;

  for (guint i = 0; i < n; i++)
    NAME(evaluate_taps)
  (p->taps, support, degree, at_u + i, at_v + i, h->line[i] + NAME(BLOCK), h->v[i]);
  NAME(evaluate_w)(p, from, n, degree, h);
  UNROLLED
  for (guint k = 0; k < NAME(LANES); k++)
    twice[k] = k / 2;
  for (guint i = 0; i < n; i++) {
    const REAL *line = h->line[i] + NAME(BLOCK) - offsets[i];
    UNROLLED
    for (guint k = 0; k < row; k++)
      h->u[i][k] = ASTRO_SHUFFLE(
          (NAME(Vector))(*(const NAME(Unaligned) *)(line + k * NAME(LANES) / 2)), twice);
  }
}

/* Repeats a complex number through a vector. A vector put together from scalars would become an
 * instruction for each of them. */
static inline __attribute__((always_inline)) NAME(Vector) NAME(repeat)(const REAL pair[2])
{
#if LEVEL_BYTES == 64
  if (sizeof(REAL) == sizeof(double))
    return (NAME(Vector))_mm512_broadcast_f64x2(_mm_load_pd((const double *)pair));
#endif
  NAME(Places) places;
  if (sizeof(REAL) == sizeof(float)) {
    gint64 both;
    memcpy(&both, pair, sizeof both);
    return (NAME(Vector))((NAME(Wide)){ 0 } + both);
  }
  UNROLLED
  for (guint k = 0; k < NAME(LANES); k++)
    places[k] = k % 2;
  return ASTRO_SHUFFLE(((NAME(Vector)){ pair[0], pair[1] }), places);
}

/* Adds rows first to first + rows of the footprint, summed in registers. */
static inline __attribute__((always_inline)) void
NAME(sum_rows)(const NAME(Handful) * h, guint product, guint n, const guint first, const guint rows,
               const guint row, guint n_there, REAL *cells, gsize stride)
{
  NAME(Vector) sums[LEVEL_REGISTERS + NAME(ROW)];
  UNROLLED
  for (guint k = 0; k < rows * row; k++)
    sums[k] = (NAME(Vector)){ 0 };
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
    NAME(Vector) *there = (NAME(Vector) *)(cells + (first + r) * stride);
    UNROLLED
    for (guint k = 0; k < row; k++)
      if (k < n_there)
        there[k] += sums[r * row + k];
  }
}

/* Adds all rows, as many at once as registers hold. */
static inline __attribute__((always_inline)) void NAME(sum)(const NAME(Handful) * h, guint product,
                                                            guint n, const guint support,
                                                            guint n_there, REAL *cells,
                                                            gsize stride)
{
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const guint most = (guint)MAX((LEVEL_REGISTERS - 2 - (gint)row) / (gint)row, 1);
  const guint strips = (support + most - 1) / most, rows = (support + strips - 1) / strips;
  UNROLLED
  for (guint first = 0; first < support; first += rows)
    NAME(sum_rows)
  (h, product, n, first, MIN(rows, support - first), row, n_there, cells, stride);
}

/* For a handful of visibilities from that one on. Each part is a function of its own, so that it
 * has all registers. */
typedef void (*NAME(Evaluate))(const AstroSpreadPlane *p, guint64 from, guint n, NAME(Handful) * h);
typedef void (*NAME(Sum))(const NAME(Handful) * h, guint product, guint n, guint n_there,
                          REAL *cells, gsize stride);

static inline __attribute__((always_inline)) void
NAME(spread)(const AstroSpreadPlane *p, const AstroSortedGroup *group, gpointer room,
             const guint support, NAME(Evaluate) evaluate, NAME(Sum) sum)
{
  const guint products = p->sorted->products;
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const gsize stride = 2 * (gsize)p->size;
  /* The last footprints end with the grid's row; the vectors beyond it hold zeros only. */
  const guint n_there = MIN(row, 2 * (p->size - group->block * (guint)NAME(BLOCK)) / NAME(LANES));
  REAL *cells = (REAL *)p->grid + group->row * stride + 2 * group->block * NAME(BLOCK);

  for (guint64 from = group->start + group->lo, end = group->start + group->hi; from < end;
       from += HANDFUL) {
    const guint n = (guint)MIN(end - from, HANDFUL);
    evaluate(p, from, n, room);
    if (products == 1)
      NAME(weigh)(p, from, n, 1, room);
    else
      NAME(weigh)(p, from, n, products, room);
    for (guint product = 0; product < products; product++)
      sum(room, product, n, n_there, cells + product * stride * p->size, stride);
  }
}

#define SPREAD(support)                                                                            \
  static __attribute__((noinline)) void NAME(evaluate_##support)(                                  \
      const AstroSpreadPlane *p, guint64 from, guint n, NAME(Handful) * h)                         \
  {                                                                                                \
    NAME(evaluate)(p, from, n, support, h);                                                        \
  }                                                                                                \
  static __attribute__((noinline)) void NAME(sum_##support)(                                       \
      const NAME(Handful) * h, guint product, guint n, guint n_there, REAL * cells, gsize stride)  \
  {                                                                                                \
    NAME(sum)(h, product, n, support, n_there, cells, stride);                                     \
  }                                                                                                \
  static void NAME(spread_##support)(const AstroSpreadPlane *p, const AstroSortedGroup *group,     \
                                     gpointer room)                                                \
  {                                                                                                \
    NAME(spread)(p, group, room, support, NAME(evaluate_##support), NAME(sum_##support));          \
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
