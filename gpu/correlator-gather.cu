/* Preparing samples for the correlator: any order of axes to inputs with time contiguous, losses to zeros,
 * four bits to eight, single precision to two halves. */
#include "gpu/correlator.h"

#include <cuda_fp16.h>

enum { TILE = 32 /* lines of a warp's tile */, TIME = 64, THREADS = 256, WARPS = THREADS / 32 };

/* A line is an input of a channel; lines are numbered so that neighbours lie side by side in the source. */
struct Lines {
  CorrelatorGather gather;
  AstroDivisor fast; /* extent of the axis that neighbours differ in */
  gboolean by_channel;
  guint32 n;
};

struct Line {
  guint32 channel, station, pol;
};

__device__ inline Line line_of(const Lines &lines, guint32 number)
{
  guint32 slow = lines.fast.divide(number), fast = number - slow * lines.fast.by;
  guint32 channel = lines.by_channel ? fast : slow, input = lines.by_channel ? slow : fast;
  bool two = lines.gather.pols == 2;
  return { channel, two ? input / 2 : input, two ? input & 1 : 0 };
}

__device__ inline const guint8 *source_of(const CorrelatorGather &g, const Line &line)
{
  return g.from + line.channel * g.strides.channel + line.station * g.strides.station + line.pol * g.strides.pol;
}

__device__ inline guint8 *target_of(const CorrelatorGather &g, const Line &line)
{
  return g.to + line.channel * g.to_channel + (line.station * g.pols + line.pol) * g.to_row;
}

__device__ inline bool is_good(const CorrelatorGather &g, const Line &line, guint32 step)
{
  return !g.valid || g.valid[step * g.valid_time + line.channel * g.valid_channel + line.station * g.valid_station];
}

__device__ inline guint16 widen(guint8 sample)
{
  guint32 re = (guint8)((gint8)sample >> 4), im = (guint8)((gint8)(guint8)(sample << 4) >> 4);
  return (guint16)(re | im << 8);
}
template <typename T> __device__ inline T widen(T sample) { return sample; }

template <typename In, typename Out>
__global__ void __launch_bounds__(THREADS) gather_turned(const __grid_constant__ Lines lines)
{
  __shared__ Out tile[TIME][TILE + 1];
  const CorrelatorGather &g = lines.gather;
  const guint32 lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const guint32 first_line = blockIdx.x * TILE;
  const Line mine = line_of(lines, MIN(first_line + lane, lines.n - 1));
  const guint8 *from = source_of(g, mine);

  for (guint32 first = blockIdx.y * TIME; first < g.count; first += gridDim.y * TIME) {
#pragma unroll
    for (int i = 0; i < TIME / WARPS; i++) {
      guint32 row = i * WARPS + warp, step = first + row;
      Out sample = {};
      if (step < g.count && is_good(g, mine, step))
        sample = widen(*(const In *)(from + step * g.strides.time));
      tile[row][lane] = sample;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < TILE / WARPS; i++) {
      guint32 column = i * WARPS + warp;
      if (first_line + column >= lines.n)
        break;
      Out *to = (Out *)target_of(g, line_of(lines, first_line + column)) + first;
#pragma unroll
      for (guint32 step = lane; step < TIME; step += 32)
        if (first + step < g.count)
          to[step] = tile[step][column];
    }
    __syncthreads();
  }
}

/* Time is contiguous already. */
template <typename In, typename Out>
__global__ void __launch_bounds__(THREADS) gather_straight(const __grid_constant__ Lines lines)
{
  const CorrelatorGather &g = lines.gather;
  const Line line = line_of(lines, blockIdx.x);
  const In *from = (const In *)source_of(g, line);
  Out *to = (Out *)target_of(g, line);
  for (guint32 step = threadIdx.x; step < g.count; step += THREADS) {
    Out sample = {};
    if (is_good(g, line, step))
      sample = widen(from[step]);
    to[step] = sample;
  }
}

/* Four samples of four bits to eight bits. */
__device__ inline uint2 widen_four(guint32 word)
{
  guint32 re = word >> 4 & 0x0f0f0f0f, im = word & 0x0f0f0f0f;
  re |= (re & 0x08080808) * 0x1e;
  im |= (im & 0x08080808) * 0x1e;
  return make_uint2(__byte_perm(re, im, 0x5140), __byte_perm(re, im, 0x7362));
}

