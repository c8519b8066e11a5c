/* Weights times phases, cut into parts for tensor cores: see beamform.h. */
#include "gpu/beamform/beamform.h"
#include "gpu/runtime/phasor.h"

#include <cuda_fp16.h>

enum { THREADS = 256, WARPS = THREADS / 32, MOST_Y = 65535 };

/* 2^n with the channel's largest weight between 2^(n - 1) and 2^n, so that halves hold all. */
__device__ inline float norm_of(const BeamformJob &job, guint32 channel)
{
  __shared__ float largest[WARPS];
  if (!job.weights)
    return 1;
  float most = 0;
  for (guint32 i = threadIdx.x; i < job.stations; i += THREADS) {
    const float2 weight = beamform_weight(job, channel, i);
    most = fmaxf(most, fmaxf(fabsf(weight.x), fabsf(weight.y)));
  }
  for (int other = 16; other; other /= 2)
    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, other));
  __syncthreads();
  if (threadIdx.x % 32 == 0)
    largest[threadIdx.x / 32] = most;
  __syncthreads();
  for (int i = 0; i < WARPS; i++)
    most = fmaxf(most, largest[i]);
  if (!(most > 0) || !isfinite(most))
    return 1;
  return scalbnf(1, min(max(ilogbf(most) + 1, -125), 126));
}

__device__ inline float2 weight_at(const BeamformJob &job, guint32 interval, guint32 channel,
                                   guint32 beam, guint32 station, float norm)
{
  if (beam >= job.beams || station >= job.stations)
    return make_float2(0, 0);
  const double *offset = job.offsets + 3 * ((guint64)interval * job.beams + beam),
               *at = job.seconds + 3 * (guint64)station;
  const double tau = at[0] * offset[0] + at[1] * offset[1] + at[2] * offset[2];
  const float2 weight =
      product(beamform_weight(job, channel, station),
              turn_by(-(job.first_frequency + channel * job.channel_width) * tau));
  return make_float2(weight.x / norm, weight.y / norm);
}

/* Takes the next part of both numbers: the real part in the low bits, the negative imaginary part
 * in the high ones. */
template <bool BRAIN> __device__ inline guint32 take_part(float2 *rest)
{
  if constexpr (BRAIN) {
    const guint32 re = __float_as_uint(rest->x) & 0xffff0000,
                  im = __float_as_uint(rest->y) & 0xffff0000;
    rest->x -= __uint_as_float(re);
    rest->y -= __uint_as_float(im);
    return re >> 16 | (im ^ 0x80000000);
  } else {
    const __half re = __float2half_rn(rest->x), im = __float2half_rn(rest->y);
    rest->x -= __half2float(re);
    rest->y -= __half2float(im);
    return __half_as_ushort(re) | (__half_as_ushort(im) ^ 0x8000u) << 16;
  }
}

/* Blocks along x: 8 beams; y: intervals and channels. A warp makes 8 stations at a time. */
template <bool BRAIN, int PARTS>
__global__ void __launch_bounds__(THREADS) weigh(const __grid_constant__ BeamformJob job)
{
  const BeamformWeights &made = job.made;
  const guint32 lane = threadIdx.x % 32, beam = blockIdx.x * BEAMFORM_TILE + lane / 4;
  for (guint64 item = blockIdx.y; item < (guint64)made.intervals * made.channels;
       item += gridDim.y) {
    const guint32 interval = made.first_interval + (guint32)(item / made.channels),
                  channel = made.first_channel + (guint32)(item % made.channels);
    const float norm = norm_of(job, channel);
    if (blockIdx.x == 0 && threadIdx.x == 0)
      made.norms[item] = norm;
    for (guint32 tile = threadIdx.x / 32; tile < made.station_tiles; tile += WARPS) {
      const guint32 station = tile * BEAMFORM_TILE + lane % 4;
      float2 low = weight_at(job, interval, channel, beam, station, norm),
             high = weight_at(job, interval, channel, beam, station + 4, norm);
      uint2 *to = made.words +
                  ((item * made.beam_tiles + blockIdx.x) * made.station_tiles + tile) * PARTS *
                      BEAMFORM_LANES +
                  lane;
#pragma unroll
      for (int part = 0; part < PARTS; part++)
        to[part * BEAMFORM_LANES] = make_uint2(take_part<BRAIN>(&low), take_part<BRAIN>(&high));
    }
  }
}

guint32 astro_beamform_parts(AstroFormat format)
{
  return format == ASTRO_FORMAT_CF32LE ? 3 : 2;
}

gboolean astro_beamform_weigh(const BeamformJob *job, cudaStream_t stream, GError **error)
{
  const guint64 items = (guint64)job->made.intervals * job->made.channels;
  const dim3 grid(job->made.beam_tiles, (unsigned)MIN(items, (guint64)MOST_Y));
  if (job->made.parts == 3)
    weigh<true, 3><<<grid, THREADS, 0, stream>>>(*job);
  else
    weigh<false, 2><<<grid, THREADS, 0, stream>>>(*job);
  return CUDA_TRY(cudaGetLastError());
}
