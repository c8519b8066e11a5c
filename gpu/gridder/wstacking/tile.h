/* A plane's tiles, in either precision. Matrix<Real> is the tensor cores': what a lane holds of a
 * tile, of either precision, is rows g and g + 8, and in them columns 2t and 2t + 1 of the left and
 * of the right half, where g = lane / 4 and t = lane % 4; of a product, taps of cells g and g + 8.
 */
#pragma once

#include "gpu/gridder/wstacking/wstacking.h"

enum { WARPS = 4, LANES = 32, RING = 2 * LANES, HALF = WSTACKING_TILE / 2 };

/* The visibilities that reach the tile; cells count from its first. As soon as there are 32 they
 * are added, while the next ones are put behind them. */
template <typename Real, int PRODUCTS> struct Ring {
  typedef typename WstackingComplex<Real>::Type Value;
  struct alignas(sizeof(Real) * 4) {
    Real inside[2]; /* along u and v */
    gint cell[2];
  } visits[RING];
  Value values[PRODUCTS][RING]; /* times the tap in w */
};

/* The taps of one visibility along u and v at cells g and g + 8 of the tile: at the first of its
 * cells that equals g modulo 8 and, with WIDE (a support above 8), at the one 8 farther. */
template <bool WIDE, typename Real, typename Taps>
static __device__ __forceinline__ void taps_at(const Taps &taps, const Real (&inside)[2],
                                               const gint (&cell)[2], gint g, Real (&low)[2],
                                               Real (&high)[2])
{
  gint tap[2];
  Real near[2], far[2];
#pragma unroll
  for (int i = 0; i < 2; i++)
    tap[i] = (g - cell[i]) & 7;
  taps.template at<WIDE>(inside, tap, near, far);
#pragma unroll
  for (int i = 0; i < 2; i++) {
    const gint first = cell[i] + tap[i];
    low[i] = first == g ? near[i] : WIDE && first + HALF == g ? far[i] : 0;
    high[i] = first == g + HALF ? near[i] : WIDE && first == g ? far[i] : 0;
  }
}

template <typename Real, int PRODUCTS> struct Loaded {
  WstackingPlace<Real> place;
  gint cell[2];
  typename WstackingComplex<Real>::Type values[PRODUCTS];
};

template <typename Real, int PRODUCTS> struct Sums {
  Real cells[PRODUCTS][2][2][2][2]; /* half, part, row, column */
};

/* The windows that reach a tile, one a lane, and the number of visibilities in those before it. */
struct Windows {
  guint32 before, from;
  gint cell_u, cell_v; /* of the bin, from the tile's first */
  guint n;
};

static __device__ __forceinline__ Windows windows_of(const WstackingPlane &p, guint tile)
{
  const guint lane = threadIdx.x % LANES, side = p.sorted.side, bins = p.reach + 2;
  const guint row = tile / p.tiles, channel = row / p.tiles;
  Windows w;
  w.n = bins * bins;
  const gint bin_u = (gint)(lane % bins) - (gint)p.reach,
             bin_v = (gint)(lane / bins) - (gint)p.reach;
  const gint u = (gint)(tile - row * p.tiles) * 2 + bin_u,
             v = (gint)(row - channel * p.tiles) * 2 + bin_v;
  w.cell_u = bin_u * WSTACKING_BIN;
  w.cell_v = bin_v * WSTACKING_BIN;
  uint2 window = make_uint2(0, 0);
  if (lane < w.n && u >= 0 && v >= 0 && u < (gint)side && v < (gint)side)
    window = p.plan.windows[((gsize)channel * side + v) * side + u];
  w.from = window.x;
  guint sum = window.y - window.x;
#pragma unroll
  for (int i = 1; i < 16; i *= 2) {
    const guint before = __shfl_up_sync(~0u, sum, i);
    sum += lane >= i ? before : 0;
  }
  w.before = sum - (window.y - window.x);
  return w;
}

/* Visibility k of all windows together; past the last, one of value 0. All lanes call it. */
template <typename Real, int PRODUCTS>
static __device__ __forceinline__ Loaded<Real, PRODUCTS> load(const WstackingPlane &p,
                                                              const Windows &w, guint k, guint to)
{
  typedef typename WstackingComplex<Real>::Type Value;
  Loaded<Real, PRODUCTS> loaded = {};
  guint window = 0;
  for (guint i = 1; i < w.n; i++)
    window += k >= __shfl_sync(~0u, w.before, i);
  const guint32 at = k + __shfl_sync(~0u, w.from - w.before, window);
  loaded.cell[0] = __shfl_sync(~0u, w.cell_u, window);
  loaded.cell[1] = __shfl_sync(~0u, w.cell_v, window);
  if (k < to) {
    loaded.place = ((const WstackingPlace<Real> *)p.sorted.places)[at];
    const Value *values = (const Value *)p.sorted.values + (gsize)at * PRODUCTS;
#pragma unroll
    for (int i = 0; i < PRODUCTS; i++)
      loaded.values[i] = values[i];
  }
  return loaded;
}

