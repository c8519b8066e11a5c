/* Adds up the samples of each station and channel: see power.h. Where steps are not what lies
 * together in memory, threads lie along what does, channels or stations, and each has one or a few
 * neighbours; else a warp has one, and its lanes lie along time, each on one or a few steps.
 * Neighbours are read together. */
#include "gpu/power/power.h"
#include "gpu/runtime/samples.h"

enum { AHEAD = 4, /* loads that a thread asks for at a time */ MOST = 65535 };

template <AstroFormat FORMAT_, AstroPowerKind KIND_, bool SQUARES_> struct Kind {
  static constexpr AstroFormat FORMAT = FORMAT_;
  static constexpr AstroPowerKind KIND = KIND_;
  static constexpr bool SQUARES = SQUARES_;
  static constexpr bool SMALL = FORMAT == ASTRO_FORMAT_CI4 || FORMAT == ASTRO_FORMAT_CI8;
  static constexpr int BYTES = FORMAT == ASTRO_FORMAT_CI4      ? 1
                               : FORMAT == ASTRO_FORMAT_CI8    ? 2
                               : FORMAT == ASTRO_FORMAT_CF32LE ? 8
                                                               : 4;
  /* Neighbours that are read together where they can be. */
  static constexpr int WIDE = FORMAT == ASTRO_FORMAT_CF32LE ? 2 : SQUARES ? 1 : SMALL ? 4 : 2;
  static constexpr int POLS = KIND == ASTRO_POWER_ONE ? 1 : 2;
  static constexpr int SUMS = (KIND == ASTRO_POWER_ONE    ? 1
                               : KIND == ASTRO_POWER_PAIR ? 2
                                                          : 4) +
                              (!SQUARES                   ? 0
                               : KIND == ASTRO_POWER_ONE  ? 1
                               : KIND == ASTRO_POWER_PAIR ? 4
                                                          : 6);
  /* Samples of bytes are multiplied as integers, and added as such where no squares are. */
  using Number = std::conditional_t<SMALL, int, double>;
  using Sum = std::conditional_t<SMALL && !SQUARES, int, double>;
};

template <typename K> struct Sample {
  typename K::Number re, im;
};

template <typename K> __device__ inline Sample<K> read(const guint8 *in, guint64 at)
{
  using Number = typename K::Number;
  if constexpr (K::FORMAT == ASTRO_FORMAT_CI4)
    return { nibble_of(in[at], 0), nibble_of(in[at], 1) };
  else if constexpr (K::FORMAT == ASTRO_FORMAT_CI8) {
    const char2 sample = ((const char2 *)in)[at];
    return { sample.x, sample.y };
  } else if constexpr (K::FORMAT == ASTRO_FORMAT_CI16LE) {
    const short2 sample = ((const short2 *)in)[at];
    return { (Number)sample.x, (Number)sample.y };
  } else {
    const float2 sample = read_sample(in, at, K::FORMAT);
    return { (Number)sample.x, (Number)sample.y };
  }
}

/* The sums of one time step after the other, in the order of AstroPowerSum. */
template <typename K> struct Sums {
  typename K::Sum of[K::SUMS];

  __device__ void add(const Sample<K> (&s)[K::POLS])
  {
    using Sum = typename K::Sum;
    constexpr bool CROSS = K::KIND == ASTRO_POWER_CROSS;
    int n = 0;
    const auto xx = s[0].re * s[0].re + s[0].im * s[0].im;
    of[n++] += (Sum)xx;
    if constexpr (K::POLS == 1) {
      if constexpr (K::SQUARES)
        of[n++] += (Sum)xx * (Sum)xx;
    } else {
      const auto yy = s[1].re * s[1].re + s[1].im * s[1].im;
      const auto re = s[0].re * s[1].re + s[0].im * s[1].im,
                 im = s[0].im * s[1].re - s[0].re * s[1].im;
      of[n++] += (Sum)yy;
      if constexpr (CROSS) {
        of[n++] += (Sum)re;
        of[n++] += (Sum)im;
      }
      if constexpr (K::SQUARES) {
        of[n++] += (Sum)xx * (Sum)xx;
        of[n++] += (Sum)yy * (Sum)yy;
        if constexpr (CROSS) {
          of[n++] += (Sum)re * (Sum)re;
          of[n++] += (Sum)im * (Sum)im;
        }
        const Sum total = (Sum)xx + (Sum)yy, difference = (Sum)xx - (Sum)yy;
        of[n++] += total * total;
        of[n++] += difference * difference;
      }
    }
  }
};