/* The same for rows that lie well, nothing lost. */
__global__ void __launch_bounds__(THREADS) widen_straight(const __grid_constant__ Lines lines)
{
  const CorrelatorGather &g = lines.gather;
  const Line line = line_of(lines, blockIdx.x);
  const uint2 *from = (const uint2 *)source_of(g, line);
  uint4 *to = (uint4 *)target_of(g, line);
  for (guint32 i = threadIdx.x; i < g.count / 8; i += THREADS) {
    uint2 in = from[i], a = widen_four(in.x), b = widen_four(in.y);
    to[i] = make_uint4(a.x, a.y, b.x, b.y);
  }
  guint32 rest = g.count / 8 * 8 + threadIdx.x;
  if (rest < g.count)
    ((guint16 *)to)[rest] = widen(((const guint8 *)from)[rest]);
}

static gboolean widens_straight(const CorrelatorGather *g)
{
  const AstroCorrelatorStrides *s = &g->strides;
  return g->format == ASTRO_FORMAT_CI4 && !g->valid && (guintptr)g->from % 8 == 0 && s->channel % 8 == 0 &&
         s->station % 8 == 0 && s->pol % 8 == 0 && (guintptr)g->to % 16 == 0;
}

template <typename In, typename Out> static void launch(const Lines &lines, gboolean straight, cudaStream_t stream)
{
  if (straight && widens_straight(&lines.gather)) {
    widen_straight<<<lines.n, THREADS, 0, stream>>>(lines);
    return;
  }
  if (straight) {
    gather_straight<In, Out><<<lines.n, THREADS, 0, stream>>>(lines);
    return;
  }
  dim3 grid((lines.n + TILE - 1) / TILE, MIN((lines.gather.count + TIME - 1) / TIME, 65535u));
  gather_turned<In, Out><<<grid, THREADS, 0, stream>>>(lines);
}

gboolean astro_correlator_gather_on_device(const CorrelatorGather *gather, cudaStream_t stream, GError **error)
{
  static const struct {
    AstroFormat format;
    void (*launch)(const Lines &lines, gboolean straight, cudaStream_t stream);
  } kernels[] = {
    { ASTRO_FORMAT_CI4, launch<guint8, guint16> },      { ASTRO_FORMAT_CI8, launch<guint16, guint16> },
    { ASTRO_FORMAT_CI16LE, launch<guint32, guint32> },  { ASTRO_FORMAT_CF16LE, launch<guint32, guint32> },
    { ASTRO_FORMAT_CF32LE, launch<uint2, uint2> },
  };
  const AstroCorrelatorStrides *s = &gather->strides;
  gsize bytes = astro_format_info(gather->format)->bytes;
  guint32 inputs = gather->stations * gather->pols, k = 0;
  gboolean straight = s->time == bytes;
  Lines lines = { *gather };

  if (gather->count == 0)
    return TRUE;
  lines.by_channel = !straight && gather->channels > 1 && s->channel == bytes;
  lines.fast = AstroDivisor(lines.by_channel ? gather->channels : inputs);
  lines.n = inputs * gather->channels;
  while (kernels[k].format != gather->format)
    k++;
  kernels[k].launch(lines, straight, stream);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- single precision in halves ---- */

/* Samples are scaled so that the largest component is just below 2^15: its square and any sum of two fit, and
 * what the second half loses of the smallest ones is beyond single precision of the largest. */
__global__ void __launch_bounds__(THREADS)
    split(const __grid_constant__ CorrelatorOperand in, guint8 *planes, guint64 row, guint64 plane, double *scales,
          guint32 inputs)
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

gboolean astro_correlator_split(const CorrelatorOperand *in, guint8 *planes, guint64 row, guint64 plane,
                                double *scales, guint32 inputs, guint32 channels, cudaStream_t stream,
                                GError **error)
{
  split<<<inputs * channels, THREADS, 0, stream>>>(*in, planes, row, plane, scales, inputs);
  return CUDA_TRY(cudaGetLastError());
}
