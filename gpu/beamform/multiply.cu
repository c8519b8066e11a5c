/* Beams as products of weights and samples on the tensor cores of any device from sm_80 on.
 *
 * A block of 8 warps makes a tile of beams by columns: steps of one channel and polarisation. A
 * warp makes 16 beams by 64 columns. It goes through the stations a few at a time: their samples
 * are cut into parts in shared memory, where each is used for all beams of the block. Axes may be
 * in any order; small samples that lie together in memory are read at full speed.
 *
 * To the tensor cores a complex number is two real ones. 16 rows of a tile of weights are the real
 * parts of 8 beams, then their imaginary parts, and two neighbours along stations are what real and
 * imaginary part of a sample are multiplied by. So both of a beam come to the same thread, and the
 * imaginary rows follow from the real ones. */
#include "gpu/beamform/beamform.h"
#include "gpu/runtime/samples.h"

enum {
  THREADS = 256,
  WARPS = THREADS / 32,
  HIGH = 2, /* tiles of 8 beams of a warp */
  WIDE = 8, /* tiles of 8 columns of a warp */
  WARP_BEAMS = HIGH * BEAMFORM_TILE,
  WARP_COLUMNS = WIDE * 8,
  APART = 8, /* words between rows, so that the lanes of a warp read other banks */
  MOST_Z = 65535,
};

/* How samples are cut: halves or bfloat16, and into how many parts; TALL: warps along beams. */
template <bool BRAIN_, int PARTS_, int SAMPLE_PARTS_, int TALL_> struct Kind {
  static constexpr bool BRAIN = BRAIN_;
  static constexpr int PARTS = PARTS_, SAMPLE_PARTS = SAMPLE_PARTS_, TALL = TALL_;
  static constexpr int BEAMS = TALL * WARP_BEAMS, COLUMNS = WARPS / TALL * WARP_COLUMNS;
  static constexpr int ROW = COLUMNS + APART;
  static constexpr int STATIONS = /* in shared memory at a time, in tiles of 8 */
      MAX(8192 / COLUMNS / SAMPLE_PARTS / BEAMFORM_TILE, 1) * BEAMFORM_TILE;
};

template <typename K> struct Shared {
  guint32 samples[K::SAMPLE_PARTS][K::STATIONS][K::ROW];
  float magnitudes[K::STATIONS];
  float factors[K::COLUMNS];
};

struct Tile {
  guint32 channel, pol, beam; /* the first beam */
  guint64 begin, end;         /* steps of the block */
  guint64 item;               /* of the weights */
};