/* Neighbours as they lie in memory. */
template <typename K, int WIDE> struct alignas(K::BYTES *WIDE) Run {
  guint8 bytes[K::BYTES * WIDE];
};

/* Reads neighbours of each polarisation. */
template <typename K, int WIDE>
__device__ inline void load(const guint8 *at, guint64 pol_bytes, Run<K, WIDE> (&runs)[K::POLS])
{
#pragma unroll
  for (int pol = 0; pol < K::POLS; pol++)
    runs[pol] = *(const Run<K, WIDE> *)(at + pol * pol_bytes);
}

template <typename K, int WIDE>
__device__ inline void add_one(const Run<K, WIDE> (&runs)[K::POLS], int which, Sums<K> *sums)
{
  Sample<K> samples[K::POLS];
#pragma unroll
  for (int pol = 0; pol < K::POLS; pol++)
    samples[pol] = read<K>(runs[pol].bytes, which);
  sums->add(samples);
}

/* The steps of a split. */
__device__ inline bool find_split(const PowerJob &job, guint32 piece, guint64 *from, guint64 *to)
{
  power_piece(job, job.first_piece + piece, from, to);
  /* Splits begin where neighbours that are read together do. */
  const guint64 length = ((*to - *from + job.splits - 1) / job.splits + 3) / 4 * 4;
  *from += blockIdx.y * length;
  *to = min(*to, *from + length);
  return *from < *to;
}

template <typename K>
__device__ inline void write(const PowerJob &job, guint32 piece, guint32 station, guint32 channel,
                             const Sums<K> &sums)
{
  const guint64 cells = (guint64)job.stations * job.channels;
  double *to = job.parts + ((guint64)piece * job.splits + blockIdx.y) * K::SUMS * cells +
               (guint64)station * job.channels + channel;
#pragma unroll
  for (int i = 0; i < K::SUMS; i++)
    to[i * cells] = (double)sums.of[i];
}

/* Adds the steps of WIDE neighbours along stations or channels, whose flags are valid_lane apart.
 */
template <typename K, int WIDE>
__device__ inline void add_row(const PowerJob &job, guint64 base, guint64 valid, guint64 valid_lane,
                               guint64 from, guint64 to, Sums<K> (&sums)[WIDE])
{
  const guint64 stride = job.strides.time * K::BYTES, pol = job.strides.pol * K::BYTES;
  const guint8 *at = job.in + base * K::BYTES + from * stride;
  guint64 t = from;
  if (!job.valid)
    for (; t + AHEAD <= to; t += AHEAD, at += AHEAD * stride) {
      Run<K, WIDE> runs[AHEAD][K::POLS];
#pragma unroll
      for (int k = 0; k < AHEAD; k++)
        load<K, WIDE>(at + k * stride, pol, runs[k]);
#pragma unroll
      for (int k = 0; k < AHEAD; k++)
#pragma unroll
        for (int i = 0; i < WIDE; i++)
          add_one<K, WIDE>(runs[k], i, &sums[i]);
    }
  for (; t < to; t++, at += stride) {
    Run<K, WIDE> runs[K::POLS];
    load<K, WIDE>(at, pol, runs);
#pragma unroll
    for (int i = 0; i < WIDE; i++)
      if (!job.valid || job.valid[valid + i * valid_lane + t * job.valid_time])
        add_one<K, WIDE>(runs, i, &sums[i]);
  }
}

