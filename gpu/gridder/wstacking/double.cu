/* Tiles in double precision. */
#include "gpu/gridder/wstacking/taps.h"
#include "gpu/gridder/wstacking/tile.h"

struct DoubleMatrix {
  typedef DoubleTaps Taps;
  enum { DEPTH = 4 };

  static __device__ __forceinline__ void multiply(double (&d)[2], double a, double b)
  {
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a), "d"(b));
  }

  template <bool WIDE, int PRODUCTS>
  static __device__ __forceinline__ void add(const Taps &taps, const Ring<double, PRODUCTS> &ring,
                                             guint at, Sums<double, PRODUCTS> &sums)
  {
    const guint lane = threadIdx.x % LANES;
    const auto &visit = ring.visits[at + lane % 4];
    double low[2], high[2];
    taps_at<WIDE>(taps, visit.inside, visit.cell, (gint)(lane / 4), low, high);
#pragma unroll
    for (int product = 0; product < PRODUCTS; product++) {
      const double2 value = ring.values[product][at + lane % 4];
#pragma unroll
      for (int half = 0; half < 2; half++)
#pragma unroll
        for (int part = 0; part < 2; part++) {
          const double b = (half ? high[0] : low[0]) * (part ? value.y : value.x);
          multiply(sums.cells[product][half][part][0], low[1], b);
          multiply(sums.cells[product][half][part][1], high[1], b);
        }
    }
  }
};

template <int PRODUCTS, bool WIDE>
static __global__ void __launch_bounds__(WARPS *LANES)
    spread(const __grid_constant__ WstackingPlane p)
{
  __shared__ Ring<double, PRODUCTS> rings[WARPS];
  __shared__ double powers[ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX];
  for (guint i = threadIdx.x; i < ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX; i += WARPS * LANES)
    powers[i] = p.powers[i];
  __syncthreads();
  const DoubleTaps taps = { powers, (gint)p.degree };
  sum_items<DoubleMatrix, double, PRODUCTS, WIDE>(p, taps, &rings[threadIdx.x / LANES]);
}

gboolean astro_wstacking_spread_double(const WstackingPlane *plane, guint multiprocessors,
                                       cudaStream_t stream, GError **error)
{
  static const WstackingKernel kernels[][2] = {
    { spread<1, false>, spread<1, true> }, { spread<2, false>, spread<2, true> },
    { spread<3, false>, spread<3, true> }, { spread<4, false>, spread<4, true> },
    { spread<5, false>, spread<5, true> },
  };
  return launch<double>(plane, kernels[plane->products - 1][plane->support > 8], multiprocessors,
                        stream, error);
}
