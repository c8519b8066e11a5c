/* The spectral kurtosis on the GPU: one thread adds all steps of a cell, in their order. */
#include "gpu/flag/flag.h"
#include "gpu/runtime/samples.h"

enum { THREADS = 128, AHEAD = 8 /* loads that a thread asks for at a time */, TILE = 32 };

/* ---- sums ---- */

/* Samples are added to what there is, in the order of time. The squares of single precision are
 * exact in double. */
template <AstroFormat FORMAT> struct Sum {
  using Sample = float2;
  double power, square;

  static __device__ Sample read(const guint8 *in, guint64 at)
  {
    return read_sample(in, at, FORMAT);
  }
  __device__ void begin(const FlagSums &sums, guint64 cell)
  {
    power = sums.sums[cell];
    square = sums.squares[cell];
  }
  __device__ void add(Sample sample)
  {
    const double re = (double)sample.x, im = (double)sample.y,
                 one = __dadd_rn(__dmul_rn(re, re), __dmul_rn(im, im));
    power = __dadd_rn(power, one);
    square = __dadd_rn(square, __dmul_rn(one, one));
  }
  __device__ void end(const FlagSums &sums, guint64 cell) const
  {
    sums.sums[cell] = power;
    sums.squares[cell] = square;
  }
};

/* Sums of bytes are integers and exact: at most 65536 powers of 2^15. */
template <> struct Sum<ASTRO_FORMAT_CI8> {
  using Sample = char2;
  guint32 power = 0;
  guint64 square = 0;

  static __device__ Sample read(const guint8 *in, guint64 at)
  {
    return ((const char2 *)in)[at];
  }
  __device__ void begin(const FlagSums &sums, guint64 cell)
  {
  }
  __device__ void add(Sample sample)
  {
    const guint32 one = (guint32)(sample.x * sample.x + sample.y * sample.y);
    power += one;
    square += (guint64)one * one;
  }
  __device__ void end(const FlagSums &sums, guint64 cell) const
  {
    sums.sums[cell] += (double)power;
    sums.squares[cell] += (double)square;
  }
};

/* The place of a cell's count, but for time. */
static __device__ guint64 count_place_of(const FlagBlock &block, guint64 cell)
{
  const AstroFlagPlaces &shape = block.shape;
  const guint64 c = shape.channels > 1 ? cell / shape.channel % shape.channels : 0,
                u = shape.units > 1 ? cell / shape.unit % shape.units : 0,
                rest = cell - c * shape.channel - u * shape.unit;
  guint32 part = 0;
  while (part + 1 < shape.parts && shape.part[part] != rest)
    part++;
  return flag_count_place(block.counts, c, u, part);
}

/* WIDE neighbours as they lie in memory. */
template <int BYTES> struct alignas(BYTES) Run {
  guint8 bytes[BYTES];
};

static constexpr int bytes_of(AstroFormat format)
{
  return format == ASTRO_FORMAT_CI8 ? 2 : format == ASTRO_FORMAT_CF32LE ? 8 : 4;
}

