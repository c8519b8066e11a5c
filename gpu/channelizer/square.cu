/* Filter, transform and format conversion for 1024 points, which are 32 times 32, and the usual
 * numbers of taps. Blocks are persistent. Half of a block's warps filter: each thread has points of
 * its own, keeps their weights, and reads every sample once. The others transform the filtered
 * spectra, one a warp, with 32 points a thread at a time and one exchange. Spectra are handed over
 * in rounds through shared memory, which has a slot for each transforming warp. */
#include "gpu/channelizer/channelizer.h"
#include "gpu/runtime/barrier.h"
#include "gpu/lib/fft/turned.h"

#include <math.h>

enum {
  SIDE = 32,
  N = SIDE * SIDE,
  ROW =
      SIDE + 2, /* in the exchange: accesses to rows and to pairs in columns avoid bank conflicts */
  ROOM = SIDE * ROW, /* for a spectrum */
  TWIDDLES = SIDE * SIDE / 2,
  FILTERS = 256, /* threads that filter */
  WARPS = 8,     /* that transform, one spectrum each in a round */
  THREADS = FILTERS + 32 * WARPS,
};

struct Shared {
  float2 spectra[WARPS][ROOM];
  float4 twiddles[SIDE / 4][SIDE]; /* in pairs, for each lane */
  guint64 full[WARPS], empty[WARPS];
};

/* Rounds of spectra are numbered through all inputs; blocks get equal shares, whichever inputs
 * these fall in. */
struct Work {
  guint64 rounds, of_input;
};

/* The rounds of a block, one input at a time. there: number of spectra, without those missing in
 * the last round. */
struct Job {
  guint64 at, end, input, first;
  guint32 there;

  __device__ Job(const Work &work)
      : at(work.rounds * blockIdx.x / gridDim.x), end(work.rounds * (blockIdx.x + 1) / gridDim.x)
  {
  }
  __device__ bool next(const ChannelizerRun &run, const Work &work)
  {
    if (at == end)
      return false;
    input = at / work.of_input;
    const guint64 begin = at % work.of_input, rounds = min(end - at, work.of_input - begin);
    first = begin * WARPS;
    there = (guint32)min(rounds * WARPS, run.count - first);
    at += rounds;
    return true;
  }
};

/* ---- the filter ---- */

/* Two adjacent points. */
template <typename Sample> struct Pair;
template <> struct Pair<char2> {
  using Type = guint32;
  static constexpr int AHEAD = 4; /* rows loaded in advance */
  static __device__ float4 value(guint32 x)
  {
    return make_float4(part<0x8880>(x), part<0x9991>(x), part<0xaaa2>(x), part<0xbbb3>(x));
  }
  /* One byte, extended by three copies of its sign. */
  template <guint32 WHICH> static __device__ float part(guint32 x)
  {
    gint32 whole;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(whole) : "r"(x), "n"(WHICH));
    return (float)whole;
  }
};
template <> struct Pair<float2> {
  using Type = float4;
  static constexpr int AHEAD = 2;
  static __device__ float4 value(float4 x)
  {
    return x;
  }
};

/* A thread has two such pairs, half a spectrum apart. */
enum { PAIRS = 2, HALF = N / PAIRS };
static_assert(FILTERS * 2 * PAIRS == N, "all points");

__device__ inline float4 scaled(float2 weight, float4 x)
{
  return make_float4(weight.x * x.x, weight.x * x.y, weight.y * x.z, weight.y * x.w);
}
__device__ inline void add_scaled(float4 &sum, float2 weight, float4 x)
{
  sum.x += weight.x * x.x;
  sum.y += weight.x * x.y;
  sum.z += weight.y * x.z;
  sum.w += weight.y * x.w;
}

/* Hands over a spectrum of a round: every thread writes both its pairs. */
__device__ inline void put(Shared *shared, guint32 parity, guint32 which, float4 low, float4 high)
{
  float2 *points = shared->spectra[which] + threadIdx.x * 2;
  barrier_wait(&shared->empty[which], parity);
  *(float4 *)points = low;
  *(float4 *)(points + HALF) = high;
  barrier_arrive(&shared->full[which]);
}

/* First sample of a pair. Points are rotated against samples: those samples that come last in a
 * spectrum may have the first points. Each half of the points still has contiguous samples. */
