/* Filter, transform and format in one kernel, so that samples are read once and channels written once. A block makes
 * 4096 points' worth of spectra of one input. First each thread filters columns: two points of four spectra at a
 * time, which share the samples' conversion and the weights. Then each thread transforms 16 points at a time,
 * exchanged through shared memory. */
#include "gpu/channelizer.h"
#include "gpu/fft.h"

enum { THREADS = 256, POINTS = 4096, EACH = POINTS / THREADS };

/* Every sixteen points one is left out, so that no stride meets a bank often. */
__device__ inline guint32 place(guint32 point)
{
  return point + point / 16;
}

/* ---- the filter ---- */

template <typename Sample, guint32 N>
__device__ inline void filter(const ChannelizerRun &run, guint32 input, guint64 first, float2 *points)
{
  constexpr guint32 SPECTRA = POINTS / N, TOGETHER = SPECTRA < 4 ? SPECTRA : 4, PAIRS = N / 2;
  const guint32 there = (guint32)min((guint64)SPECTRA, run.count - first);
  const gint64 base = (gint64)first * N;
  const bool in_block = base >= run.in.split && run.in.block;
  const Sample *block = (const Sample *)run.in.block + input * run.in.block_row - run.in.split;

#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < PAIRS * (SPECTRA / TOGETHER); unit += THREADS) {
    const guint32 begin = unit / PAIRS * TOGETHER;
    const guint32 point[2] = { unit % PAIRS, unit % PAIRS + PAIRS };
    float2 sum[2][TOGETHER] = {};
    float weight[2][TOGETHER] = {};
    const guint32 rows = begin < there ? min(there - begin, TOGETHER) + run.taps - 1 : 0;
    const gint64 start[2] = { base + (gint64)begin * N + (point[0] + run.turn) % N,
                              base + (gint64)begin * N + (point[1] + run.turn) % N };
    auto add_rows = [&](auto read) {
#pragma unroll 4
      for (guint32 row = 0; row < rows; row++) {
#pragma unroll
        for (int p = 0; p < 2; p++) {
          const float2 x = read(start[p] + (gint64)row * N);
#pragma unroll
          for (int s = TOGETHER - 1; s > 0; s--)
            weight[p][s] = weight[p][s - 1];
          if (row < run.taps)
            weight[p][0] = run.weights[row * N + point[p]];
#pragma unroll
          for (int s = 0; s < TOGETHER; s++)
            if (row - s < run.taps) {
              sum[p][s].x += weight[p][s] * x.x;
              sum[p][s].y += weight[p][s] * x.y;
            }
        }
      }
    };
    if (in_block)
      add_rows([&](gint64 at) { return channelizer_value(block[at]); });
    else
      add_rows([&](gint64 at) { return channelizer_sample<Sample>(run.in, input, at); });
#pragma unroll
    for (int p = 0; p < 2; p++)
#pragma unroll
      for (int s = 0; s < TOGETHER; s++)
        points[place((begin + s) * N + point[p])] = sum[p][s];
  }
}

/* ---- the transform ---- */

/* A pass of radix R after passes that made transforms of BEFORE points. */
template <guint32 N, int R, guint32 BEFORE>
__device__ inline void pass(const ChannelizerRun &run, guint64 row, guint64 rows_end, float2 *points, int *clipped)
{
  constexpr guint32 OF_SPECTRUM = N / EACH, TIMES = EACH / R, STRIDE = N / R;
  constexpr bool LAST = BEFORE * R == N;
  const guint32 spectrum = threadIdx.x / OF_SPECTRUM, thread = threadIdx.x % OF_SPECTRUM;
  float2 v[TIMES][R];

#pragma unroll
  for (int t = 0; t < TIMES; t++) {
    const guint32 j = thread + t * OF_SPECTRUM;
#pragma unroll
    for (int r = 0; r < R; r++)
      v[t][r] = points[place(spectrum * N + j + r * STRIDE)];
    if constexpr (BEFORE > 1) {
      const guint32 angle = j % BEFORE * (N / (BEFORE * R));
      float2 powers[4];
#pragma unroll
      for (int p = 0; (1 << p) < R; p++)
        powers[p] = run.twiddles[angle << p];
      fft_twiddle<R>(v[t], powers);
    }
    fft<R>(v[t]);
  }
  if (!LAST)
    __syncthreads();
#pragma unroll
  for (int t = 0; t < TIMES; t++) {
    const guint32 j = thread + t * OF_SPECTRUM, to = j / BEFORE * (BEFORE * R) + j % BEFORE;
#pragma unroll
    for (int r = 0; r < R; r++)
      if (!LAST)
        points[place(spectrum * N + to + r * BEFORE)] = v[t][fft_place<R>(r)];
      else if (row + spectrum < rows_end)
        channelizer_give(run, row + spectrum, to + r * BEFORE, v[t][fft_place<R>(r)], clipped);
  }
  __syncthreads();
  if constexpr (!LAST) {
    constexpr guint32 REST = N / (BEFORE * R);
    pass<N, (REST < 16 ? (int)REST : 16), BEFORE * R>(run, row, rows_end, points, clipped);
  }
}

template <typename Sample, guint32 N>
__global__ void __launch_bounds__(THREADS, 2) channelize(const __grid_constant__ ChannelizerRun run, guint32 groups)
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

gboolean astro_channelizer_fused(gboolean bytes, const ChannelizerRun *run, cudaStream_t stream, GError **error)
{
#define KERNELS(n) { channelize<float2, n>, channelize<char2, n> }
  static void (*const kernels[][2])(ChannelizerRun run, guint32 groups) = {
    KERNELS(16),  KERNELS(32),   KERNELS(64),   KERNELS(128), KERNELS(256),
    KERNELS(512), KERNELS(1024), KERNELS(2048), KERNELS(4096),
  };
#undef KERNELS
  guint size = 0, spectra = POINTS / run->n;
  guint64 groups = (run->count + spectra - 1) / spectra;

  while (16u << size != run->n)
    size++;
  kernels[size][bytes ? 1 : 0]<<<(unsigned)(groups * run->inputs), THREADS, 0, stream>>>(*run, (guint32)groups);
  return CUDA_TRY(cudaGetLastError());
}
