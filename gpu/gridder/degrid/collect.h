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

/* Adds up N values, each over the lanes that share a visibility (2 APART of them): lanes exchange
 * halves of what they have until there is one value each. Lane l of SHARE has number l N / SHARE.
 */
template <int N, int APART, typename Real>
static __device__ __forceinline__ Real add_lanes(const Real (&values)[N])
{
  constexpr int LEFT = N > 1 ? N / 2 : 1;
  const bool is_upper = threadIdx.x & APART;
  Real sums[LEFT];
#pragma unroll
  for (int k = 0; k < LEFT; k++) {
    const Real mine = N > 1 && is_upper ? values[k + N / 2] : values[k];
    const Real others = N > 1 && !is_upper ? values[k + N / 2] : values[k];
    sums[k] = mine + __shfl_xor_sync(~0u, others, APART);
  }
  if constexpr (APART > 1)
    return add_lanes<LEFT, APART / 2>(sums);
  else
    return sums[0];
}

/* All lanes call it; those of a visibility that is not there read what another one reads. */
template <int SUPPORT, int PRODUCTS, typename Real, typename Taps>
static __device__ __forceinline__ void collect_one(const DegridPlane &p, const Taps &taps,
                                                   guint32 number, bool is_there)
{
  typedef typename WstackingComplex<Real>::Type Value;
  constexpr int SHARE = SUPPORT <= 8 ? 8 : 16, VALUES = 2 * PRODUCTS, EACH = SHARE / VALUES;
  const guint l = threadIdx.x % SHARE;
  const auto place = ((const WstackingPlace<Real> *)p.sorted.places)[number];
  const guint32 bin = p.sorted.bins[number], row = p.side.divide(bin);
  const guint u = (bin - row * p.side.by) * WSTACKING_BIN + place.cells % WSTACKING_BIN,
              v = row * WSTACKING_BIN + (place.cells >> 3) % WSTACKING_BIN;
  const guint tap = (p.plane - (place.cells >> 6)) % WSTACKING_PLANES;
  const Real across = taps.at(place.u, (gint)l), along = taps.at(place.v, (gint)l),
             w = p.is_flat ? 1 : taps.at(place.w, (gint)tap);
  const Value *cells = (const Value *)p.cells + (gsize)v * p.size + u + l;
  Real factors[SUPPORT], sums[VALUES];

#pragma unroll
  for (int r = 0; r < SUPPORT; r++)
    factors[r] = __shfl_sync(~0u, along, r, SHARE);
#pragma unroll
  for (int product = 0; product < PRODUCTS; product++, cells += (gsize)p.size * p.size) {
    const bool is_read = l < SUPPORT && product < p.n_here;
    Value there[SUPPORT], sum = {};
#pragma unroll
    for (int r = 0; r < SUPPORT; r++)
      there[r] = is_read ? cells[(gsize)r * p.size] : Value{};
#pragma unroll
    for (int r = 0; r < SUPPORT; r++) {
      sum.x += factors[r] * there[r].x;
      sum.y += factors[r] * there[r].y;
    }
    sums[2 * product] = across * sum.x;
    sums[2 * product + 1] = across * sum.y;
  }
  const Real mine = add_lanes<VALUES, SHARE / 2>(sums),
             other = __shfl_xor_sync(~0u, mine, EACH); /* the other part of the same product */
  const guint at = l / EACH, part = at % 2;
  const Real re = w * (Real)p.phase_factor[0], im = w * (Real)p.phase_factor[1];
  if (is_there && l % EACH == 0 && at < 2 * p.n_here)
    ((Real *)p.sorted.values)[2 * ((gsize)number * p.products + p.first) + at] +=
        mine * re + (part ? other : -other) * im;
}

template <int SUPPORT, int PRODUCTS, typename Real, typename Taps>
static __device__ __forceinline__ void collect_batch(const DegridPlane &p, const Taps &taps)
{
  constexpr guint TOGETHER = LANES / (SUPPORT <= 8 ? 8 : 16);
  __shared__ guint32 lists[WARPS][BATCH];
  guint32 *list = lists[threadIdx.x / LANES];
  const guint64 warp = (guint64)blockIdx.x * WARPS + threadIdx.x / LANES;
  const guint n = list_reaching(p, warp * BATCH, list);
  const guint share = threadIdx.x % LANES / (LANES / TOGETHER);

  for (guint i = 0; i < n; i += TOGETHER)
    collect_one<SUPPORT, PRODUCTS, Real>(p, taps, list[min(i + share, n - 1)], i + share < n);
}

typedef void (*DegridKernel)(DegridPlane);

/* Kernels for 1, for 2 and for up to 4 products. */
static_assert(ASTRO_SEMICIRCLE_MIN == 4 && ASTRO_SEMICIRCLE_MAX == 16 && DEGRID_MOST_TOGETHER == 4);
#define DEGRID_PRODUCTS(kernel, support)                                                           \
  {                                                                                                \
    kernel<support, 1>, kernel<support, 2>, kernel<support, 4>                                     \
  }
#define DEGRID_KERNELS(kernel)                                                                     \
  {                                                                                                \
    DEGRID_PRODUCTS(kernel, 4), DEGRID_PRODUCTS(kernel, 5), DEGRID_PRODUCTS(kernel, 6),            \
        DEGRID_PRODUCTS(kernel, 7), DEGRID_PRODUCTS(kernel, 8), DEGRID_PRODUCTS(kernel, 9),        \
        DEGRID_PRODUCTS(kernel, 10), DEGRID_PRODUCTS(kernel, 11), DEGRID_PRODUCTS(kernel, 12),     \
        DEGRID_PRODUCTS(kernel, 13), DEGRID_PRODUCTS(kernel, 14), DEGRID_PRODUCTS(kernel, 15),     \
        DEGRID_PRODUCTS(kernel, 16)                                                                \
  }

static inline gboolean launch(const DegridPlane *plane, const DegridKernel (*kernels)[3],
                              cudaStream_t stream, GError **error)
{
  const DegridKernel kernel =
      kernels[plane->support - ASTRO_SEMICIRCLE_MIN][plane->n_here > 2 ? 2 : plane->n_here - 1];
  const guint blocks = (guint)(((guint64)plane->sorted.n + WARPS * BATCH - 1) / (WARPS * BATCH));
  kernel<<<blocks, WARPS * LANES, 0, stream>>>(*plane);
  return CUDA_TRY(cudaGetLastError());
}
