/* Looks at each pair of two cells of a tree of points, by angle or in space, by the bin rule of
 * core/histogram/space.h. Behind seeds.cl and values.cl. */
#define NO_BIN UINT_MAX

/* What a catalogue has. */
#define HAS_WEIGHTS_A 1
#define HAS_WEIGHTS_B 2
#define HAS_BITS_A 4
#define HAS_BITS_B 8

/* ---- bins ---- */

typedef struct {
  double row, column, scale;
} Measure;

Measure measure(uint kind, const Point *a, const Point *b)
{
  const double dx = a->x - b->x, dy = a->y - b->y, dz = a->z - b->z;
  const double apart = (dx * dx + dy * dy) + dz * dz;
  if (kind == ANGULAR)
    return (Measure){ apart, 0, 1 };
  const double lx = a->x + b->x, ly = a->y + b->y, lz = a->z + b->z;
  const double sight = (lx * lx + ly * ly) + lz * lz;
  const double root = (dx * lx + dy * ly) + dz * lz, along = root * root;
  const double scale = apart * sight;
  if (kind == SMU)
    return (Measure){ apart, along, scale > 0 ? scale : 1 };
  const double depth = sight > 0 ? along / sight : 0, across = apart - depth;
  return (Measure){ across < 0 ? 0 : across, depth, 1 };
}

/* Edges as squares: rows, and n_columns + 1 of columns, of which the last one is `limit`. By angle
 * there is one column without a limit. */
typedef struct {
  __global const double *rows, *columns;
  uint n_edges, n_columns;
  double limit;
} Bins;

uint bin_of(const Bins *bins, const Seed *seed, const Measure *m)
{
  const uint place = place_of(bins->rows, seed->first, seed->last, m->row);
  if (place == 0 || place == bins->n_edges || !(m->column < bins->limit * m->scale))
    return NO_BIN;
  uint first = 0, last = bins->n_columns - 1;
  while (first < last) {
    const uint middle = (first + last) / 2;
    if (m->column >= bins->columns[middle + 1] * m->scale)
      first = middle + 1;
    else
      last = middle;
  }
  return (place - 1) * bins->n_columns + first;
}

/* ---- sums ---- */

/* Pairs that fall into one bin one after the other. */
typedef struct {
  uint bin, n;
#ifdef WEIGHTED
  double sum[PLANES];
#endif
} Run;

/* Where the sums of a group go: to local memory if there is room for all bins, else to the counts
 * of its regions. */
typedef struct {
  uint is_local, n_bins, n_planes;
  __local volatile uint *local_counts;
  __global volatile uint *counts;
  ulong first, values; /* of its regions, and between two planes */
#ifdef WEIGHTED
  __local volatile ulong *local_sums;
  __global volatile ulong *sums;
#endif
} Sums;

void give(const Sums *to, Run *run)
{
  if (run->n && to->is_local)
    atomic_add(to->local_counts + run->bin, run->n);
  else if (run->n)
    add_count(to->counts, to->first + run->bin, run->n);
#ifdef WEIGHTED
  for (uint p = 0; p < PLANES; p++) { /* known when this is compiled */
    if (run->n && p < to->n_planes && to->is_local)
      ADD_SUM(to->local_sums + p * to->n_bins + run->bin, run->sum[p])
    else if (run->n && p < to->n_planes)
      ADD_SUM(to->sums + p * to->values + to->first + run->bin, run->sum[p])
    run->sum[p] = 0;
  }
#endif
  run->n = 0;
}

void clear_local(const Sums *to, uint item)
{
  for (uint k = item; k < to->n_bins && to->is_local; k += GROUP) {
    to->local_counts[k] = 0;
#ifdef WEIGHTED
    for (uint p = 0; p < to->n_planes; p++)
      to->local_sums[p * to->n_bins + k] = 0;
#endif
  }
}

void give_local(const Sums *to, uint item)
{
  for (uint k = item; k < to->n_bins && to->is_local; k += GROUP) {
    const uint n = to->local_counts[k];
    if (n == 0)
      continue;
    add_count(to->counts, to->first + k, n);
#ifdef WEIGHTED
    for (uint p = 0; p < to->n_planes; p++)
      ADD_SUM(to->sums + p * to->values + to->first + k,
              as_double(to->local_sums[p * to->n_bins + k]))
#endif
  }
}

/* A group a seed. Of the faces that are not there none is looked at. */
__kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void
count_near(FACE(seeds), FACE(rows), FACE(columns), FACE(a), FACE(b), FACE(carried_a),
           FACE(carried_b), FACE(bits_a), FACE(bits_b), FACE(of_bits), FACE(squares), FACE(weights),
           FACE(counts), FACE(sums), const uint kind, const uint fields, const uint n_planes,
           const uint has, const uint n_edges, const uint n_columns, const double limit,
           const uint n_words, const uint n_table, const ulong values, const uint is_local,
           __local volatile uint *local_counts,
           __local volatile ulong *local_sums)
{
  AT(const Seed, seeds);
  AT(const double, rows);
  AT(const double, columns);
  AT(const double, a);
  AT(const double, b);
  AT(const double, carried_a);
  AT(const double, carried_b);
  AT(volatile uint, counts);
  __local Point points[GROUP];
  const Seed seed = seeds[get_group_id(0)];
  const uint item = (uint)get_local_id(0), n_bins = (n_edges - 1) * n_columns;
  const Bins bins = { rows, columns, n_edges, n_columns, limit };
  Sums to = { is_local,     n_bins, n_planes,
              local_counts, counts, (ulong)seed.region * n_bins, values };
#ifdef WEIGHTED
  AT(volatile ulong, sums);
  to.local_sums = local_sums;
  to.sums = sums;
#endif
#ifdef WEIGHS_PAIRS
  AT(const ulong, bits_a);
  AT(const ulong, bits_b);
  AT(const double, of_bits);
  AT(const double, squares);
  AT(const double, weights);
  const Weigher weigher = { has & HAS_BITS_A ? bits_a : 0, has & HAS_BITS_B ? bits_b : 0,
                            n_words, of_bits, n_table, squares, weights };
#endif
  if (!(has & HAS_WEIGHTS_A))
    carried_a = 0;
  if (!(has & HAS_WEIGHTS_B))
    carried_b = 0;
  clear_local(&to, item);
  for (uint from = 0; from < seed.n_b; from += GROUP) {
    const uint n = min(seed.n_b - from, (uint)GROUP);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (item < n)
      points[item] = point_of(b, carried_b, seed.b + from + item);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = item; i < seed.n_a; i += GROUP) {
      const Point at = point_of(a, carried_a, seed.a + i);
      Run run = { .n = 0 };
      for (uint j = 0; j < n; j++) {
        if (seed.is_self && from + j <= i)
          continue;
        const Point other = points[j];
        const Measure m = measure(kind, &at, &other);
        const uint bin = bin_of(&bins, &seed, &m);
        if (bin == NO_BIN)
          continue;
        if (bin != run.bin)
          give(&to, &run);
        run.bin = bin;
        run.n++;
#ifdef FIELDS
        add_planes(fields, &at, &other, m.row, run.sum);
#elif defined(WEIGHS_PAIRS)
        run.sum[0] += at.weight * other.weight *
                      pair_weight(&weigher, kind, &at, seed.a + i, &other, seed.b + from + j);
#elif defined(WEIGHTED)
        run.sum[0] += at.weight * other.weight;
#endif
      }
      give(&to, &run);
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  give_local(&to, item);
}
