/* Spreading on any device and in either precision. A team of threads owns a square of cells, as
 * large as the footprints that begin in one tile reach. The grid is thought of as paved with that
 * square, so that each of its cells, taken modulo the square, belongs to one thread wherever a
 * tile's footprints lie (Romein 2012, whose square is one footprint). A thread has several cells of
 * a column and keeps their sums in registers as long as records are of one tile; when it moves to
 * the next tile, only the cells that leave the square are added to the grid. Records of a tile that
 * need the same taps, if shifted, follow each other and find them in the first cache. */
#include "gpu/gridder/wprojection/cells.h"

enum {
  THREADS = WPROJECTION_THREADS,
  BLOCKS = 16,    /* of a multiprocessor, at most */
  MIN_CHUNK = 32, /* records */
  MAX_CHUNK = 512,
};

/* How a square of cells is divided among teams, each of which has a slice, and among threads. */
struct Division {
  guint width, columns, rows; /* of the square; of a team's threads */
  guint slices_u, slices_v;
  guint count;   /* cells of a thread */
  guint teams;   /* of a block */
  guint threads; /* of a block */
};

struct Spread {
  WProjectionSpread s;
  Division d;
  guint chunk; /* records of a team before its sums go to the grid */
};

/* ---- a thread's cells ---- */

/* A thread's cells: COUNT of a column, as far apart as a team has rows of threads. */
template <typename Value, int N, int COUNT> struct Cells {
  Value sums[COUNT][N];
  guint32 taps[COUNT]; /* offsets from the set's first tap to those over the cells */
};

struct Column {
  guint x, y, width, stride, rows;

  /* Cells to the right, from the first cell of a square that begins there to ours. */
  __device__ guint right(guint u) const
  {
    const guint left = u % width;
    return x >= left ? x - left : x + width - left;
  }
  __device__ guint down(guint top, guint k) const
  {
    const guint mine = min(y + k * rows, width - 1);
    return mine >= top ? mine - top : mine + width - top;
  }
};

template <typename Value, int N, int COUNT, bool FIXED>
static __device__ void move(const WProjectionSpread &s, const Column &column,
                            Cells<Value, N, COUNT> &cells, const WProjectionRecord &from, bool any,
                            const WProjectionRecord &to, bool all, double scale)
{
  const guint right = column.right(to.u()), top = to.v() % column.width;
  const guint old_right = column.right(from.u()), old_top = from.v() % column.width;
  const guint u = from.u() + old_right;
  const bool left = all || u != to.u() + right || from.grid() != to.grid(),
             there = any && u < s.size;
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    const guint down = column.down(top, k), old_down = column.down(old_top, k),
                v = from.v() + old_down;
    if (there && (left || v != to.v() + down) && v < s.size &&
        column.y + k * column.rows < column.width) {
      const gsize plane = (gsize)s.size * s.size;
      gsize at = ((gsize)from.grid() * s.products + s.product) * plane + (gsize)v * s.size + u;
#pragma unroll
      for (int p = 0; p < N; p++, at += plane) {
        add_cell<Value, FIXED>(s, at, cells.sums[k][p], scale);
        cells.sums[k][p] = {};
      }
    }
    cells.taps[k] = down * column.stride + right;
  }
}

template <typename Value, int N, int COUNT, bool FIXED>
static __global__ void __launch_bounds__(THREADS, 2) spread(const __grid_constant__ Spread work)
{
  const WProjectionSpread &s = work.s;
  const Division &d = work.d;
  const guint team_threads = d.rows * d.columns, team = threadIdx.x / team_threads;
  const guint lane = threadIdx.x - team * team_threads;
  const guint slices = d.slices_u * d.slices_v, slice = blockIdx.x % slices;
  const guint32 range_end = s.range[1];
  const WProjectionValues<Value, N> *values = values_of<Value, N>(s);
  const Column column = { slice % d.slices_u * d.columns + lane % d.columns,
                          slice / d.slices_u * d.rows * COUNT + lane / d.columns, d.width, s.stride,
                          d.rows };
  if (team >= d.teams || column.x >= d.width)
    return;
  const double scale = FIXED ? scalbn(1.0, fixed_exponent(s.fixed)) : 1;

  for (guint64 chunk = blockIdx.x / slices * d.teams + team;;
       chunk += gridDim.x / slices * d.teams) {
    const guint64 first = s.range[0] + chunk * work.chunk;
    if (first >= range_end)
      return;
    const guint32 end = (guint32)min(first + work.chunk, (guint64)range_end);
    Cells<Value, N, COUNT> cells = {};
    WProjectionRecord next = read_record(s.records + first), at = next;
    move<Value, N, COUNT, FIXED>(s, column, cells, at, false, next, true, scale);
    for (guint32 i = (guint32)first; i < end; i++) {
      const WProjectionRecord record = next;
      next = read_record(s.records + min(i + 1, end - 1));
      if (record.is_new_tile() && i != (guint32)first)
        move<Value, N, COUNT, FIXED>(s, column, cells, at, true, record, false, scale);
      at = record;
      Value taps[COUNT];
#pragma unroll
      for (int k = 0; k < COUNT; k++)
        taps[k] = __ldg((const Value *)record.taps + cells.taps[k]);
      const WProjectionValues<Value, N> value = values[i];
#pragma unroll
      for (int k = 0; k < COUNT; k++)
#pragma unroll
        for (int p = 0; p < N; p++)
          multiply_add(cells.sums[k][p], taps[k], value.v[p]);
    }
    move<Value, N, COUNT, FIXED>(s, column, cells, at, true, at, true, scale);
  }
}

