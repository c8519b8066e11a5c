/* Filter, transform and format conversion in one kernel, so that samples are read once and channels
 * written once. A block makes 4096 points' worth of spectra of one input. First, each thread
 * filters two points of four spectra at a time, which share the conversion of samples and the
 * weights. Then each thread transforms 16 points at a time, which are exchanged through shared
 * memory. */
#include "gpu/channelizer/channelizer.h"
#include "gpu/lib/fft/butterflies.h"

#include <math.h>

enum { THREADS = 256, POINTS = 4096, EACH = POINTS / THREADS };

/* Leaves a gap after every sixteen points, so that no stride often hits the same bank. */
__device__ constexpr guint32 place(guint32 point)
{
  return point + point / 16;
}

/* ---- the filter ---- */

/* SIDE: points of a spectrum that a thread filters at a time; together: spectra at a time. */
enum { SIDE = 2 };
template <guint32 N> __device__ constexpr guint32 together()
{
  return POINTS / N < 4 ? POINTS / N : 4;
}

/* For any number of taps, and samples before or in the block. */
template <typename Sample, guint32 N>
__device__ inline void filter_any(const ChannelizerRun &run, guint32 input, gint64 base,
                                  guint32 rows, const guint32 (&at)[SIDE],
                                  const guint32 (&point)[SIDE], float2 (&sum)[SIDE][together<N>()])
{
  float weight[SIDE][together<N>()] = {};
#pragma unroll 1
  for (guint32 row = 0; row < rows; row++)
#pragma unroll
    for (int p = 0; p < SIDE; p++) {
      const float2 x = channelizer_sample<Sample>(run.in, input, base + (gint64)row * N + at[p]);
#pragma unroll
      for (int s = together<N>() - 1; s > 0; s--)
        weight[p][s] = weight[p][s - 1];
      if (row < run.taps)
        weight[p][0] = run.weights[row * N + point[p]];
#pragma unroll
      for (guint32 s = 0; s < together<N>(); s++)
        if (row - s < run.taps) {
          sum[p][s].x += weight[p][s] * x.x;
          sum[p][s].y += weight[p][s] * x.y;
        }
    }
}

/* For a known number of taps, if all samples are in the block and all spectra are wanted. */
template <typename Sample, guint32 N, int TAPS>
__device__ inline void filter_taps(const Sample *block, const float *weights,
                                   const guint32 (&at)[SIDE], const guint32 (&point)[SIDE],
                                   float2 (&sum)[SIDE][together<N>()])
{
#pragma unroll
  for (int p = 0; p < SIDE; p++) {
    const Sample *from = block + at[p];
    const float *weight = weights + point[p];
    float w[TAPS];
#pragma unroll
    for (int row = 0; row < TAPS + (int)together<N>() - 1; row++) {
      if (row < TAPS)
        w[row] = weight[row * N];
      const float2 x = channelizer_value(from[row * N]);
#pragma unroll
      for (int s = 0; s < (int)together<N>(); s++)
        if (row - s >= 0 && row - s < TAPS) {
          sum[p][s].x += w[row - s] * x.x;
          sum[p][s].y += w[row - s] * x.y;
        }
    }
  }
}

template <typename Sample, guint32 N>
__device__ inline void filter(const ChannelizerRun &run, guint32 input, guint64 first,
                              float2 *points)
{
  constexpr guint32 SPECTRA = POINTS / N, TOGETHER = together<N>(), PAIRS = N / SIDE;
  const guint32 there = (guint32)min((guint64)SPECTRA, run.count - first);
  const gint64 base = (gint64)first * N;
  const bool plain = base >= run.in.split && run.in.block && there == SPECTRA;
  const Sample *block =
      (const Sample *)run.in.block + (input * run.in.block_row + (base - run.in.split));

#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < PAIRS * (SPECTRA / TOGETHER); unit += THREADS) {
    const guint32 begin = unit / PAIRS * TOGETHER;
    const guint32 point[SIDE] = { unit % PAIRS, unit % PAIRS + PAIRS };
    const guint32 at[SIDE] = { begin * N + (point[0] + run.turn) % N,
                               begin * N + (point[1] + run.turn) % N };
    float2 sum[SIDE][TOGETHER] = {};
    if (plain && run.taps == 8)
      filter_taps<Sample, N, 8>(block, run.weights, at, point, sum);
    else if (plain && run.taps == 4)
      filter_taps<Sample, N, 4>(block, run.weights, at, point, sum);
    else if (begin < there)
      filter_any<Sample, N>(run, input, base, min(there - begin, TOGETHER) + run.taps - 1, at,
                            point, sum);
#pragma unroll
    for (int p = 0; p < SIDE; p++)
#pragma unroll
      for (guint32 s = 0; s < TOGETHER; s++)
        points[place((begin + s) * N + point[p])] = sum[p][s];
  }
}

/* ---- the transform ---- */

/* Writes the R bins, STRIDE apart, of the last pass; their channels have the same spacing. */
template <int R, guint32 STRIDE, typename Write>
__device__ inline void give_bins(const ChannelizerRun &run, guint64 row, guint32 bin,
                                 const float2 (&v)[R], Write write)
{
  const guint64 first = row * run.channels + bin;
  if (!run.below) { /* the upper half of a real transform repeats the lower */
#pragma unroll
    for (int r = 0; r < R / 2; r++)
      write(first + r * STRIDE, bin + r * STRIDE, v[fft_place<R>(r)]);
    return;
  }
#pragma unroll
  for (int r = 0; r < R; r++) {
    constexpr int HALF = R / 2;
    const guint32 offset = (r + HALF) % R * STRIDE;
    write(first + offset, bin + offset, v[fft_place<R>(r)]);
  }
}