__device__ inline guint32 begin_of(const ChannelizerRun &run, int pair)
{
  return (threadIdx.x * 2 + pair * HALF + run.turn) % N;
}

/* Filters one spectrum whose samples may be held or in the block. */
template <typename Sample>
__device__ inline void filter_any(const ChannelizerRun &run, guint32 input, guint64 spectrum,
                                  float4 (&sum)[PAIRS])
{
#pragma unroll
  for (int p = 0; p < PAIRS; p++) {
    const gint64 at = (gint64)spectrum * N + begin_of(run, p);
#pragma unroll 1
    for (guint32 tap = 0; tap < run.taps; tap++) {
      const float2 weight = *(const float2 *)(run.weights + tap * N + p * HALF + threadIdx.x * 2);
      const float2 x = channelizer_sample<Sample>(run.in, input, at + (gint64)tap * N);
      const float2 y = channelizer_sample<Sample>(run.in, input, at + (gint64)tap * N + 1);
      const float4 pair = make_float4(x.x, x.y, y.x, y.y);
      if (tap == 0)
        sum[p] = scaled(weight, pair);
      else
        add_scaled(sum[p], weight, pair);
    }
  }
}

/* Data that a thread keeps from row to row: sums of the TAPS spectra that the row belongs to, in
 * rotation, and rows loaded in advance. */
template <typename Sample, int TAPS> struct Window {
  using Type = typename Pair<Sample>::Type;
  static constexpr int AHEAD = Pair<Sample>::AHEAD;
  static_assert(TAPS % AHEAD == 0, "rows have fixed places");

  const float2 (&weights)[TAPS][PAIRS];
  const Type *from[PAIRS];
  Type next[AHEAD][PAIRS];
  float4 sums[TAPS][PAIRS];

  __device__ void load(int row, bool there)
  {
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      if (there)
        next[row % AHEAD][p] = from[p][row * HALF];
  }
  /* row: counted from one whose number is a multiple of TAPS. */
  __device__ void add(int row)
  {
#pragma unroll
    for (int p = 0; p < PAIRS; p++) {
      const float4 x = Pair<Sample>::value(next[row % AHEAD][p]);
      sums[row % TAPS][p] = scaled(weights[0][p], x);
#pragma unroll
      for (int tap = 1; tap < TAPS; tap++)
        add_scaled(sums[(row - tap + TAPS) % TAPS][p], weights[tap][p], x);
    }
  }
};

/* Filters this many spectra of an input, whose samples are all in the block; every sample is read
 * and converted once. If the last round is not full, nobody uses its remaining spectra. */
template <typename Sample, int TAPS>
__device__ inline void filter_all(const ChannelizerRun &run, const Sample *samples, guint32 spectra,
                                  const float2 (&weights)[TAPS][PAIRS], Shared *shared,
                                  guint32 &parity)
{
  using Rows = Window<Sample, TAPS>;
  constexpr int FIRST = TAPS - 1; /* the row that completes a spectrum */
  static_assert(WARPS % TAPS == 0, "sums have fixed places");
  const guint32 rows = spectra + FIRST;
  Rows window{ weights };

#pragma unroll
  for (int p = 0; p < PAIRS; p++)
    window.from[p] = (const typename Rows::Type *)(samples + begin_of(run, p));
#pragma unroll
  for (int row = 0; row < Rows::AHEAD; row++)
    window.load(row, row < rows);
#pragma unroll
  for (int row = 0; row < FIRST; row++) {
    window.add(row);
    window.load(row + Rows::AHEAD, row + Rows::AHEAD < rows);
  }
#pragma unroll 1
  for (guint32 begin = 0; begin < spectra; begin += WARPS, parity ^= 1) {
#pragma unroll
    for (int i = 0; i < WARPS; i++) {
      const int row = FIRST + i;
      window.add(row);
      window.load(row + Rows::AHEAD, begin + row + Rows::AHEAD < rows);
      put(shared, parity, i, window.sums[(row + 1) % TAPS][0], window.sums[(row + 1) % TAPS][1]);
    }
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      window.from[p] += WARPS * HALF;
  }
}

