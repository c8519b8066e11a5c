/* Spreading: a team of threads owns a square of cells as large as the support, as if the grid were paved with it, so
 * that each thread's cells are under every record's taps exactly once wherever the record lies (Romein 2012). A thread
 * has several cells of a column and keeps their sums in registers while neighbouring records reach the same cells of
 * the grid; only those that a move of the support leaves are added to the grid. */
#include "gpu/gridder-wprojection.h"

enum {
  THREADS = WPROJECTION_THREADS,
  BLOCKS = 16,     /* of a multiprocessor, at most */
  MIN_CHUNK = 32,  /* records of a team before its sums go to the grid */
  MAX_CHUNK = 512,
};

struct Spread {
  WProjectionSpread s;
  guint rows;         /* of threads in a team */
  guint teams;        /* of a block */
  guint slices;       /* of cells: a team has one */
  guint chunk;        /* records */
};

/* ---- adding to the grid ---- */

static __device__ void add_to(float2 *cell, float2 sum)
{
#if __CUDA_ARCH__ >= 900
  atomicAdd(cell, sum);
#else
  atomicAdd(&cell->x, sum.x);
  atomicAdd(&cell->y, sum.y);
#endif
}

static __device__ void add_to(double2 *cell, double2 sum)
{
  atomicAdd(&cell->x, sum.x);
  atomicAdd(&cell->y, sum.y);
}

static __device__ gint fixed_exponent(const WProjectionFixed &fixed)
{
  const double largest = __longlong_as_double((gint64)*fixed.largest);
  return largest > 0 ? 61 - ilogb(largest) - fixed.taps_exponent - fixed.records_exponent : 0;
}

template <typename Value, bool FIXED>
static __device__ void add_cell(const WProjectionSpread &s, gsize at, Value sum, double scale)
{
  if (FIXED) {
    unsigned long long *cell = (unsigned long long *)s.fixed.grid + 2 * at;
    atomicAdd(cell, (unsigned long long)__double2ll_rn(sum.x * scale));
    atomicAdd(cell + 1, (unsigned long long)__double2ll_rn(sum.y * scale));
  } else {
    add_to((Value *)s.grid + at, sum);
  }
}

/* ---- a thread's cells ---- */

/* COUNT cells of a column, as many rows of threads apart. */
template <typename Value, int N, int COUNT> struct Cells {
  Value sums[COUNT][N];
  guint32 taps[COUNT]; /* from the set's first to those that the cells are under */
};

struct Column {
  guint x, y, support, stride, rows;

  /* From the first cell of a support that begins there to ours. */
  __device__ guint right(guint u) const
  {
    const guint left = u % support;
    return x >= left ? x - left : x + support - left;
  }
  __device__ guint down(guint top, guint k) const
  {
    const guint mine = min(y + k * rows, support - 1);
    return mine >= top ? mine - top : mine + support - top;
  }
};

template <typename Value, int N, int COUNT, bool FIXED>
static __device__ void move(const WProjectionSpread &s, const Column &column, Cells<Value, N, COUNT> &cells,
                            const WProjectionRecord &from, bool any, const WProjectionRecord &to, bool all,
                            double scale)
{
  const guint right = column.right(to.u), top = to.v % column.support;
  const guint old_right = column.right(from.u), old_top = from.v % column.support;
  const guint u = from.u + old_right;
  const bool left = all || u != to.u + right || from.grid != to.grid;
#pragma unroll
  for (int k = 0; k < COUNT; k++) {
    const guint down = column.down(top, k), old_down = column.down(old_top, k), v = from.v + old_down;
    if (any && (left || v != to.v + down) && column.y + k * column.rows < column.support) {
      const gsize plane = (gsize)s.size * s.size;
      gsize at = ((gsize)from.grid * s.products + s.product) * plane + (gsize)v * s.size + u;
#pragma unroll
      for (int p = 0; p < N; p++, at += plane) {
        add_cell<Value, FIXED>(s, at, cells.sums[k][p], scale);
        cells.sums[k][p] = {};
      }
    }
    cells.taps[k] = down * column.stride + right;
  }
}

template <typename Value> static __device__ void multiply_add(Value &sum, Value a, Value b)
{
  sum.x += a.x * b.x;
  sum.y += a.x * b.y;
  sum.x -= a.y * b.y;
  sum.y += a.y * b.x;
}

/* As many bytes at once as there are, up to 16. */
template <typename Value, int N> struct alignas(sizeof(Value) * N > 16 ? 16 : sizeof(Value) * N) Values {
  Value v[N];
};

static __device__ WProjectionRecord read_record(const WProjectionRecord *record)
{
  const uint4 bits = __ldg((const uint4 *)record);
  return *(const WProjectionRecord *)&bits;
}