/* Blocks along x: stations or channels that lie together, and the others; y: splits; z: pieces. */
template <typename K, int WIDE, bool ALONG_STATIONS>
__global__ void __launch_bounds__(POWER_THREADS) add_rows(const __grid_constant__ PowerJob job)
{
  constexpr guint32 TILE = POWER_THREADS * WIDE;
  const guint32 lanes = ALONG_STATIONS ? job.stations : job.channels,
                tiles = (lanes + TILE - 1) / TILE;
  const guint32 lane = blockIdx.x % tiles * TILE + threadIdx.x * WIDE, other = blockIdx.x / tiles;
  const guint32 station = ALONG_STATIONS ? lane : other, channel = ALONG_STATIONS ? other : lane;
  if (lane >= lanes)
    return;
  for (guint32 piece = blockIdx.z; piece < job.pieces; piece += gridDim.z) {
    guint64 from, to;
    Sums<K> sums[WIDE] = {};
    if (find_split(job, piece, &from, &to))
      add_row<K, WIDE>(job, station * job.strides.station + channel * job.strides.channel,
                       station * job.valid_station + channel * job.valid_channel,
                       ALONG_STATIONS ? job.valid_station : job.valid_channel, from, to, sums);
#pragma unroll
    for (int i = 0; i < WIDE; i++)
      write<K>(job, piece, ALONG_STATIONS ? station + i : station,
               ALONG_STATIONS ? channel : channel + i, sums[i]);
  }
}

template <typename Value> __device__ inline Value add_lanes(Value value)
{
  for (int other = 16; other; other /= 2)
    value += __shfl_xor_sync(0xffffffff, value, other);
  return value;
}

/* Adds the steps of a station and channel that this lane has: WIDE that lie together, then others.
 * Groups begin at multiples of WIDE; the first and the last may have steps of other splits. */
template <typename K, int WIDE>
__device__ inline void add_column(const PowerJob &job, guint64 base, guint64 valid, guint64 from,
                                  guint64 to, Sums<K> *sums)
{
  constexpr int LANES = 32 * WIDE;
  const guint64 stride = job.strides.time * K::BYTES, pol = job.strides.pol * K::BYTES;
  guint64 t = from / WIDE * WIDE + threadIdx.x % 32 * WIDE;
  const guint8 *at = job.in + base * K::BYTES + t * stride;
  const bool is_whole = !job.valid && from % WIDE == 0;
  for (; is_whole && t + (AHEAD - 1) * LANES + WIDE <= to;
       t += AHEAD * LANES, at += AHEAD * LANES * stride) {
    Run<K, WIDE> runs[AHEAD][K::POLS];
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      load<K, WIDE>(at + k * LANES * stride, pol, runs[k]);
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
#pragma unroll
      for (int i = 0; i < WIDE; i++)
        add_one<K, WIDE>(runs[k], i, sums);
  }
  for (; t < to; t += LANES, at += LANES * stride) {
    Run<K, WIDE> runs[K::POLS];
    load<K, WIDE>(at, pol, runs);
#pragma unroll
    for (int i = 0; i < WIDE; i++)
      if (t + i >= from && t + i < to &&
          (!job.valid || job.valid[valid + (t + i) * job.valid_time]))
        add_one<K, WIDE>(runs, i, sums);
  }
}

/* Blocks along x: stations and channels, one a warp; y: splits; z: pieces. */
template <typename K, int WIDE>
__global__ void __launch_bounds__(POWER_THREADS) add_columns(const __grid_constant__ PowerJob job)
{
  const guint64 cell = (guint64)blockIdx.x * (POWER_THREADS / 32) + threadIdx.x / 32;
  const guint32 station = (guint32)(cell / job.channels), channel = (guint32)(cell % job.channels);
  if (station >= job.stations)
    return;
  for (guint32 piece = blockIdx.z; piece < job.pieces; piece += gridDim.z) {
    guint64 from, to;
    Sums<K> sums = {};
    if (find_split(job, piece, &from, &to))
      add_column<K, WIDE>(job, station * job.strides.station + channel * job.strides.channel,
                          station * job.valid_station + channel * job.valid_channel, from, to,
                          &sums);
#pragma unroll
    for (int i = 0; i < K::SUMS; i++)
      sums.of[i] = add_lanes(sums.of[i]);
    if (threadIdx.x % 32 == 0)
      write<K>(job, piece, station, channel, sums);
  }
}

/* ---- launches ---- */

/* Whether neighbours that are one sample apart can be read together: all of them lie on multiples
 * of their size. */
template <typename K> static bool are_wide(const PowerJob *job, guint64 lanes, guint64 stride)
{
  const PowerStrides &s = job->strides;
  const guint64 others[] = { s.time, job->channels > 1 ? s.channel : 0,
                             job->stations > 1 ? s.station : 0, K::POLS > 1 ? s.pol : 0 };
  bool fits = K::WIDE > 1 && stride == 1 && lanes % K::WIDE == 0 &&
              (guintptr)job->in % (K::BYTES * K::WIDE) == 0;
  for (guint64 other : others)
    fits = fits && (other == 1 || other % K::WIDE == 0);
  return fits;
}