/* Puts those visibilities of a batch that reach the tile into the ring from that place on; returns
 * how many. */
template <typename Real, int PRODUCTS, typename Taps>
static __device__ __forceinline__ guint stage(const WstackingPlane &p, const Taps &taps,
                                              const Loaded<Real, PRODUCTS> &loaded, bool is_there,
                                              guint at, Ring<Real, PRODUCTS> *ring)
{
  const guint lane = threadIdx.x % LANES;
  const gint cell_u = loaded.cell[0] + (gint)(loaded.place.cells % WSTACKING_BIN);
  const gint cell_v = loaded.cell[1] + (gint)(loaded.place.cells >> 3) % WSTACKING_BIN;
  const bool reaches = is_there && cell_u + (gint)p.support > 0 && cell_v + (gint)p.support > 0;
  const guint32 reaching = __ballot_sync(~0u, reaches);
  if (reaches) {
    const guint to = (at + __popc(reaching & ((1u << lane) - 1))) % RING;
    auto &visit = ring->visits[to];
    visit.inside[0] = loaded.place.u;
    visit.inside[1] = loaded.place.v;
    visit.cell[0] = cell_u;
    visit.cell[1] = cell_v;
    const guint tap = (p.plane - (loaded.place.cells >> 6)) % WSTACKING_PLANES;
    const Real w = p.is_flat ? 1 : taps.at(loaded.place.w, tap);
    const Real re = w * (Real)p.phase_factor[0], im = w * (Real)p.phase_factor[1];
#pragma unroll
    for (int i = 0; i < PRODUCTS; i++) {
      ring->values[i][to].x = loaded.values[i].x * re - loaded.values[i].y * im;
      ring->values[i][to].y = loaded.values[i].x * im + loaded.values[i].y * re;
    }
  }
  return __popc(reaching);
}

/* DEPTH visibilities are added at once: puts some of value 0 behind the last ones. */
template <int DEPTH, typename Real, int PRODUCTS>
static __device__ __forceinline__ void pad(guint at, Ring<Real, PRODUCTS> *ring)
{
  const guint lane = threadIdx.x % LANES, to = (at + lane) % RING;
  if (lane < DEPTH) {
    ring->visits[to] = {};
#pragma unroll
    for (int i = 0; i < PRODUCTS; i++)
      ring->values[i][to] = {};
  }
}

static __device__ __forceinline__ void put_pair(float *to, const float (&re)[2],
                                                const float (&im)[2])
{
  *(float4 *)to = make_float4(re[0], im[0], re[1], im[1]);
}

static __device__ __forceinline__ void put_pair(double *to, const double (&re)[2],
                                                const double (&im)[2])
{
  ((double2 *)to)[0] = make_double2(re[0], im[0]);
  ((double2 *)to)[1] = make_double2(re[1], im[1]);
}

/* Writes to the grid, or to a slot, which is laid out as a tile. */
template <typename Real, int PRODUCTS>
static __device__ __forceinline__ void put_tile(const WstackingPlane &p, const WstackingItem &item,
                                                const Sums<Real, PRODUCTS> &sums)
{
  const guint lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
  const guint row = item.tile / p.tiles, channel = row / p.tiles;
  const bool is_whole = item.slot == WSTACKING_WHOLE;
  const guint size = is_whole ? p.size : WSTACKING_TILE;
  const guint first_u = is_whole ? (item.tile - row * p.tiles) * WSTACKING_TILE : 0;
  const guint first_v = is_whole ? (row - channel * p.tiles) * WSTACKING_TILE : 0;
  Real *to = (Real *)(is_whole ? p.grid : p.plan.slots) +
             2 * (gsize)(is_whole ? channel : item.slot) * PRODUCTS * size * size;
#pragma unroll
  for (int i = 0; i < PRODUCTS; i++)
#pragma unroll
    for (int half = 0; half < 2; half++)
#pragma unroll
      for (int part = 0; part < 2; part++) {
        const guint u = first_u + half * HALF + 2 * t, v = first_v + part * HALF + g;
        if (u < size && v < size)
          put_pair(to + 2 * (((gsize)i * size + v) * size + u), sums.cells[i][half][0][part],
                   sums.cells[i][half][1][part]);
      }
}