template <typename Value, int N, int COUNT, bool FIXED>
static __global__ void __launch_bounds__(THREADS, 2) spread(const __grid_constant__ Spread work)
{
  const WProjectionSpread &s = work.s;
  const guint team_threads = work.rows * s.support, team = threadIdx.x / team_threads;
  const guint lane = threadIdx.x - team * team_threads, slice = blockIdx.x % work.slices;
  const guint32 range_end = s.range[1];
  const Values<Value, N> *values = (const Values<Value, N> *)((const Value *)s.sums + s.product * s.capacity);
  if (team >= work.teams)
    return;
  const double scale = FIXED ? scalbn(1.0, fixed_exponent(s.fixed)) : 1;
  Column column = { lane % s.support, slice * work.rows * COUNT + lane / s.support, s.support, s.stride, work.rows };

  for (guint64 chunk = blockIdx.x / work.slices * work.teams + team;; chunk += gridDim.x / work.slices * work.teams) {
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
      if (record.u != at.u || record.v != at.v || record.grid != at.grid)
        move<Value, N, COUNT, FIXED>(s, column, cells, at, true, record, false, scale);
      at = record;
      Value taps[COUNT];
#pragma unroll
      for (int k = 0; k < COUNT; k++)
        taps[k] = __ldg((const Value *)record.taps + cells.taps[k]);
      const Values<Value, N> value = values[i];
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

/* Rows of threads and slices for count cells a thread; the share of their work that is wanted. */
static double divide(guint support, guint count, guint *rows, guint *slices)
{
  guint most = MAX(THREADS / support, 1);
  *slices = (support + most * count - 1) / (most * count);
  *rows = (support + *slices * count - 1) / (*slices * count);
  return (double)support / (*slices * *rows * count);
}

template <typename Value, int N, int COUNT> static void launch(const Spread &work, guint blocks, cudaStream_t stream)
{
  if (work.s.fixed.grid)
    spread<Value, N, COUNT, true><<<blocks, THREADS, 0, stream>>>(work);
  else
    spread<Value, N, COUNT, false><<<blocks, THREADS, 0, stream>>>(work);
}

template <typename Value, int COUNT> static void launch_count(const Spread &work, guint blocks, cudaStream_t stream)
{
  if (work.s.group == 4)
    launch<Value, 4, COUNT>(work, blocks, stream);
  else if (work.s.group == 2)
    launch<Value, 2, COUNT>(work, blocks, stream);
  else
    launch<Value, 1, COUNT>(work, blocks, stream);
}

gboolean wprojection_spread(const WProjectionSpread *s, guint64 n, cudaStream_t stream, GError **error)
{
  const double narrow_costs = 0.85; /* of 4 cells a thread, to 8 */
  Spread work = { *s };
  guint count = 4, rows, slices;
  double share = divide(s->support, 4, &work.rows, &work.slices);
  if (!s->is_double && divide(s->support, 8, &rows, &slices) > narrow_costs * share) {
    work.rows = rows;
    work.slices = slices;
    count = 8;
  }
  work.teams = THREADS / (work.rows * s->support);
  const guint64 teams = (guint64)s->multiprocessors * 2 * work.teams;
  work.chunk = (guint)CLAMP(n * work.slices / (4 * teams), MIN_CHUNK, MAX_CHUNK);
  const guint64 chunks = (n + work.chunk - 1) / work.chunk;
  const guint64 blocks = MIN((chunks + work.teams - 1) / work.teams,
                             (guint64)s->multiprocessors * BLOCKS / work.slices + 1) * work.slices;
  if (s->is_double)
    launch_count<double2, 4>(work, (guint)blocks, stream);
  else if (count == 4)
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
  for (gsize i = (gsize)blockIdx.x * THREADS + threadIdx.x; i < n; i += (gsize)gridDim.x * THREADS) {
    const gint64 sum = fixed.grid[i];
    if (sum == 0)
      continue;
    grid[i] += (Real)scalbn((double)sum, exponent);
    fixed.grid[i] = 0;
  }
}

gboolean wprojection_unfix(const WProjectionFixed *fixed, gpointer grid, gsize n, gboolean is_double,
                           cudaStream_t stream, GError **error)
{
  const guint blocks = (guint)MIN((n + THREADS - 1) / THREADS, 1u << 16);
  if (is_double)
    unfix<<<blocks, THREADS, 0, stream>>>(*fixed, (double *)grid, n);
  else
    unfix<<<blocks, THREADS, 0, stream>>>(*fixed, (float *)grid, n);
  return CUDA_TRY(cudaGetLastError());
}