template <bool BRAIN>
__device__ inline void multiply(float (&d)[4], const guint32 (&a)[4], const guint32 (&b)[2])
{
  if constexpr (BRAIN)
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
                 "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

/* ---- samples ---- */

__device__ inline bool is_good(const BeamformJob &job, guint32 channel, guint32 station,
                               guint64 step)
{
  return !job.good || job.good[channel * job.good_channel + station * job.good_station + step];
}

__device__ inline guint32 halves_of(float2 sample)
{
  const __half2 both = __float22half2_rn(sample);
  return *(const guint32 *)&both;
}

/* Cuts a sample into parts, the real part in the low bits. */
template <typename K> __device__ inline void cut(float2 sample, guint32 (&parts)[K::SAMPLE_PARTS])
{
  if constexpr (K::BRAIN) {
#pragma unroll
    for (int part = 0; part < K::SAMPLE_PARTS; part++) {
      const guint32 re = __float_as_uint(sample.x) & 0xffff0000,
                    im = __float_as_uint(sample.y) & 0xffff0000;
      parts[part] = re >> 16 | im;
      sample.x -= __uint_as_float(re);
      sample.y -= __uint_as_float(im);
    }
  } else if constexpr (K::SAMPLE_PARTS == 2) { /* 16 bits: multiples of 256, and the rest */
    const float2 high = make_float2(256 * floorf(sample.x / 256), 256 * floorf(sample.y / 256));
    parts[0] = halves_of(high);
    parts[1] = halves_of(make_float2(sample.x - high.x, sample.y - high.y));
  } else {
    parts[0] = halves_of(sample);
  }
}

template <typename K>
__device__ inline void load_plain(const BeamformJob &job, const Tile &tile, guint32 first,
                                  Shared<K> &shared)
{
  for (int i = threadIdx.x; i < K::STATIONS * K::COLUMNS; i += THREADS) {
    const int row = i / K::COLUMNS, column = i % K::COLUMNS;
    const guint32 station = first + row;
    const guint64 step = tile.begin + column;
    guint32 parts[K::SAMPLE_PARTS] = {};
    if (station < job.stations && step < tile.end && is_good(job, tile.channel, station, step) &&
        shared.magnitudes[row] != 0)
      cut<K>(read_sample(job.in,
                         step * job.in_strides.time + tile.channel * job.in_strides.channel +
                             job.index[station] * job.in_strides.row +
                             tile.pol * job.in_strides.pol,
                         job.from),
             parts);
#pragma unroll
    for (int part = 0; part < K::SAMPLE_PARTS; part++)
      shared.samples[part][row][column] = parts[part];
  }
}

/* A sample of two bytes as halves: as the low bits of 1024 + 128 + x, which is exact. */
__device__ inline guint32 halves_of_bytes(guint32 offset_bytes, guint32 selector)
{
  const guint32 raised = __byte_perm(offset_bytes, 0x64646464, selector);
  const __half2 both = __hsub2(*(const __half2 *)&raised, __float2half2_rn(1152));
  return *(const guint32 *)&both;
}

/* Four samples of CI8 as halves. */
__device__ inline uint4 halves_of_four(uint2 bytes)
{
  const guint32 low = bytes.x ^ 0x80808080, high = bytes.y ^ 0x80808080;
  return make_uint4(halves_of_bytes(low, 0x4140), halves_of_bytes(low, 0x4342),
                    halves_of_bytes(high, 0x4140), halves_of_bytes(high, 0x4342));
}

/* Four samples of CI4, as four of CI8. */
__device__ inline uint2 widen_four(guint32 nibbles)
{
  const guint32 re = ((nibbles >> 4 & 0x0f0f0f0f) ^ 0x08080808) + 0x78787878, /* +128 */
      im = ((nibbles & 0x0f0f0f0f) ^ 0x08080808) + 0x78787878;
  return make_uint2(__byte_perm(re, im, 0x5140) ^ 0x80808080,
                    __byte_perm(re, im, 0x7362) ^ 0x80808080);
}

/* Samples of CI8 and CI4 whose steps lie together, four at a time. */
template <typename K>
__device__ inline void load_bytes(const BeamformJob &job, const Tile &tile, guint32 first,
                                  Shared<K> &shared)
{
  for (int i = threadIdx.x; i < K::STATIONS * K::COLUMNS / 4; i += THREADS) {
    const int row = i / (K::COLUMNS / 4), column = i % (K::COLUMNS / 4) * 4;
    const guint32 station = first + row;
    const guint64 step = tile.begin + column;
    uint4 samples = make_uint4(0, 0, 0, 0);
    if (station < job.stations && step < tile.end && shared.magnitudes[row] != 0) {
      const guint64 at = step + tile.channel * job.in_strides.channel +
                         job.index[station] * job.in_strides.row + tile.pol * job.in_strides.pol;
      const int there = (int)min(tile.end - step, (guint64)4);
      const bool small = job.from == ASTRO_FORMAT_CI4;
      const guint8 *from = job.in + (small ? at : 2 * at);
      if (there == 4 && (guintptr)from % (small ? 4 : 8) == 0) {
        samples = halves_of_four(small ? widen_four(*(const guint32 *)from) : *(const uint2 *)from);
      } else {
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (k < there)
            (&samples.x)[k] = halves_of(read_sample(job.in, at + k, job.from));
      }
      if (job.good) {
#pragma unroll
        for (int k = 0; k < 4; k++)
          if (k < there && !is_good(job, tile.channel, station, step + k))
            (&samples.x)[k] = 0;
      }
    }
    *(uint4 *)&shared.samples[0][row][column] = samples;
  }
}

/* Adds magnitudes of good weights: all of them, by lane of the first warp, if nothing is lost; else
 * those of the column that this thread has. */
template <typename K>
__device__ inline float add_magnitudes(const BeamformJob &job, const Tile &tile, guint32 first,
                                       const Shared<K> &shared, float total)
{
  const guint32 n = min((guint32)K::STATIONS, job.stations - first);
  if (!job.good) {
    for (guint32 i = threadIdx.x; i < n && threadIdx.x < 32; i += 32)
      total += shared.magnitudes[i];
    return total;
  }
  const guint64 step = tile.begin + threadIdx.x;
  if (threadIdx.x < K::COLUMNS && step < tile.end)
    for (guint32 i = 0; i < n; i++)
      if (is_good(job, tile.channel, first + i, step))
        total += shared.magnitudes[i];
  return total;
}

template <typename K>
__device__ inline void find_factors(const BeamformJob &job, float norm, float total,
                                    Shared<K> &shared)
{
  if (!job.good) {
    __syncthreads();
    for (int other = 16; other; other /= 2)
      total += __shfl_xor_sync(0xffffffff, total, other);
    if (threadIdx.x == 0)
      shared.magnitudes[0] = total;
    __syncthreads();
    total = shared.magnitudes[0];
  }
  if (threadIdx.x < K::COLUMNS)
    shared.factors[threadIdx.x] = total > 0 ? norm * (job.scale / total) : 0;
  __syncthreads();
}

/* ---- products ---- */

/* The rows of imaginary parts, from those of real parts: (re, -im) becomes (im, re). */
__device__ inline guint32 turned(guint32 word)
{
  return __byte_perm(word, 0, 0x1032) ^ 0x8000;
}

/* Adds the products of 8 stations: row is their first in shared memory, words is the lane's. */
template <typename K>
__device__ inline void add_stations(const Shared<K> &shared, int row, int column,
                                    const uint2 *const (&words)[HIGH], guint64 at,
                                    float (&sums)[HIGH][WIDE][4])
{
  const int lane = threadIdx.x % 32;
  guint32 a[K::PARTS][HIGH][4];
#pragma unroll
  for (int part = 0; part < K::PARTS; part++)
#pragma unroll
    for (int i = 0; i < HIGH; i++) {
      const uint2 word = words[i][at + part * BEAMFORM_LANES];
      a[part][i][0] = word.x;
      a[part][i][1] = turned(word.x);
      a[part][i][2] = word.y;
      a[part][i][3] = turned(word.y);
    }
#pragma unroll
  for (int j = 0; j < WIDE; j++)
#pragma unroll
    for (int s = 0; s < K::SAMPLE_PARTS; s++) {
      const guint32 *from = &shared.samples[s][row + lane % 4][column + j * 8 + lane / 4];
      const guint32 b[2] = { from[0], from[4 * K::ROW] };
#pragma unroll
      for (int part = K::PARTS; part-- > 0;)
        if (!K::BRAIN || part + s < 3) /* the others are below the last bit */
#pragma unroll
          for (int i = 0; i < HIGH; i++)
            multiply<K::BRAIN>(sums[i][j], a[part][i], b);
    }
}

template <typename K>
__device__ inline void write_pair(const BeamformJob &job, const Tile &tile, guint32 beam,
                                  int column, const float (&sums)[4], const Shared<K> &shared,
                                  int *clipped)
{
  const guint64 step = tile.begin + column;
  if (beam >= job.beams || step >= tile.end)
    return;
  const guint64 at = step * job.out_strides.time + tile.channel * job.out_strides.channel +
                     beam * job.out_strides.row + tile.pol * job.out_strides.pol;
  const float one = shared.factors[column], other = shared.factors[column + 1];
  const float4 both = make_float4(sums[0] * one, sums[2] * one, sums[1] * other, sums[3] * other);
  if (job.to == ASTRO_FORMAT_CF32LE && job.out_strides.time == 1 && step + 1 < tile.end &&
      (guintptr)(job.out + 8 * at) % 16 == 0) {
    *(float4 *)(job.out + 8 * at) = both;
    return;
  }
  write_sample(job.out, at, job.to, make_float2(both.x, both.y), clipped);
  if (step + 1 < tile.end)
    write_sample(job.out, at + job.out_strides.time, job.to, make_float2(both.z, both.w), clipped);
}

template <typename K>
__device__ inline void form(const BeamformJob &job, const Tile &tile, Shared<K> &shared,
                            int *clipped)
{
  const BeamformWeights &made = job.made;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const guint32 beam = tile.beam + warp % K::TALL * WARP_BEAMS;
  const int column = warp / K::TALL * WARP_COLUMNS;
  const bool works = beam < job.beams && tile.begin + column < tile.end;
  const guint64 tile_words = (guint64)K::PARTS * BEAMFORM_LANES;
  const uint2 *words[HIGH];
  float sums[HIGH][WIDE][4] = {};
  float total = 0;
#pragma unroll
  for (int i = 0; i < HIGH; i++) /* beyond the last beam any weights do */
    words[i] = made.words +
               (tile.item * made.beam_tiles + min(beam / BEAMFORM_TILE + i, made.beam_tiles - 1)) *
                   made.station_tiles * tile_words +
               lane;
  for (guint32 first = 0; first < job.stations; first += K::STATIONS) {
    __syncthreads();
    if (threadIdx.x < K::STATIONS && first + threadIdx.x < job.stations) {
      const float2 weight = beamform_weight(job, tile.channel, first + threadIdx.x);
      shared.magnitudes[threadIdx.x] = hypotf(weight.x, weight.y);
    }
    __syncthreads();
    if (K::SAMPLE_PARTS == 1 && job.in_strides.time == 1 && job.from != ASTRO_FORMAT_CF16LE)
      load_bytes<K>(job, tile, first, shared);
    else
      load_plain<K>(job, tile, first, shared);
    total = add_magnitudes<K>(job, tile, first, shared, total);
    __syncthreads();
    if (works) {
      const guint32 begin = first / BEAMFORM_TILE,
                    end = min(begin + K::STATIONS / BEAMFORM_TILE, made.station_tiles);
      for (guint32 k = begin; k < end; k++)
        add_stations<K>(shared, (k - begin) * BEAMFORM_TILE, column, words, k * tile_words, sums);
    }
  }
  find_factors<K>(job, made.norms[tile.item], total, shared);
#pragma unroll
  for (int i = 0; i < HIGH; i++)
#pragma unroll
    for (int j = 0; j < WIDE; j++)
      write_pair<K>(job, tile, beam + i * BEAMFORM_TILE + lane / 4, column + j * 8 + lane % 4 * 2,
                    sums[i][j], shared, clipped);
}

/* Blocks along x: interval, polarisation and tile of columns, the last fastest; y: beams; z:
 * channels. */
template <typename K>
__global__ void __launch_bounds__(THREADS, 2) form_beams(const __grid_constant__ BeamformJob job)
{
  __shared__ Shared<K> shared;
  const BeamformWeights &made = job.made;
  const guint64 rest = blockIdx.x / job.tiles, number = job.first / job.interval;
  const guint32 of_made = (guint32)(rest / job.pols);
  const guint64 interval = made.first_interval + of_made;
  const guint64 from = interval ? (number + interval) * job.interval - job.first : 0;
  Tile tile = { .channel = 0,
                .pol = (guint32)(rest % job.pols),
                .beam = blockIdx.y * K::BEAMS,
                .begin = from + blockIdx.x % job.tiles * (guint64)K::COLUMNS,
                .end = min(job.steps, (number + interval + 1) * job.interval - job.first),
                .item = 0 };
  int clipped = 0;
  if (tile.begin >= tile.end)
    return;
  for (guint32 channel = blockIdx.z; channel < made.channels; channel += gridDim.z) {
    tile.channel = made.first_channel + channel;
    tile.item = (guint64)of_made * made.channels + channel;
    form<K>(job, tile, shared, &clipped);
  }
  if (clipped)
    atomicAdd((unsigned long long *)job.clipped, (unsigned long long)clipped);
}

template <typename K> static gboolean launch(BeamformJob job, cudaStream_t stream, GError **error)
{
  const guint64 tiles = (MIN(job.interval, job.steps) + K::COLUMNS - 1) / K::COLUMNS,
                blocks = (guint64)job.made.intervals * job.pols * tiles;
  if (blocks > G_MAXINT32)
    return astro_backend_refuse(error,
                                "beamform: a block of %" G_GUINT64_FORMAT
                                " steps is more than the kernel counts: expected smaller blocks",
                                job.steps);
  job.tiles = (guint32)tiles;
  const dim3 grid((unsigned)blocks, (job.beams + K::BEAMS - 1) / K::BEAMS,
                  MIN(job.made.channels, (guint)MOST_Z));
  form_beams<K><<<grid, THREADS, 0, stream>>>(job);
  return CUDA_TRY(cudaGetLastError());
}

template <int TALL>
static gboolean launch_format(const BeamformJob *job, cudaStream_t stream, GError **error)
{
  switch (job->from) {
  case ASTRO_FORMAT_CF32LE:
    return launch<Kind<true, 3, 3, TALL>>(*job, stream, error);
  case ASTRO_FORMAT_CI16LE:
    return launch<Kind<false, 2, 2, TALL>>(*job, stream, error);
  default:
    return launch<Kind<false, 2, 1, TALL>>(*job, stream, error);
  }
}

gboolean astro_beamform_multiply(const BeamformJob *job, cudaStream_t stream, GError **error)
{
  return job->beams > 2 * WARP_BEAMS ? launch_format<4>(job, stream, error)
                                     : launch_format<2>(job, stream, error);
}