template <typename Sample, int TAPS>
__device__ inline void filter(const ChannelizerRun &run, const Work &work, Shared *shared)
{
  guint32 parity = 1; /* slots that were never full are not waited for */
  float2 weights[TAPS][PAIRS];

#pragma unroll
  for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
    for (int p = 0; p < PAIRS; p++)
      weights[tap][p] = *(const float2 *)(run.weights + tap * N + p * HALF + threadIdx.x * 2);

  for (Job job(work); job.next(run, work);) {
    const Sample *block =
        (const Sample *)run.in.block + job.input * run.in.block_row - run.in.split;
    const bool aligned = run.in.block && (guintptr)block % sizeof(typename Pair<Sample>::Type) == 0;
    /* The first spectra need samples from before the block; unaligned blocks go this way too. */
    const guint64 others =
        aligned ? (guint64)(max(run.in.split, (gint64)0) + N - 1) / N : G_MAXUINT64;
    const guint32 apart =
        job.first >= others ? 0 : (guint32)min((guint64)job.there, others - job.first);
    guint32 begin = 0;

#pragma unroll 1
    for (; begin < apart; begin += WARPS, parity ^= 1)
#pragma unroll 1
      for (guint32 i = 0; i < WARPS; i++) {
        float4 sum[PAIRS] = {};
        if (begin + i < job.there)
          filter_any<Sample>(run, (guint32)job.input, job.first + begin + i, sum);
        put(shared, parity, i, sum[0], sum[1]);
      }
    if (begin < job.there)
      filter_all<Sample, TAPS>(run, block + (job.first + begin) * N, job.there - begin, weights,
                               shared, parity);
  }
}

/* ---- the transform ---- */

/* Transforms columns and exchanges them: afterwards a lane has a row of bins. */
__device__ inline void transform_columns(float2 *points, float2 (&v)[SIDE])
{
  const guint32 lane = threadIdx.x % 32;
#pragma unroll
  for (int r = 0; r < SIDE; r++)
    v[r] = points[r * SIDE + lane];
  fft_inside(v);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < SIDE; k += 2) {
    const float2 even = v[fft_reversed<SIDE>(k)], odd = v[fft_reversed<SIDE>(k + 1)];
    *(float4 *)&points[lane * ROW + k] = make_float4(even.x, even.y, odd.x, odd.y);
  }
  __syncwarp();
#pragma unroll
  for (int r = 0; r < SIDE; r++)
    v[r] = points[r * ROW + lane];
}

/* Transforms rows. Afterwards bin lane + SIDE k is at fft_reversed<SIDE>(k). */
__device__ inline void transform_rows(const Shared *shared, float2 (&v)[SIDE])
{
  float2 twiddles[SIDE / 2];
#pragma unroll
  for (int i = 0; i < SIDE / 2; i += 2) {
    const float4 two = shared->twiddles[i / 2][threadIdx.x % 32];
    twiddles[i] = make_float2(two.x, two.y);
    twiddles[i + 1] = make_float2(two.z, two.w);
  }
  fft_turned(v, twiddles);
}

/* For real samples only the lower half of the bins is written: the upper half repeats it. */
template <typename Write>
__device__ inline void give_bins(const ChannelizerRun &run, guint64 row, const float2 (&v)[SIDE],
                                 Write write)
{
  const guint32 lane = threadIdx.x % 32;
  const guint64 first = row * run.channels + lane;
  if (run.below) {
#pragma unroll
    for (int k = 0; k < SIDE; k++) {
      const guint32 offset = (k + SIDE / 2) % SIDE * SIDE;
      write(first + offset, lane + offset, v[fft_reversed<SIDE>(k)]);
    }
  } else {
#pragma unroll
    for (int k = 0; k < SIDE / 2; k++)
      write(first + k * SIDE, lane + k * SIDE, v[fft_reversed<SIDE>(k)]);
  }
}

template <typename Sample>
__device__ inline void give(const ChannelizerRun &run, guint64 row, const float2 (&v)[SIDE],
                            int *clipped)
{
  if (run.to == ASTRO_FORMAT_CF32LE && !run.gains)
    give_bins(run, row, v, [&](guint64 at, guint32 channel, float2 value) {
      __stcs((float2 *)run.out + at,
             value); /* output is larger than the input and is not read again soon */
    });
  else if (run.to == ASTRO_FORMAT_CI8 && !run.gains)
    give_bins(run, row, v, [&](guint64 at, guint32 channel, float2 value) {
      if constexpr (sizeof(Sample) == 2) /* sums of bytes are never NaN */
        ((guint16 *)run.out)[at] =
            (guint16)__byte_perm(hold_byte(value.x, clipped), hold_byte(value.y, clipped), 0x0040);
      else
        write_sample(run.out, at, ASTRO_FORMAT_CI8, value, clipped);
    });
  else
    give_bins(run, row, v, [&](guint64 at, guint32 channel, float2 value) {
      if (run.gains) {
        value.x *= run.gains[channel];
        value.y *= run.gains[channel];
      }
      write_sample(run.out, at, run.to, value, clipped);
    });
}