/* Where steps are apart in memory: a thread has WIDE cells that lie together. */
template <AstroFormat FORMAT, int WIDE>
static __global__ void __launch_bounds__(THREADS)
    add_apart(const __grid_constant__ FlagBlock block, const __grid_constant__ FlagSums sums)
{
  constexpr int BYTES = bytes_of(FORMAT);
  const guint64 cell = ((guint64)blockIdx.x * THREADS + threadIdx.x) * WIDE, run = block.run;
  if (cell >= block.cells)
    return;
  const guint8 *at =
      block.in + (cell / run * block.places.steps * run + cell % run + block.first * run) * BYTES;
  Sum<FORMAT> of[WIDE];
  guint64 place[WIDE] = {};
  guint32 good[WIDE] = {};
  guint64 t = 0;
#pragma unroll
  for (int i = 0; i < WIDE; i++) {
    of[i].begin(sums, cell + i);
    if (block.counts.counts)
      place[i] = count_place_of(block, cell + i);
  }
  if (!block.counts.counts)
    for (; t + AHEAD <= block.steps; t += AHEAD, at += AHEAD * run * BYTES) {
      Run<BYTES * WIDE> runs[AHEAD];
#pragma unroll
      for (int k = 0; k < AHEAD; k++)
        runs[k] = *(const Run<BYTES * WIDE> *)(at + k * run * BYTES);
#pragma unroll
      for (int k = 0; k < AHEAD; k++)
#pragma unroll
        for (int i = 0; i < WIDE; i++)
          of[i].add(Sum<FORMAT>::read(runs[k].bytes, i));
    }
  for (; t < block.steps; t++, at += run * BYTES) {
    const Run<BYTES *WIDE> one = *(const Run<BYTES * WIDE> *)at;
#pragma unroll
    for (int i = 0; i < WIDE; i++)
      if (flag_is_good(block.counts, block.first + t, place[i])) {
        of[i].add(Sum<FORMAT>::read(one.bytes, i));
        good[i]++;
      }
  }
#pragma unroll
  for (int i = 0; i < WIDE; i++) {
    of[i].end(sums, cell + i);
    sums.good[cell + i] += block.counts.counts ? good[i] : (guint32)block.steps;
  }
}

/* Where the steps of a cell lie together: a warp reads a stretch of 32 cells, and then each of its
 * lanes adds those of one. */
template <AstroFormat FORMAT>
static __global__ void __launch_bounds__(THREADS)
    add_along(const __grid_constant__ FlagBlock block, const __grid_constant__ FlagSums sums)
{
  __shared__ typename Sum<FORMAT>::Sample tiles[THREADS / 32][TILE][TILE + 1];
  const guint32 lane = threadIdx.x % 32;
  auto &tile = tiles[threadIdx.x / 32];
  const guint64 first = ((guint64)blockIdx.x * (THREADS / 32) + threadIdx.x / 32) * TILE,
                cell = first + lane;
  if (first >= block.cells)
    return;
  Sum<FORMAT> sum;
  guint64 place = 0;
  guint32 good = 0;
  if (cell < block.cells) {
    sum.begin(sums, cell);
    place = block.counts.counts ? count_place_of(block, cell) : 0;
  }
  for (guint64 t = 0; t < block.steps; t += TILE) {
#pragma unroll
    for (int k = 0; k < TILE; k++)
      if (first + k < block.cells && t + lane < block.steps)
        tile[k][lane] =
            Sum<FORMAT>::read(block.in, (first + k) * block.places.steps + block.first + t + lane);
    __syncwarp();
    for (int k = 0; k < TILE && t + k < block.steps && cell < block.cells; k++)
      if (flag_is_good(block.counts, block.first + t + k, place)) {
        sum.add(tile[lane][k]);
        good++;
      }
    __syncwarp();
  }
  if (cell >= block.cells)
    return;
  sum.end(sums, cell);
  sums.good[cell] += good;
}

/* ---- verdicts ---- */

/* As astro_flag_judge_kurtosis. */
static __device__ guint8 judge(double m, double sum, double squares, double coarse, double2 limits)
{
  if (m < ASTRO_FLAG_LEAST_SAMPLES || sum == 0)
    return 0;
  if (sum < __dmul_rn(coarse, m))
    return ASTRO_FLAG_COARSE;
  const double ratio = __ddiv_rn(__dmul_rn(m, squares), __dmul_rn(sum, sum)),
               kurtosis = __dmul_rn(__ddiv_rn(m + 1, m - 1), __dsub_rn(ratio, 1));
  return kurtosis >= limits.x && kurtosis <= limits.y ? ASTRO_FLAG_JUDGED
                                                      : ASTRO_FLAG_JUDGED | ASTRO_FLAG_BAD;
}

static __global__ void __launch_bounds__(THREADS)
    judge_sums(const __grid_constant__ AstroFlagPlaces shape, const __grid_constant__ FlagSums sums,
               const double2 *limits, double coarse, guint8 *flags)
{
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x;
  guint8 found = 0;
  if (i >= shape.units * shape.channels)
    return;
  for (guint32 part = 0; part < shape.parts; part++) {
    const guint64 at =
        i / shape.channels * shape.unit + i % shape.channels * shape.channel + shape.part[part];
    const guint32 m = sums.good[at];
    found |= judge(m, sums.sums[at], sums.squares[at], coarse, limits[m]);
  }
  flags[i] = found;
}

