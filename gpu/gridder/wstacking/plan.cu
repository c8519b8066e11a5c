/* Plans the work of a plane's warps: the window of every bin, and which warp takes which tile or
 * part of one. Tiles without any work can be cleared here. */
#include "gpu/gridder/wstacking/wstacking.h"

enum {
  THREADS = 256,
  LEAST_SHARE = 1024, /* visibilities that a warp takes at least of a tile that is shared, since
                         sums have to be added later */
};

static __device__ guint32 find(const guint16 *planes, guint32 from, guint32 to, guint least)
{
  while (from < to) {
    const guint32 middle = from + (to - from) / 2;
    if (planes[middle] < least)
      from = middle + 1;
    else
      to = middle;
  }
  return from;
}

static __global__ void __launch_bounds__(THREADS)
    find_windows(const __grid_constant__ WstackingPlane p)
{
  const guint64 bin = (guint64)blockIdx.x * THREADS + threadIdx.x;
  guint n = 0;
  if (bin < p.sorted.n_bins) {
    const guint32 start = p.sorted.starts[bin], end = p.sorted.starts[bin + 1];
    const guint32 from =
        find(p.sorted.planes, start, end, p.plane + 1 > p.support ? p.plane + 1 - p.support : 0);
    const guint32 to = find(p.sorted.planes, from, end, p.plane + 1);
    p.plan.windows[bin] = make_uint2(from, to);
    n = to - from;
  }
  n = __reduce_add_sync(~0u, n);
  if (threadIdx.x % 32 == 0 && n)
    atomicAdd(&p.plan.counts->reaching, n);
}

/* Reserves n places for each lane and returns where its own begin; one atomic operation a warp. */
static __device__ guint take(guint *counter, guint n)
{
  const guint lane = threadIdx.x % 32;
  guint sum = n, first = 0;
#pragma unroll
  for (int i = 1; i < 32; i *= 2) {
    const guint before = __shfl_up_sync(~0u, sum, i);
    sum += lane >= i ? before : 0;
  }
  if (lane == 31 && sum)
    first = atomicAdd(counter, sum);
  return __shfl_sync(~0u, first, 31) + sum - n;
}

static __device__ guint visibilities_of(const WstackingPlane &p, guint tile)
{
  const guint side = p.sorted.side, row = tile / p.tiles, channel = row / p.tiles;
  const gint first_u = (gint)((tile - row * p.tiles) * 2) - (gint)p.reach;
  const gint first_v = (gint)((row - channel * p.tiles) * 2) - (gint)p.reach;
  guint n = 0;
  for (gint v = max(first_v, 0); v < min(first_v + (gint)p.reach + 2, (gint)side); v++)
    for (gint u = max(first_u, 0); u < min(first_u + (gint)p.reach + 2, (gint)side); u++) {
      const uint2 window = p.plan.windows[((gsize)channel * side + v) * side + u];
      n += window.y - window.x;
    }
  return n;
}

/* A visibility is in the bins of at most 4 tiles, and a tile with more than a share has fewer than
 * two parts a share, so that there are enough slots. */
static __global__ void __launch_bounds__(THREADS)
    share_out(const __grid_constant__ WstackingPlane p)
{
  WstackingCounts *counts = p.plan.counts;
  const guint64 tile = (guint64)blockIdx.x * THREADS + threadIdx.x;
  const guint share = (guint)max(
      (8 * (guint64)counts->reaching + p.plan.n_slots - 1) / p.plan.n_slots, (guint64)LEAST_SHARE);
  const guint n = tile < p.n_tiles ? visibilities_of(p, (guint)tile) : 0;
  const guint parts = n / share + (n % share != 0), slots = parts > 1 ? parts : 0;
  const guint item = take(&counts->items, parts), slot = take(&counts->slots, slots);
  const guint heavy = take(&counts->heavy, slots > 0);
  for (guint i = 0; i < parts; i++)
    p.plan.items[item + i] = { (guint32)tile, i * share, i + 1 < parts ? (i + 1) * share : n,
                               slots ? slot + i : WSTACKING_WHOLE };
  if (slots)
    p.plan.heavy[heavy] = { (guint32)tile, slot, slots };
  if (tile < p.n_tiles)
    p.plan.touched[tile] = n != 0;
}

/* Clears the tiles that no visibility reaches. A warp goes along a row of the grid, which is faster
 * than going from tile to tile. */
static __global__ void __launch_bounds__(THREADS)
    clear(const __grid_constant__ WstackingPlane p, guint cells, gsize rows)
{
  const gsize row = ((gsize)blockIdx.x * THREADS + threadIdx.x) / 32;
  if (row >= rows)
    return;
  const guint channel = (guint)(row / ((gsize)p.products * p.size)), v = (guint)(row % p.size);
  const guint8 *touched =
      p.plan.touched + ((gsize)channel * p.tiles + v / WSTACKING_TILE) * p.tiles;
  const guint pieces = p.size / cells;
  float4 *to = (float4 *)p.grid + row * pieces;
#pragma unroll 4
  for (guint i = threadIdx.x % 32; i < pieces; i += 32)
    if (!touched[i * cells / WSTACKING_TILE])
      to[i] = make_float4(0, 0, 0, 0);
}

gboolean astro_wstacking_plan(const WstackingPlane *plane, cudaStream_t stream, GError **error)
{
  if (!CUDA_TRY(cudaMemsetAsync(plane->plan.counts, 0, sizeof *plane->plan.counts, stream)))
    return FALSE;
  find_windows<<<(plane->sorted.n_bins + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*plane);
  share_out<<<(plane->n_tiles + THREADS - 1) / THREADS, THREADS, 0, stream>>>(*plane);
  return CUDA_TRY(cudaGetLastError());
}

gboolean astro_wstacking_clear(const WstackingPlane *plane, cudaStream_t stream, GError **error)
{
  const gsize rows =
      (gsize)(plane->n_tiles / plane->tiles / plane->tiles) * plane->products * plane->size;
  clear<<<(guint)((rows * 32 + THREADS - 1) / THREADS), THREADS, 0, stream>>>(
      *plane, plane->is_double ? 1 : 2, rows);
  return CUDA_TRY(cudaGetLastError());
}