template <typename K, int WIDE, bool ALONG_STATIONS>
static gboolean launch_rows(const PowerJob *job, dim3 grid, guint64 lanes, guint64 others,
                            cudaStream_t stream, GError **error)
{
  grid.x = (unsigned)((lanes + POWER_THREADS * WIDE - 1) / (POWER_THREADS * WIDE) * others);
  add_rows<K, WIDE, ALONG_STATIONS><<<grid, POWER_THREADS, 0, stream>>>(*job);
  return CUDA_TRY(cudaGetLastError());
}

template <typename K, int WIDE>
static gboolean launch_columns(const PowerJob *job, dim3 grid, cudaStream_t stream, GError **error)
{
  const guint64 cells = (guint64)job->stations * job->channels;
  grid.x = (unsigned)((cells + POWER_THREADS / 32 - 1) / (POWER_THREADS / 32));
  add_columns<K, WIDE><<<grid, POWER_THREADS, 0, stream>>>(*job);
  return CUDA_TRY(cudaGetLastError());
}

template <typename K>
static gboolean launch(const PowerJob *job, cudaStream_t stream, GError **error)
{
  const PowerStrides &strides = job->strides;
  const guint64 by_channel = job->channels > 1 ? strides.channel : G_MAXUINT64,
                by_station = job->stations > 1 ? strides.station : G_MAXUINT64;
  const dim3 grid(1, job->splits, MIN(job->pieces, (guint32)MOST));
  if ((guint64)job->stations * job->channels > G_MAXINT32)
    return astro_backend_refuse(error, "power: %u stations and %u channels are too many for a grid",
                                job->stations, job->channels);
  if (strides.time < by_channel && strides.time < by_station)
    return are_wide<K>(job, job->steps, strides.time)
               ? launch_columns<K, K::WIDE>(job, grid, stream, error)
               : launch_columns<K, 1>(job, grid, stream, error);
  if (by_station < by_channel)
    return are_wide<K>(job, job->stations, by_station)
               ? launch_rows<K, K::WIDE, true>(job, grid, job->stations, job->channels, stream,
                                               error)
               : launch_rows<K, 1, true>(job, grid, job->stations, job->channels, stream, error);
  return are_wide<K>(job, job->channels, by_channel)
             ? launch_rows<K, K::WIDE, false>(job, grid, job->channels, job->stations, stream,
                                              error)
             : launch_rows<K, 1, false>(job, grid, job->channels, job->stations, stream, error);
}

typedef gboolean (*Launch)(const PowerJob *job, cudaStream_t stream, GError **error);

template <AstroFormat FORMAT> static Launch choose(AstroPowerKind kind, gboolean squares)
{
  static const Launch launches[ASTRO_POWER_KINDS][2] = {
    { launch<Kind<FORMAT, ASTRO_POWER_ONE, false>>, launch<Kind<FORMAT, ASTRO_POWER_ONE, true>> },
    { launch<Kind<FORMAT, ASTRO_POWER_PAIR, false>>, launch<Kind<FORMAT, ASTRO_POWER_PAIR, true>> },
    { launch<Kind<FORMAT, ASTRO_POWER_CROSS, false>>,
      launch<Kind<FORMAT, ASTRO_POWER_CROSS, true>> },
  };
  return launches[kind][squares != 0];
}

gboolean astro_power_add(const PowerJob *job, AstroFormat format, AstroPowerKind kind,
                         gboolean squares, cudaStream_t stream, GError **error)
{
  const Launch launch = format == ASTRO_FORMAT_CI4      ? choose<ASTRO_FORMAT_CI4>(kind, squares)
                        : format == ASTRO_FORMAT_CI8    ? choose<ASTRO_FORMAT_CI8>(kind, squares)
                        : format == ASTRO_FORMAT_CI16LE ? choose<ASTRO_FORMAT_CI16LE>(kind, squares)
                        : format == ASTRO_FORMAT_CF16LE
                            ? choose<ASTRO_FORMAT_CF16LE>(kind, squares)
                            : choose<ASTRO_FORMAT_CF32LE>(kind, squares);
  return launch(job, stream, error);
}