static __global__ void __launch_bounds__(THREADS)
    judge_means(const __grid_constant__ FlagBlock block, const double2 *limits, guint8 *flags)
{
  const AstroFlagPlaces &places = block.places;
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x,
                row = places.units * places.channels;
  const float *in = (const float *)block.in;
  guint8 found = 0;
  if (i >= places.steps * row)
    return;
  const guint64 t = i / row, u = i / places.channels % places.units, c = i % places.channels,
                at = t * places.time + u * places.unit + c * places.channel,
                step = t / block.counts.time.group * block.counts.time.stride;
  for (guint32 part = 0; part < places.parts; part++) {
    const guint64 place = step + flag_count_place(block.counts, c, u, part);
    const double m = block.counts.counts[place];
    found |= judge(m, __dmul_rn(m, in[at + places.part[part]]),
                   __dmul_rn(m, in[at + places.square[part]]), 0, limits[place]);
  }
  flags[i] = found;
}

/* ---- launches ---- */

static gboolean find_grid(guint64 threads, unsigned *blocks, GError **error)
{
  const guint64 n = (threads + THREADS - 1) / THREADS;
  if (n > G_MAXINT32)
    return astro_backend_refuse(
        error, "flags: a block of %" G_GUINT64_FORMAT " values is too long for a GPU", threads);
  *blocks = (unsigned)n;
  return TRUE;
}

template <AstroFormat FORMAT>
static gboolean add(const FlagBlock *block, const FlagSums *sums, cudaStream_t stream,
                    GError **error)
{
  constexpr int WIDE = 8 / bytes_of(FORMAT);
  const guint64 run = block->run;
  const bool are_wide = run % WIDE == 0 && (guintptr)block->in % 8 == 0;
  unsigned blocks;
  if (!find_grid(run > 1 && are_wide ? block->cells / WIDE : block->cells, &blocks, error))
    return FALSE;
  if (run == 1)
    add_along<FORMAT><<<blocks, THREADS, 0, stream>>>(*block, *sums);
  else if (are_wide)
    add_apart<FORMAT, WIDE><<<blocks, THREADS, 0, stream>>>(*block, *sums);
  else
    add_apart<FORMAT, 1><<<blocks, THREADS, 0, stream>>>(*block, *sums);
  return CUDA_TRY(cudaGetLastError());
}

gboolean astro_flag_add(const FlagBlock *block, AstroFormat format, const FlagSums *sums,
                        cudaStream_t stream, GError **error)
{
  return (format == ASTRO_FORMAT_CI8      ? add<ASTRO_FORMAT_CI8>
          : format == ASTRO_FORMAT_CI16LE ? add<ASTRO_FORMAT_CI16LE>
          : format == ASTRO_FORMAT_CF16LE ? add<ASTRO_FORMAT_CF16LE>
                                          : add<ASTRO_FORMAT_CF32LE>)(block, sums, stream, error);
}

gboolean astro_flag_judge_sums(const AstroFlagPlaces *shape, const FlagSums *sums,
                               const double2 *limits, double coarse, guint8 *flags,
                               cudaStream_t stream, GError **error)
{
  unsigned blocks;
  if (!find_grid(shape->units * shape->channels, &blocks, error))
    return FALSE;
  judge_sums<<<blocks, THREADS, 0, stream>>>(*shape, *sums, limits, coarse, flags);
  return CUDA_TRY(cudaGetLastError());
}

gboolean astro_flag_judge_means(const FlagBlock *block, const double2 *limits, guint8 *flags,
                                cudaStream_t stream, GError **error)
{
  unsigned blocks;
  if (!find_grid(block->places.steps * block->places.units * block->places.channels, &blocks,
                 error))
    return FALSE;
  judge_means<<<blocks, THREADS, 0, stream>>>(*block, limits, flags);
  return CUDA_TRY(cudaGetLastError());
}
