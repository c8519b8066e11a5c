/* The kernel that collects visibilities from a plane, in either precision. Each including file says
 * which taps it has. */
#pragma once

#include "gpu/gridder/degrid/degrid.h"
#include "gpu/gridder/wstacking/taps.h"

enum {
  WARPS = 4,
  LANES = 32,
  BATCH = 64, /* visibilities that a warp looks through: those that reach the plane are near */
};

/* Lists those visibilities of a warp's batch that reach the plane; returns how many. */
static __device__ __forceinline__ guint list_reaching(const DegridPlane &p, guint64 from,
                                                      guint32 *list)
{
  const guint lane = threadIdx.x % LANES;
  guint n = 0;
#pragma unroll
  for (guint k = 0; k < BATCH; k += LANES) {
    const guint64 i = from + k + lane;
    const guint first = i < p.sorted.n ? p.sorted.planes[i] : G_MAXUINT16;
    const bool reaches = first <= p.plane && p.plane < first + p.support;
    const guint32 reaching = __ballot_sync(~0u, reaches);
    if (reaches)
      list[n + __popc(reaching & ((1u << lane) - 1))] = (guint32)i;
    n += __popc(reaching);
  }
  __syncwarp();
  return n;
}

/* The sum over the lanes that share a visibility, in all of them. */
template <int SHARE, typename Real> static __device__ __forceinline__ Real add_lanes(Real sum)
{
#pragma unroll
  for (int apart = SHARE / 2; apart > 0; apart /= 2)
    sum += __shfl_xor_sync(~0u, sum, apart);
  return sum;
}

/* All lanes call it; those of a visibility that is not there read what another one reads. */
template <int SUPPORT, typename Real, typename Taps>
static __device__ __forceinline__ void collect_one(const DegridPlane &p, const Taps &taps,
                                                   guint32 number, bool is_there)
{
  typedef typename WstackingComplex<Real>::Type Value;
  constexpr int SHARE = SUPPORT <= 8 ? 8 : 16;
  const guint l = threadIdx.x % SHARE;
  const auto place = ((const WstackingPlace<Real> *)p.sorted.places)[number];
  const guint32 bin = p.sorted.bins[number], row = p.side.divide(bin);
  const guint u = (bin - row * p.side.by) * WSTACKING_BIN + place.cells % WSTACKING_BIN,
              v = row * WSTACKING_BIN + (place.cells >> 3) % WSTACKING_BIN;
  const guint tap = (p.plane - (place.cells >> 6)) % WSTACKING_PLANES;
  const Real across = taps.at(place.u, (gint)l), along = taps.at(place.v, (gint)l),
             w = p.is_flat ? 1 : taps.at(place.w, (gint)tap);
  const Real re = w * (Real)p.phase_factor[0], im = w * (Real)p.phase_factor[1];
  const Value *cells = (const Value *)p.cells + (gsize)v * p.size + u + l;
  Value mine = {};

  for (guint product = 0; product < p.n_here; product++, cells += (gsize)p.size * p.size) {
    Value there[SUPPORT], sum = {};
#pragma unroll
    for (int r = 0; r < SUPPORT; r++)
      there[r] = l < SUPPORT ? cells[(gsize)r * p.size] : Value{};
#pragma unroll
    for (int r = 0; r < SUPPORT; r++) {
      const Real factor = __shfl_sync(~0u, along, r, SHARE);
      sum.x += factor * there[r].x;
      sum.y += factor * there[r].y;
    }
    sum.x = add_lanes<SHARE>(across * sum.x);
    sum.y = add_lanes<SHARE>(across * sum.y);
    if (l == product)
      mine = sum;
  }
  if (is_there && l < p.n_here) {
    Value *value = (Value *)p.sorted.values + (gsize)number * p.products + p.first + l;
    Value before = *value;
    before.x += mine.x * re - mine.y * im;
    before.y += mine.x * im + mine.y * re;
    *value = before;
  }
}

template <int SUPPORT, typename Real, typename Taps>
static __device__ __forceinline__ void collect_batch(const DegridPlane &p, const Taps &taps)
{
  constexpr guint TOGETHER = LANES / (SUPPORT <= 8 ? 8 : 16);
  __shared__ guint32 lists[WARPS][BATCH];
  guint32 *list = lists[threadIdx.x / LANES];
  const guint64 warp = (guint64)blockIdx.x * WARPS + threadIdx.x / LANES;
  const guint n = list_reaching(p, warp * BATCH, list);
  const guint share = threadIdx.x % LANES / (LANES / TOGETHER);

  for (guint i = 0; i < n; i += TOGETHER)
    collect_one<SUPPORT, Real>(p, taps, list[min(i + share, n - 1)], i + share < n);
}

typedef void (*DegridKernel)(DegridPlane);

static_assert(ASTRO_SEMICIRCLE_MIN == 4 && ASTRO_SEMICIRCLE_MAX == 16);
#define DEGRID_KERNELS(kernel)                                                                     \
  {                                                                                                \
    kernel<4>, kernel<5>, kernel<6>, kernel<7>, kernel<8>, kernel<9>, kernel<10>, kernel<11>,      \
        kernel<12>, kernel<13>, kernel<14>, kernel<15>, kernel<16>                                 \
  }

static inline gboolean launch(const DegridPlane *plane, DegridKernel kernel, cudaStream_t stream,
                              GError **error)
{
  const guint blocks = (guint)(((guint64)plane->sorted.n + WARPS * BATCH - 1) / (WARPS * BATCH));
  kernel<<<blocks, WARPS * LANES, 0, stream>>>(*plane);
  return CUDA_TRY(cudaGetLastError());
}
