/* Tiles in single precision. Each number is a sum of two TF32 numbers, and each product of three,
 * which gives 22 bits. */
#include "gpu/gridder/wstacking/taps.h"
#include "gpu/gridder/wstacking/tile.h"

/* A number as the sum of two TF32 numbers, exact to 2^-22 of it. */
struct Split {
  guint32 high, low;

  __device__ __forceinline__ explicit Split(float value)
  {
#if __CUDA_ARCH__ >= 900
    asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(high) : "f"(value));
#else
    high = (__float_as_uint(value) + 0x1000) & 0xffffe000;
#endif
    low = __float_as_uint(value - __uint_as_float(high));
  }
};

struct SingleMatrix {
  typedef SingleTaps Taps;
  enum { DEPTH = 8 };

  static __device__ __forceinline__ void multiply(float (&d)[4], const guint32 (&a)[4],
                                                  const guint32 (&b)[2])
  {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }

  /* Tensor cores truncate sums, so that only so many visibilities are added by them. */
  template <bool WIDE, int PRODUCTS>
  static __device__ __forceinline__ void add(const Taps &taps, const Ring<float, PRODUCTS> &ring,
                                             guint at, Sums<float, PRODUCTS> &sums)
  {
    const guint lane = threadIdx.x % LANES, g = lane / 4, t = lane % 4;
    float u[2][2]; /* visibility, half */
    guint32 high[4], low[4];
#pragma unroll
    for (int i = 0; i < 2; i++) {
      const auto visit = ring.visits[at + t + 4 * i];
      float left[2], right[2];
      taps_at<WIDE>(taps, visit.inside, visit.cell, (gint)g, left, right);
      u[i][0] = left[0];
      u[i][1] = right[0];
      const Split top(left[1]), bottom(right[1]);
      high[2 * i] = top.high;
      high[2 * i + 1] = bottom.high;
      low[2 * i] = top.low;
      low[2 * i + 1] = bottom.low;
    }
#pragma unroll
    for (int product = 0; product < PRODUCTS; product++) {
      const float2 first = ring.values[product][at + t], second = ring.values[product][at + t + 4];
      guint32 b_high[4][2], b_low[4][2];
      float d[4][4] = {};
#pragma unroll
      for (int i = 0; i < 4; i++) {
        const int half = i / 2, part = i % 2;
        const Split b0(u[0][half] * (part ? first.y : first.x)),
            b1(u[1][half] * (part ? second.y : second.x));
        b_high[i][0] = b0.high;
        b_high[i][1] = b1.high;
        b_low[i][0] = b0.low;
        b_low[i][1] = b1.low;
      }
      /* Side by side, since each takes long. */
#pragma unroll
      for (int i = 0; i < 4; i++)
        multiply(d[i], low, b_high[i]);
#pragma unroll
      for (int i = 0; i < 4; i++)
        multiply(d[i], high, b_low[i]);
#pragma unroll
      for (int i = 0; i < 4; i++)
        multiply(d[i], high, b_high[i]);
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int k = 0; k < 4; k++)
          sums.cells[product][i / 2][i % 2][k / 2][k % 2] += d[i][k];
    }
  }
};

/* Blocks that can run at once without spilling registers. */
static constexpr int blocks_of(int products)
{
  return products == 1 ? 7 : products == 2 ? 5 : 4;
}

template <int PRODUCTS, bool WIDE>
static __global__ void __launch_bounds__(WARPS *LANES, blocks_of(PRODUCTS))
    spread(const __grid_constant__ WstackingPlane p)
{
  __shared__ Ring<float, PRODUCTS> rings[WARPS];
  const SingleTaps taps(p.support, p.beta);
  sum_items<SingleMatrix, float, PRODUCTS, WIDE>(p, taps, &rings[threadIdx.x / LANES]);
}

gboolean astro_wstacking_spread_single(const WstackingPlane *plane, guint multiprocessors,
                                       cudaStream_t stream, GError **error)
{
  static const WstackingKernel kernels[][2] = {
    { spread<1, false>, spread<1, true> }, { spread<2, false>, spread<2, true> },
    { spread<3, false>, spread<3, true> }, { spread<4, false>, spread<4, true> },
    { spread<5, false>, spread<5, true> },
  };
  return launch<float>(plane, kernels[plane->products - 1][plane->support > 8], multiprocessors,
                       stream, error);
}