/* ---- launching ---- */

/* The best division with count cells a thread. Returns the share of lanes that have cells. */
static double divide(guint width, guint count, Division *best)
{
  double best_share = 0;
  for (guint slices_u = (width + THREADS - 1) / THREADS; slices_u <= 8; slices_u++) {
    const guint columns = (width + slices_u - 1) / slices_u, most = THREADS / columns;
    Division d = {
      width, columns, 0, slices_u, (width + most * count - 1) / (most * count), count
    };
    d.rows = (width + d.slices_v * count - 1) / (d.slices_v * count);
    d.teams = THREADS / (columns * d.rows);
    d.threads = (d.teams * columns * d.rows + 31) / 32 * 32;
    const double share =
        (double)width * width * d.teams / ((double)slices_u * d.slices_v * count * d.threads);
    if (share > best_share) {
      *best = d;
      best_share = share;
    }
  }
  return best_share;
}

template <typename Value, int N, int COUNT>
static void launch(const Spread &work, guint blocks, cudaStream_t stream)
{
  if (work.s.fixed.grid)
    spread<Value, N, COUNT, true><<<blocks, work.d.threads, 0, stream>>>(work);
  else
    spread<Value, N, COUNT, false><<<blocks, work.d.threads, 0, stream>>>(work);
}

template <typename Value, int COUNT>
static void launch_count(const Spread &work, guint blocks, cudaStream_t stream)
{
  if (work.s.group == 4)
    launch<Value, 4, COUNT>(work, blocks, stream);
  else if (work.s.group == 2)
    launch<Value, 2, COUNT>(work, blocks, stream);
  else
    launch<Value, 1, COUNT>(work, blocks, stream);
}

gboolean wprojection_spread(const WProjectionSpread *s, guint64 n, cudaStream_t stream,
                            GError **error)
{
  const double narrow_costs = 0.85; /* 4 cells a thread instead of 8 */
  const guint width = s->support + WPROJECTION_TILE - 1;
  Spread work = { *s };
  Division wide;
  double share = divide(width, 4, &work.d);
  if (!s->is_double && divide(width, 8, &wide) > narrow_costs * share)
    work.d = wide;
  const guint slices = work.d.slices_u * work.d.slices_v;
  const guint64 teams = (guint64)s->multiprocessors * 2 * work.d.teams;
  work.chunk = (guint)CLAMP(n * slices / (4 * teams), MIN_CHUNK, MAX_CHUNK);
  const guint64 chunks = (n + work.chunk - 1) / work.chunk;
  const guint64 blocks = MIN((chunks + work.d.teams - 1) / work.d.teams,
                             (guint64)s->multiprocessors * BLOCKS / slices + 1) *
                         slices;
  if (s->is_double)
    launch_count<double2, 4>(work, (guint)blocks, stream);
  else if (work.d.count == 4)
    launch_count<float2, 4>(work, (guint)blocks, stream);
  else
    launch_count<float2, 8>(work, (guint)blocks, stream);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- integers to the grid ---- */

template <typename Real>
static __global__ void __launch_bounds__(THREADS)
    unfix(const __grid_constant__ WProjectionFixed fixed, Real *grid, gsize n)
{
  const gint exponent = -fixed_exponent(fixed);
  for (gsize i = (gsize)blockIdx.x * THREADS + threadIdx.x; i < n;
       i += (gsize)gridDim.x * THREADS) {
    const gint64 sum = fixed.grid[i];
    if (sum == 0)
      continue;
    grid[i] += (Real)scalbn((double)sum, exponent);
    fixed.grid[i] = 0;
  }
}

gboolean wprojection_unfix(const WProjectionFixed *fixed, gpointer grid, gsize n,
                           gboolean is_double, cudaStream_t stream, GError **error)
{
  const guint blocks = (guint)MIN((n + THREADS - 1) / THREADS, 1u << 16);
  if (is_double)
    unfix<<<blocks, THREADS, 0, stream>>>(*fixed, (double *)grid, n);
  else
    unfix<<<blocks, THREADS, 0, stream>>>(*fixed, (float *)grid, n);
  return CUDA_TRY(cudaGetLastError());
}
