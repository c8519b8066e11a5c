/* The kernel that collects visibilities from a plane, the adjoint of spreading them (body.h, which
 * has been included for the same REAL and NAME): each row of a footprint is loaded once for a few
 * visibilities, times their taps in v; taps in u are multiplied by at the end. */

/* The sum of a vector's complex numbers. */
static inline __attribute__((always_inline)) void NAME(add_lanes)(NAME(Vector) all, REAL sum[2])
{
  NAME(Places) places;
  UNROLLED
  for (guint apart = NAME(LANES) / 2; apart > 1; apart /= 2) {
    UNROLLED
    for (guint k = 0; k < NAME(LANES); k++)
      places[k] = k ^ apart;
    all += ASTRO_SHUFFLE(all, places);
  }
  sum[0] = all[0];
  sum[1] = all[1];
}

/* For visibilities i to i + n - 1 of a handful. */
static inline __attribute__((always_inline)) void
NAME(collect_some)(NAME(Handful) * h, guint product, guint i, const guint n, const guint support,
                   guint n_there, const REAL *cells, gsize stride)
{
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  NAME(Vector) sums[4 * NAME(ROW)], there[NAME(ROW)];
  UNROLLED
  for (guint k = 0; k < n * row; k++)
    sums[k] = (NAME(Vector)){ 0 };
  for (guint r = 0; r < support; r++, cells += stride) {
    UNROLLED
    for (guint k = 0; k < row; k++)
      there[k] = k < n_there ? ((const NAME(Vector) *)cells)[k] : (NAME(Vector)){ 0 };
    UNROLLED
    for (guint j = 0; j < n; j++)
      UNROLLED
    for (guint k = 0; k < row; k++)
      sums[j * row + k] += there[k] * h->v[i + j][r];
  }
  UNROLLED
  for (guint j = 0; j < n; j++) {
    NAME(Vector) all = sums[j * row] * h->u[i + j][0];
    UNROLLED
    for (guint k = 1; k < row; k++)
      all += sums[j * row + k] * h->u[i + j][k];
    NAME(add_lanes)(all, h->values[product][i + j]);
  }
}

/* As many visibilities at once as registers have room for. */
static inline __attribute__((always_inline)) void
NAME(collect_handful)(NAME(Handful) * h, guint product, guint n, const guint support, guint n_there,
                      const REAL *cells, gsize stride)
{
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const guint most = (LEVEL_REGISTERS - 2 - MIN(row, LEVEL_REGISTERS - 2)) / row;
  const guint at_once = most >= 4 ? 4 : most >= 2 ? 2 : 1;
  guint i = 0;
  for (; i + at_once <= n; i += at_once)
    NAME(collect_some)(h, product, i, at_once, support, n_there, cells, stride);
  for (; at_once > 1 && i < n; i++)
    NAME(collect_some)(h, product, i, 1, support, n_there, cells, stride);
}

/* Adds what was collected to the values: times the taps in w and the conjugate of the plane's phase
 * factor. */
static inline void NAME(add_values)(const AstroSpreadPlane *p, guint64 from, guint n,
                                    const NAME(Handful) * h)
{
  const guint products = p->sorted->products;
  const REAL factor[2] = { (REAL)p->phase_factor[0], (REAL)-p->phase_factor[1] };
  REAL *value = (REAL *)p->sorted->values + 2 * from * products;
  for (guint i = 0; i < n; i++) {
    const REAL re = h->w[i] * factor[0], im = h->w[i] * factor[1];
    for (guint product = 0; product < products; product++, value += 2) {
      const REAL *sum = h->values[product][i];
      value[0] += sum[0] * re - sum[1] * im;
      value[1] += sum[0] * im + sum[1] * re;
    }
  }
}

typedef void (*NAME(Collect))(NAME(Handful) * h, guint product, guint n, guint n_there,
                              const REAL *cells, gsize stride);

static inline __attribute__((always_inline)) void
NAME(collect)(const AstroSpreadPlane *p, const AstroSortedGroup *group, gpointer room,
              const guint support, NAME(Evaluate) evaluate, NAME(Collect) collect)
{
  const guint row = (2 * (support + NAME(BLOCK) - 1) + NAME(LANES) - 1) / NAME(LANES);
  const gsize stride = 2 * (gsize)p->size;
  /* As in spreading, the vectors beyond the end of the grid's row are not there. */
  const guint n_there = MIN(row, 2 * (p->size - group->block * (guint)NAME(BLOCK)) / NAME(LANES));
  const REAL *cells = (const REAL *)p->grid + group->row * stride + 2 * group->block * NAME(BLOCK);

  for (guint64 from = group->start + group->lo, end = group->start + group->hi; from < end;
       from += HANDFUL) {
    const guint n = (guint)MIN(end - from, HANDFUL);
    evaluate(p, from, n, room);
    for (guint product = 0; product < p->sorted->products; product++)
      collect(room, product, n, n_there, cells + product * stride * p->size, stride);
    NAME(add_values)(p, from, n, room);
  }
}

#define COLLECT(support)                                                                           \
  static __attribute__((noinline)) void NAME(collect_handful_##support)(                           \
      NAME(Handful) * h, guint product, guint n, guint n_there, const REAL *cells, gsize stride)   \
  {                                                                                                \
    NAME(collect_handful)(h, product, n, support, n_there, cells, stride);                         \
  }                                                                                                \
  static void NAME(collect_##support)(const AstroSpreadPlane *p, const AstroSortedGroup *group,    \
                                      gpointer room)                                               \
  {                                                                                                \
    NAME(collect)                                                                                  \
    (p, group, room, support, NAME(evaluate_##support), NAME(collect_handful_##support));          \
  }
COLLECT(4)
COLLECT(5)
COLLECT(6)
COLLECT(7)
COLLECT(8)
COLLECT(9)
COLLECT(10)
COLLECT(11)
COLLECT(12)
COLLECT(13)
COLLECT(14)
COLLECT(15)
COLLECT(16)
#undef COLLECT