template <typename Sample>
__device__ inline void transform_all(const ChannelizerRun &run, const Work &work, Shared *shared)
{
  const guint32 warp = (threadIdx.x - FILTERS) / 32;
  int clipped = 0;
  guint32 parity = 0;

  for (Job job(work); job.next(run, work);)
    for (guint32 begin = 0; begin < job.there; begin += WARPS, parity ^= 1) {
      const guint32 i = begin + warp;
      float2 v[SIDE];
      barrier_wait(&shared->full[warp], parity);
      if (i < job.there)
        transform_columns(shared->spectra[warp], v);
      barrier_arrive(&shared->empty[warp]);
      if (i < job.there) {
        transform_rows(shared, v);
        give<Sample>(run, job.input * run.count + job.first + i, v, &clipped);
      }
    }
  channelizer_count(run, clipped);
}

/* Threads that filter need more registers than those that transform; where registers can be
 * reassigned, they get them. */
__device__ inline void take_registers()
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.inc.sync.aligned.u32 152;");
#endif
}
__device__ inline void leave_registers()
{
#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
  asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
#endif
}

template <typename Sample, int TAPS>
__global__ void __launch_bounds__(THREADS, 1)
    channelize(const __grid_constant__ ChannelizerRun run, const __grid_constant__ Work work)
{
  extern __shared__ __align__(16) guint8 bytes[];
  Shared *shared = (Shared *)bytes;

  if (threadIdx.x == 0)
    for (int i = 0; i < WARPS; i++) {
      barrier_init(&shared->full[i], FILTERS);
      barrier_init(&shared->empty[i], 32);
    }
  for (guint32 i = threadIdx.x; i < TWIDDLES; i += THREADS)
    ((float2 *)shared->twiddles)[i] = run.powers[i];
  __syncthreads();
  if (threadIdx.x < FILTERS) {
    take_registers();
    filter<Sample, TAPS>(run, work, shared);
  } else {
    leave_registers();
    transform_all<Sample>(run, work, shared);
  }
}

/* ---- launch ---- */

typedef void (*Kernel)(ChannelizerRun run, Work work);

static Kernel kernel_of(gboolean bytes, guint taps)
{
  return bytes ? (taps == 8 ? channelize<char2, 8> : channelize<char2, 4>)
               : (taps == 8 ? channelize<float2, 8> : channelize<float2, 4>);
}

gboolean astro_channelizer_is_square(guint32 n, guint taps)
{
  return n == N && (taps == 4 || taps == 8);
}

guint astro_channelizer_square_powers(float2 *powers)
{
  for (guint32 lane = 0; lane < SIDE && powers; lane++) {
    double turns[SIDE / 2];
    fft_turns<SIDE>(lane / (double)N, turns);
    for (guint32 i = 0; i < SIDE / 2; i++) {
      double angle = -2 * G_PI * turns[i];
      powers[(i / 2 * SIDE + lane) * 2 + i % 2] = make_float2((float)cos(angle), (float)sin(angle));
    }
  }
  return TWIDDLES;
}

gboolean astro_channelizer_square_init(gboolean bytes, guint taps, GError **error)
{
  return CUDA_TRY(cudaFuncSetAttribute(
      kernel_of(bytes, taps), cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Shared)));
}

gboolean astro_channelizer_square(gboolean bytes, const ChannelizerRun *run, guint multiprocessors,
                                  cudaStream_t stream, GError **error)
{
  Work work = { .of_input = (run->count + WARPS - 1) / WARPS };
  work.rounds = work.of_input * run->inputs;
  kernel_of(
      bytes,
      run->taps)<<<(unsigned)MIN(work.rounds, multiprocessors), THREADS, sizeof(Shared), stream>>>(
      *run, work);
  return CUDA_TRY(cudaGetLastError());
}
