/* The passes of bytes.cu's transforms, from points to points. Each leaves its results where it
 * found its points: bin k of a whole transform is in block k % first, run k / first % middle. */
#pragma once

#include "gpu/channelizer/bytes-shape.h"
#include "gpu/lib/fft/turned.h"

template <int R> constexpr bool is_power = (R & (R - 1)) == 0;

/* Where bin `number` is after these transforms. */
template <int R> __device__ constexpr int bin_place(int number)
{
  return is_power<R> ? fft_reversed<R>(number) : fft_place<R>(number);
}

template <int R> __device__ inline void transform(float2 (&v)[R])
{
  if constexpr (is_power<R>)
    fft_inside(v);
  else
    fft<R>(v);
}

/* How many twiddles transform_rotated<R> takes for each of `before` rotations. */
__host__ __device__ constexpr guint32 bytes_twiddles(guint32 radix)
{
  return (radix & (radix - 1)) == 0 && radix >= 4 ? radix / 2 : 4;
}

/* The same for points that first rotate by w^0, w^1, ..., w = exp(-2 pi i k / (before R)). */
template <int R>
__device__ inline void transform_rotated(const float2 *powers, guint32 k, guint32 before,
                                         float2 (&v)[R])
{
  if constexpr (is_power<R> && R >= 4) {
    float2 twiddles[R / 2];
#pragma unroll
    for (int i = 0; i < R / 2; i += 2) {
      const float4 two = ((const float4 *)powers)[i / 2 * before + k];
      twiddles[i] = make_float2(two.x, two.y);
      twiddles[i + 1] = make_float2(two.z, two.w);
    }
    fft_turned(v, twiddles);
  } else {
    float2 of_w[4];
#pragma unroll
    for (int p = 0; (1 << p) < R; p++)
      of_w[p] = powers[p * before + k];
    fft_twiddle<R>(v, of_w);
    transform(v);
  }
}

template <int R, typename Shape>
__device__ inline void pass_first(const Shape &shape, float2 *points)
{
  const guint32 units = shape.groups * shape.together * shape.after;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < units; unit += shape.threads) {
    const guint32 spectrum = shape.over_after(unit), j = unit - spectrum * shape.after;
    const guint32 gaps = shape.middle == 1 ? 0 : shape.over_last(j) * (shape.pitch - shape.last);
    float2 *own = points + spectrum * shape.row + j + gaps, v[R];
#pragma unroll
    for (int r = 0; r < R; r++)
      v[r] = own[r * shape.block];
    transform(v);
#pragma unroll
    for (int r = 0; r < R; r++)
      own[r * shape.block] = v[bin_place<R>(r)];
  }
}

template <int R, typename Shape>
__device__ inline void pass_middle(const float2 *powers, const Shape &shape, float2 *points)
{
  const guint32 units = shape.groups * shape.together * shape.first * shape.last;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < units; unit += shape.threads) {
    const guint32 block = shape.over_last(unit), j = unit - block * shape.last;
    const guint32 spectrum = shape.over_first(block), k = block - spectrum * shape.first;
    float2 *own = points + spectrum * shape.row + k * shape.block + j, v[R];
#pragma unroll
    for (int r = 0; r < R; r++)
      v[r] = own[r * shape.pitch];
    transform_rotated<R>(powers, k, shape.first, v);
#pragma unroll
    for (int r = 0; r < R; r++)
      own[r * shape.pitch] = v[bin_place<R>(r)];
  }
}