template <typename Matrix, typename Real, int PRODUCTS, bool WIDE>
static __device__ __forceinline__ void
sum_items(const WstackingPlane &p, const typename Matrix::Taps &taps, Ring<Real, PRODUCTS> *ring)
{
  /* Loads the next batch while one is in work, where there are enough registers. */
  constexpr bool AHEAD = sizeof(Real) * PRODUCTS <= 16;
  const guint lane = threadIdx.x % LANES, items = p.plan.counts->items;
  guint number = lane == 0 ? atomicAdd(&p.plan.counts->next, 1) : 0;
  for (;;) {
    number = __shfl_sync(~0u, number, 0);
    if (number >= items)
      break;
    const WstackingItem item = p.plan.items[number];
    if (lane == 0)
      number = atomicAdd(&p.plan.counts->next, 1); /* requested before it is needed */
    const Windows windows = windows_of(p, item.tile);
    Sums<Real, PRODUCTS> sums = {};
    Loaded<Real, PRODUCTS> loaded;
    guint n = 0, done = 0; /* staged, added */
    if (AHEAD)
      loaded = load<Real, PRODUCTS>(p, windows, item.from + lane, item.to);
    for (guint k = item.from; k < item.to; k += LANES) {
      if (!AHEAD)
        loaded = load<Real, PRODUCTS>(p, windows, k + lane, item.to);
      n += stage(p, taps, loaded, k + lane < item.to, n, ring);
      __syncwarp();
      if (AHEAD && k + LANES < item.to)
        loaded = load<Real, PRODUCTS>(p, windows, k + LANES + lane, item.to);
      if (n - done >= LANES) {
        for (guint at = 0; at < LANES; at += Matrix::DEPTH)
          Matrix::template add<WIDE>(taps, *ring, done % RING + at, sums);
        __syncwarp();
        done += LANES;
      }
    }
    pad<Matrix::DEPTH>(n, ring);
    __syncwarp();
    for (; (gint)(n - done) > 0; done += Matrix::DEPTH)
      Matrix::template add<WIDE>(taps, *ring, done % RING, sums);
    __syncwarp();
    put_tile(p, item, sums);
  }
}

/* Adds up the tiles that several warps shared, in a fixed order. */
template <typename Real>
static __global__ void __launch_bounds__(256) add_slots(const __grid_constant__ WstackingPlane p)
{
  typedef typename WstackingComplex<Real>::Type Value;
  enum { CELLS = WSTACKING_TILE * WSTACKING_TILE };
  for (guint number = blockIdx.x; number < p.plan.counts->heavy; number += gridDim.x) {
    const WstackingHeavy heavy = p.plan.heavy[number];
    const guint row = heavy.tile / p.tiles, channel = row / p.tiles;
    const guint u = (heavy.tile - row * p.tiles) * WSTACKING_TILE + threadIdx.x % WSTACKING_TILE;
    const guint v = (row - channel * p.tiles) * WSTACKING_TILE + threadIdx.x / WSTACKING_TILE;
    for (guint product = blockIdx.y; product < p.products; product += gridDim.y) {
      const Value *from = (const Value *)p.plan.slots +
                          ((gsize)heavy.slot * p.products + product) * CELLS + threadIdx.x;
      Value sum = from[0];
#pragma unroll 4
      for (guint i = 1; i < heavy.slots; i++) {
        const Value other = from[(gsize)i * p.products * CELLS];
        sum.x += other.x;
        sum.y += other.y;
      }
      if (u < p.size && v < p.size)
        ((Value *)p.grid)[(((gsize)channel * p.products + product) * p.size + v) * p.size + u] =
            sum;
    }
  }
}

typedef void (*WstackingKernel)(WstackingPlane);

/* As many blocks as run at once; they take items until there are none left. */
template <typename Real>
static gboolean launch(const WstackingPlane *plane, WstackingKernel kernel, guint multiprocessors,
                       cudaStream_t stream, GError **error)
{
  int blocks;
  if (!CUDA_TRY(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, (const void *)kernel,
                                                              WARPS * LANES, 0)))
    return FALSE;
  kernel<<<multiprocessors *(guint)MAX(blocks, 1), WARPS * LANES, 0, stream>>>(*plane);
  add_slots<Real><<<dim3(2 * multiprocessors, plane->products), 256, 0, stream>>>(*plane);
  return CUDA_TRY(cudaGetLastError());
}
