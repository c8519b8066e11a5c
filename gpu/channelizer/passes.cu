/* Transforms of any length, through device memory, one factor at a time. */
#include "gpu/channelizer/channelizer.h"

enum { THREADS = 256, MOST_BLOCKS = 1 << 20, WIDEST = 16 };

static guint blocks_for(guint64 threads)
{
  return (guint)CLAMP((threads + THREADS - 1) / THREADS, 1, MOST_BLOCKS);
}

template <typename Sample>
__global__ void __launch_bounds__(THREADS)
    filter(const __grid_constant__ ChannelizerRun run, float2 *to, guint64 first_row, guint32 rows)
{
  const guint64 points = (guint64)rows * run.n;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < points;
       i += (guint64)gridDim.x * THREADS) {
    guint64 row = first_row + i / run.n;
    guint32 point = (guint32)(i % run.n), input = (guint32)(row / run.count);
    gint64 at = (gint64)(row % run.count) * run.n + (point + run.turn) % run.n;
    float2 sum = make_float2(0, 0);
    for (guint32 tap = 0; tap < run.taps; tap++) {
      float2 x = channelizer_sample<Sample>(run.in, input, at + (gint64)tap * run.n);
      float weight = run.weights[tap * run.n + point];
      sum.x += weight * x.x;
      sum.y += weight * x.y;
    }
    to[i] = sum;
  }
}

/* Computes points of a pass of this radix, after passes that made transforms of `before` points. */
__global__ void __launch_bounds__(THREADS)
    pass(const float2 *from, float2 *to, const float2 *twiddles, guint32 n, guint32 radix,
         guint32 before, guint32 rows)
{
  const guint32 stride = n / radix, grain = n / before / radix;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < (guint64)rows * n;
       i += (guint64)gridDim.x * THREADS) {
    guint64 row = i / n;
    guint32 point = (guint32)(i % n), within = point % (before * radix),
            j = point / (before * radix) * before + within % before;
    const float2 *x = from + row * n + j;
    guint64 step = (guint64)within * grain % n, angle = 0;
    double re = 0, im = 0; /* for a large prime the sums are long */
    for (guint32 r = 0; r < radix; r++, angle += step, angle -= angle >= n ? n : 0) {
      float2 a = x[(guint64)r * stride], w = twiddles[angle];
      re += (double)(a.x * w.x - a.y * w.y);
      im += (double)(a.x * w.y + a.y * w.x);
    }
    to[i] = make_float2((float)re, (float)im);
  }
}

__global__ void __launch_bounds__(THREADS) give(const __grid_constant__ ChannelizerRun run,
                                                const float2 *from, guint64 first_row, guint32 rows)
{
  const guint64 points = (guint64)rows * run.n;
  int clipped = 0;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < points;
       i += (guint64)gridDim.x * THREADS)
    channelizer_give(run, first_row + i / run.n, (guint32)(i % run.n), from[i], &clipped);
  channelizer_count(run, clipped);
}

/* The greatest factor up to WIDEST, else the smallest prime factor. */
static guint32 next_radix(guint32 n)
{
  for (guint32 radix = WIDEST; radix > 1; radix--)
    if (n % radix == 0)
      return radix;
  guint32 prime = WIDEST + 1;
  while ((guint64)prime * prime <= n && n % prime)
    prime++;
  return n % prime ? n : prime;
}

gboolean astro_channelizer_passes(gboolean bytes, const ChannelizerRun *run, float2 *room,
                                  guint32 rows, cudaStream_t stream, GError **error)
{
  const guint64 all = run->count * run->inputs;
  for (guint64 first = 0; first < all; first += rows) {
    guint32 now = (guint32)MIN(rows, all - first), before = 1;
    float2 *from = room, *to = room + (guint64)rows * run->n;
    guint blocks = blocks_for((guint64)now * run->n);
    if (bytes)
      filter<char2><<<blocks, THREADS, 0, stream>>>(*run, from, first, now);
    else
      filter<float2><<<blocks, THREADS, 0, stream>>>(*run, from, first, now);
    while (before < run->n) {
      guint32 radix = next_radix(run->n / before);
      pass<<<blocks, THREADS, 0, stream>>>(from, to, run->twiddles, run->n, radix, before, now);
      before *= radix;
      float2 *swap = from;
      from = to;
      to = swap;
    }
    give<<<blocks, THREADS, 0, stream>>>(*run, from, first, now);
  }
  return CUDA_TRY(cudaGetLastError());
}
