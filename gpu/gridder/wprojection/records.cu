/* Makes records of rows. A thread takes up to 16 channels of a row and counts runs of channels at
 * the same point of the taps' lattice. Once it is known how many records come before them, threads
 * find their runs again and write them. Records are in the order of the rows, so that sums of them
 * are the same each time. */
#include "gpu/gridder/wprojection/wprojection.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

enum { THREADS = WPROJECTION_THREADS, SCAN_THREADS = 1024, CORNERS = 8 };

/* The channels of a thread, and how far it has come. */
struct Segment {
  AstroTapsLine line;
  guint64 row;
  guint grid, channel, end;
};

static __device__ bool find_segment(const WProjectionCollect &c, Segment *segment)
{
  const guint64 index = (guint64)blockIdx.x * THREADS + threadIdx.x;
  if (index >= c.n)
    return false;
  segment->row = (c.first + index) / c.segments;
  const guint within = (guint)(c.first + index - segment->row * c.segments);
  const guint of_grid = (c.channels + WPROJECTION_SEGMENT - 1) / WPROJECTION_SEGMENT;
  segment->grid = within / of_grid;
  segment->channel = within % of_grid * WPROJECTION_SEGMENT;
  segment->end =
      segment->grid * c.channels + min(segment->channel + WPROJECTION_SEGMENT, c.channels);
  segment->channel += segment->grid * c.channels;
  segment->line = astro_taps_line(&c.config, c.rows.uvw + 3 * segment->row);
  return true;
}

struct Run {
  guint first, n; /* channels */
  AstroTapsPoint point;
};

/* The next run of channels at one point, if it is inside the grid. */
template <bool INTERPOLATED>
static __device__ bool next_run(const WProjectionCollect &c, Segment *segment, Run *run)
{
  double unused[3];
  AstroTapsPlace u, v;
  for (guint channel = segment->channel; channel < segment->end; channel++) {
    if (!astro_taps_point(&segment->line, c.rows.wavenumbers[channel], INTERPOLATED, &run->point,
                          unused))
      continue;
    bool inside = true;
    for (guint corner = 0; corner < (INTERPOLATED ? CORNERS : 1); corner++) {
      AstroTapsPoint at = astro_taps_corner(&run->point, corner);
      inside = inside && astro_taps_inside(&c.config, &at, &u, &v);
    }
    if (!inside)
      continue;
    AstroTapsPoint next;
    run->first = channel++;
    while (channel < segment->end &&
           astro_taps_point(&segment->line, c.rows.wavenumbers[channel], INTERPOLATED, &next,
                            unused) &&
           astro_taps_same(&next, &run->point))
      channel++;
    run->n = channel - run->first;
    segment->channel = channel;
    return true;
  }
  return false;
}

template <bool INTERPOLATED>
static __global__ void __launch_bounds__(THREADS)
    count(const __grid_constant__ WProjectionCollect c)
{
  using Reduce = cub::BlockReduce<guint32, THREADS>;
  __shared__ typename Reduce::TempStorage storage;
  Segment segment;
  Run run;
  guint32 n = 0;
  if (find_segment(c, &segment))
    while (next_run<INTERPOLATED>(c, &segment, &run))
      n += INTERPOLATED ? CORNERS : 1;
  if ((guint64)blockIdx.x * THREADS + threadIdx.x < c.n)
    c.counts[(guint64)blockIdx.x * THREADS + threadIdx.x] = (guint8)n;
  n = Reduce(storage).Sum(n);
  if (threadIdx.x == 0)
    c.block_counts[blockIdx.x] = n;
}

/* The factor that a visibility's values are multiplied by. */
template <bool INTERPOLATED>
static __device__ double2 factor(const Segment &segment, double wavenumber, guint corner)
{
  double weight = 1, fractions[3], sine, cosine;
  AstroTapsPoint point;
  if (INTERPOLATED) {
    astro_taps_point(&segment.line, wavenumber, TRUE, &point, fractions);
    weight = astro_taps_corner_weight(fractions, corner);
  }
  if (segment.line.turns == 0)
    return make_double2(weight, 0);
  const double turns = segment.line.turns * wavenumber;
  sincospi(-2 * (turns - rint(turns)), &sine, &cosine);
  return make_double2(weight * cosine, weight * sine);
}

/* Loads N values, 16 bytes at once where they are aligned to that. */
template <typename Value, int N>
static __device__ WProjectionValues<Value, N> read_values(const Value *from, bool wide)
{
  WProjectionValues<Value, N> values;
  if (wide)
    return *(const WProjectionValues<Value, N> *)from;
#pragma unroll
  for (int p = 0; p < N; p++)
    values.v[p] = from[p];
  return values;
}

template <typename Value, int N>
static __device__ void write_values(Value *to, const WProjectionValues<Value, N> &values, bool wide)
{
  if (wide)
    *(WProjectionValues<Value, N> *)to = values;
  else
#pragma unroll
    for (int p = 0; p < N; p++)
      to[p] = values.v[p];
}