template <int R, guint32 STRIDE>
__device__ inline void give(const ChannelizerRun &run, guint64 row, guint32 bin,
                            const float2 (&v)[R], int *clipped)
{
  if (run.to == ASTRO_FORMAT_CF32LE && !run.gains)
    give_bins<R, STRIDE>(run, row, bin, v, [&](guint64 at, guint32 channel, float2 value) {
      ((float2 *)run.out)[at] = value;
    });
  else if (run.to == ASTRO_FORMAT_CI8 && !run.gains)
    give_bins<R, STRIDE>(run, row, bin, v, [&](guint64 at, guint32 channel, float2 value) {
      write_sample(run.out, at, ASTRO_FORMAT_CI8, value, clipped);
    });
  else
    give_bins<R, STRIDE>(run, row, bin, v, [&](guint64 at, guint32 channel, float2 value) {
      if (run.gains) {
        value.x *= run.gains[channel];
        value.y *= run.gains[channel];
      }
      write_sample(run.out, at, run.to, value, clipped);
    });
}

/* A pass of radix R, after passes that made transforms of BEFORE points. */
template <guint32 N, int R, guint32 BEFORE>
__device__ inline void pass(const ChannelizerRun &run, guint64 row, guint64 rows_end,
                            float2 *points, int *clipped)
{
  constexpr guint32 OF_SPECTRUM = N / EACH, TIMES = EACH / R, STRIDE = N / R;
  constexpr bool LAST = BEFORE * R == N;
  const guint32 spectrum = threadIdx.x / OF_SPECTRUM, thread = threadIdx.x % OF_SPECTRUM;
  float2 v[TIMES][R];

#pragma unroll
  for (int t = 0; t < TIMES; t++) {
    /* Either j is below a stride that divides 16, or strides are multiples of 16. */
    const guint32 j = thread + t * OF_SPECTRUM;
    const float2 *from = points + (STRIDE < 16 ? place(spectrum * N) + j : place(spectrum * N + j));
#pragma unroll
    for (int r = 0; r < R; r++)
      v[t][r] = from[place(r * STRIDE)];
    if constexpr (BEFORE > 1) {
      /* Powers of exp(-2 pi i / (BEFORE R)); the values of each power lie side by side. */
      const float2 *twiddle = run.powers + (BEFORE == 16 ? 0 : 4 * 16) + j % BEFORE;
      float2 powers[4];
#pragma unroll
      for (int p = 0; (1 << p) < R; p++)
        powers[p] = twiddle[p * BEFORE];
      fft_twiddle<R>(v[t], powers);
    }
    fft<R>(v[t]);
  }
  if constexpr (LAST) {
    if (row + spectrum < rows_end)
#pragma unroll
      for (int t = 0; t < TIMES; t++)
        give<R, BEFORE>(run, row + spectrum, thread + t * OF_SPECTRUM, v[t], clipped);
  } else {
    static_assert(R == 16, "only the last pass is narrower");
    constexpr guint32 REST = N / (BEFORE * R);
    __syncthreads();
    const guint32 begin = spectrum * N + thread / BEFORE * (BEFORE * R) + thread % BEFORE;
#pragma unroll
    for (int r = 0; r < R; r++)
      points[place(begin) + place(r * BEFORE)] = v[0][fft_place<R>(r)];
    __syncthreads();
    pass<N, (REST < 16 ? (int)REST : 16), BEFORE * R>(run, row, rows_end, points, clipped);
  }
}

template <typename Sample, guint32 N>
__global__ void __launch_bounds__(THREADS, 3)
    channelize(const __grid_constant__ ChannelizerRun run, guint32 groups)
{
  __shared__ float2 points[POINTS + POINTS / 16];
  const guint32 input = blockIdx.x / groups;
  const guint64 first = (guint64)(blockIdx.x % groups) * (POINTS / N);
  int clipped = 0;

  filter<Sample, N>(run, input, first, points);
  __syncthreads();
  pass<N, 16, 1>(run, input * run.count + first, (input + 1) * run.count, points, &clipped);
  channelizer_count(run, clipped);
}

gboolean astro_channelizer_fuses(guint32 n)
{
  return n >= 16 && n <= POINTS && (n & (n - 1)) == 0;
}

guint astro_channelizer_powers(guint32 n, float2 *powers)
{
  guint made = 0;
  for (guint32 before = 16; before < n; before *= 16) {
    guint32 points = MIN(16 * before, n);
    for (guint p = 0; p < 4; p++)
      for (guint32 k = 0; k < before; k++, made++) {
        double angle = -2 * G_PI * (double)(k << p) / points;
        if (powers)
          powers[made] = make_float2((float)cos(angle), (float)sin(angle));
      }
  }
  return made;
}

gboolean astro_channelizer_fused(gboolean bytes, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error)
{
#define KERNELS(n)                                                                                 \
  {                                                                                                \
    channelize<float2, n>, channelize<char2, n>                                                    \
  }
  static void (*const kernels[][2])(ChannelizerRun run, guint32 groups) = {
    KERNELS(16),  KERNELS(32),   KERNELS(64),   KERNELS(128),  KERNELS(256),
    KERNELS(512), KERNELS(1024), KERNELS(2048), KERNELS(4096),
  };
#undef KERNELS
  guint size = 0, spectra = POINTS / run->n;
  guint64 groups = (run->count + spectra - 1) / spectra;

  while (16u << size != run->n)
    size++;
  kernels[size][bytes ? 1 : 0]<<<(unsigned)(groups * run->inputs), THREADS, 0, stream>>>(
      *run, (guint32)groups);
  return CUDA_TRY(cudaGetLastError());
}
