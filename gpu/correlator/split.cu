/* Splits single precision into halves, for tensor cores. */
#include "gpu/correlator/correlator.h"

#include <cuda_fp16.h>

enum { THREADS = 256 };

/* Samples are scaled so that the largest component is just below 2^15: its square and any sum of
 * two fit, and the part of the smallest samples that the second half loses is below single
 * precision of the largest. */
__global__ void __launch_bounds__(THREADS)
    split(const __grid_constant__ CorrelatorOperand in, guint8 *planes, guint64 row, guint64 plane,
          double *scales, guint32 inputs)
{
  const guint32 input = blockIdx.x % inputs, channel = blockIdx.x / inputs;
  const float2 *from = (const float2 *)(in.data + channel * in.channel + input * in.row);
  __shared__ guint32 greatest;
  guint32 bits = 0;

  if (threadIdx.x == 0)
    greatest = 0;
  __syncthreads();
  for (guint32 step = threadIdx.x; step < in.steps; step += THREADS) {
    float2 sample = from[step];
    bits = max(bits, max(__float_as_uint(fabsf(sample.x)), __float_as_uint(fabsf(sample.y))));
  }
  bits = __reduce_max_sync(0xffffffff, bits);
  if (threadIdx.x % 32 == 0)
    atomicMax(&greatest, bits);
  __syncthreads();
  int exponent = 0;
  float largest = __uint_as_float(greatest);
  if (largest > 0 && isfinite(largest))
    frexpf(largest, &exponent);
  if (threadIdx.x == 0)
    scales[blockIdx.x] = ldexp(1.0, exponent - 15);
  guint8 *to = planes + ((guint64)channel * inputs + input) * row;
  __half2 *low = (__half2 *)to, *high = (__half2 *)(to + plane);
  for (guint32 step = threadIdx.x; step < in.steps; step += THREADS) {
    float2 sample = from[step];
    float re = ldexpf(sample.x, 15 - exponent), im = ldexpf(sample.y, 15 - exponent);
    __half re_high = __float2half_rn(re), im_high = __float2half_rn(im);
    high[step] = __halves2half2(re_high, im_high);
    low[step] = __halves2half2(__float2half_rn(re - __half2float(re_high)),
                               __float2half_rn(im - __half2float(im_high)));
  }
}

gboolean astro_correlator_split(const CorrelatorOperand *in, guint8 *planes, guint64 row,
                                guint64 plane, double *scales, guint32 inputs, guint32 channels,
                                cudaStream_t stream, GError **error)
{
  split<<<inputs * channels, THREADS, 0, stream>>>(*in, planes, row, plane, scales, inputs);
  return CUDA_TRY(cudaGetLastError());
}