/* Sums N products of a run. */
template <typename Value, bool INTERPOLATED, int N>
static __device__ void put(const WProjectionCollect &c, const Segment &segment, const Run &run,
                           guint corner, guint product, Value *to)
{
  const Value *value = (const Value *)c.rows.values +
                       (segment.row * c.rows.channels + run.first) * c.rows.products + product;
  double2 sums[N] = {};
  WProjectionValues<Value, N> values;
  if (INTERPOLATED || segment.line.turns != 0) {
    for (guint k = 0; k < run.n; k++, value += c.rows.products) {
      const double2 by = factor<INTERPOLATED>(segment, c.rows.wavenumbers[run.first + k], corner);
      values = read_values<Value, N>(value, c.wide);
#pragma unroll
      for (int p = 0; p < N; p++) {
        sums[p].x += values.v[p].x * by.x - values.v[p].y * by.y;
        sums[p].y += values.v[p].x * by.y + values.v[p].y * by.x;
      }
    }
  } else {
#pragma unroll 4
    for (guint k = 0; k < run.n; k++) {
      values = read_values<Value, N>(value + k * c.rows.products, c.wide);
#pragma unroll
      for (int p = 0; p < N; p++) {
        sums[p].x += values.v[p].x;
        sums[p].y += values.v[p].y;
      }
    }
  }
#pragma unroll
  for (int p = 0; p < N; p++) {
    values.v[p].x = sums[p].x;
    values.v[p].y = sums[p].y;
  }
  write_values<Value, N>(to + product, values, c.wide);
}

template <typename Value, bool INTERPOLATED>
static __global__ void __launch_bounds__(THREADS)
    collect(const __grid_constant__ WProjectionCollect c)
{
  using Scan = cub::BlockScan<guint32, THREADS>;
  __shared__ typename Scan::TempStorage storage;
  const guint products = c.rows.products, n_sets = c.config.taps->oversampling;
  Segment segment;
  Run run;
  guint32 before;
  const bool any = find_segment(c, &segment);
  Scan(storage).ExclusiveSum(any ? c.counts[(guint64)blockIdx.x * THREADS + threadIdx.x] : 0u,
                             before);
  guint64 at = c.base + c.block_counts[blockIdx.x] + before;
  while (any && next_run<INTERPOLATED>(c, &segment, &run))
    for (guint corner = 0; corner < (INTERPOLATED ? CORNERS : 1); corner++, at++) {
      AstroTapsPoint point = astro_taps_corner(&run.point, corner);
      AstroTapsPlace u, v;
      astro_taps_inside(&c.config, &point, &u, &v);
      c.to_keys[at] = c.keys.make(c.class_of_plane[point.plane], segment.grid, (guint)u.cell,
                                  (guint)v.cell, (point.plane * n_sets + v.set) * n_sets + u.set);
      c.to_indices[at] = (guint32)at;
      Value *to = (Value *)c.to_values + at * products;
      guint product = 0;
      for (; wprojection_group(product, products) == 4 && product < products; product += 4)
        put<Value, INTERPOLATED, 4>(c, segment, run, corner, product, to);
      for (; product < products; product++)
        put<Value, INTERPOLATED, 1>(c, segment, run, corner, product, to);
    }
}

static __global__ void __launch_bounds__(SCAN_THREADS) scan(guint32 *counts, guint n)
{
  using Scan = cub::BlockScan<guint32, SCAN_THREADS>;
  __shared__ typename Scan::TempStorage storage;
  guint32 before = 0;
  for (guint first = 0; first < n; first += SCAN_THREADS) {
    const guint i = first + threadIdx.x;
    guint32 count = i < n ? counts[i] : 0, sum;
    Scan(storage).ExclusiveSum(count, count, sum);
    if (i < n)
      counts[i] = before + count;
    before += sum;
    __syncthreads();
  }
  if (threadIdx.x == 0)
    counts[n] = before;
}

gboolean wprojection_scan(guint32 *counts, guint n, cudaStream_t stream, GError **error)
{
  scan<<<1, SCAN_THREADS, 0, stream>>>(counts, n);
  return CUDA_TRY(cudaGetLastError());
}

gboolean wprojection_count(const WProjectionCollect *c, cudaStream_t stream, GError **error)
{
  const guint blocks = wprojection_blocks(c->n);
  if (c->interpolated)
    count<true><<<blocks, THREADS, 0, stream>>>(*c);
  else
    count<false><<<blocks, THREADS, 0, stream>>>(*c);
  return CUDA_TRY(cudaGetLastError()) && wprojection_scan(c->block_counts, blocks, stream, error);
}

gboolean wprojection_collect(const WProjectionCollect *c, cudaStream_t stream, GError **error)
{
  const guint blocks = wprojection_blocks(c->n);
  if (c->rows.is_double && c->interpolated)
    collect<double2, true><<<blocks, THREADS, 0, stream>>>(*c);
  else if (c->rows.is_double)
    collect<double2, false><<<blocks, THREADS, 0, stream>>>(*c);
  else if (c->interpolated)
    collect<float2, true><<<blocks, THREADS, 0, stream>>>(*c);
  else
    collect<float2, false><<<blocks, THREADS, 0, stream>>>(*c);
  return CUDA_TRY(cudaGetLastError());
}
