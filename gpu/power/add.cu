/* Adds up the samples of each station and channel: see power.h. Where steps are not what lies
 * together in memory, each thread has a channel or station, and threads lie along what does; else a
 * warp has one, and its lanes lie along time. */
#include "gpu/power/power.h"
#include "gpu/runtime/samples.h"

enum { AHEAD = 4, /* samples that a thread asks for at a time */ MOST = 65535 };

template <AstroFormat FORMAT_, AstroPowerKind KIND_, bool SQUARES_> struct Kind {
  static constexpr AstroFormat FORMAT = FORMAT_;
  static constexpr AstroPowerKind KIND = KIND_;
  static constexpr bool SQUARES = SQUARES_;
  static constexpr bool BYTES = FORMAT == ASTRO_FORMAT_CI4 || FORMAT == ASTRO_FORMAT_CI8;
  static constexpr int POLS = KIND == ASTRO_POWER_ONE ? 1 : 2;
  static constexpr int SUMS = (KIND == ASTRO_POWER_ONE    ? 1
                               : KIND == ASTRO_POWER_PAIR ? 2
                                                          : 4) +
                              (!SQUARES                   ? 0
                               : KIND == ASTRO_POWER_ONE  ? 1
                               : KIND == ASTRO_POWER_PAIR ? 4
                                                          : 6);
  /* Samples of bytes are multiplied as integers, and added as such where no squares are. */
  using Number = std::conditional_t<BYTES, int, double>;
  using Sum = std::conditional_t<BYTES && !SQUARES, int, double>;
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

/* Adds every `stride`-th step from `from` to `to` of a station and channel. */
template <typename K>
__device__ inline void add_steps(const PowerJob &job, guint32 station, guint32 channel,
                                 guint64 from, guint64 to, guint32 stride, Sums<K> *sums)
{
  const guint64 base = station * job.strides.station + channel * job.strides.channel,
                valid = station * job.valid_station + channel * job.valid_channel;
  for (guint64 t = from; t < to; t += AHEAD * stride) {
    Sample<K> samples[AHEAD][K::POLS] = {};
#pragma unroll
    for (int k = 0; k < AHEAD; k++) {
      const guint64 step = t + k * stride;
      if (step < to && (!job.valid || job.valid[valid + step * job.valid_time]))
#pragma unroll
        for (int pol = 0; pol < K::POLS; pol++)
          samples[k][pol] = read<K>(job.in, base + step * job.strides.time + pol * job.strides.pol);
    }
#pragma unroll
    for (int k = 0; k < AHEAD; k++)
      sums->add(samples[k]);
  }
}

/* The steps of a split. */
__device__ inline bool find_split(const PowerJob &job, guint32 piece, guint64 *from, guint64 *to)
{
  power_piece(job, job.first_piece + piece, from, to);
  const guint64 length = (*to - *from + job.splits - 1) / job.splits;
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

/* Blocks along x: stations or channels that lie together, and the others; y: splits; z: pieces. */
template <typename K, bool ALONG_STATIONS>
__global__ void __launch_bounds__(POWER_THREADS) add_rows(const __grid_constant__ PowerJob job)
{
  const guint32 lanes = ALONG_STATIONS ? job.stations : job.channels,
                tiles = (lanes + POWER_THREADS - 1) / POWER_THREADS;
  const guint32 lane = blockIdx.x % tiles * POWER_THREADS + threadIdx.x, other = blockIdx.x / tiles;
  const guint32 station = ALONG_STATIONS ? lane : other, channel = ALONG_STATIONS ? other : lane;
  if (lane >= lanes)
    return;
  for (guint32 piece = blockIdx.z; piece < job.pieces; piece += gridDim.z) {
    guint64 from, to;
    Sums<K> sums = {};
    if (find_split(job, piece, &from, &to))
      add_steps<K>(job, station, channel, from, to, 1, &sums);
    write<K>(job, piece, station, channel, sums);
  }
}

template <typename Value> __device__ inline Value add_lanes(Value value)
{
  for (int other = 16; other; other /= 2)
    value += __shfl_xor_sync(0xffffffff, value, other);
  return value;
}

/* Blocks along x: stations and channels, one a warp; y: splits; z: pieces. */
template <typename K>
__global__ void __launch_bounds__(POWER_THREADS) add_columns(const __grid_constant__ PowerJob job)
{
  const guint64 cell = (guint64)blockIdx.x * (POWER_THREADS / 32) + threadIdx.x / 32;
  const guint32 station = (guint32)(cell / job.channels), channel = (guint32)(cell % job.channels);
  const guint32 lane = threadIdx.x % 32;
  if (station >= job.stations)
    return;
  for (guint32 piece = blockIdx.z; piece < job.pieces; piece += gridDim.z) {
    guint64 from, to;
    Sums<K> sums = {};
    if (find_split(job, piece, &from, &to))
      add_steps<K>(job, station, channel, from + lane, to, 32, &sums);
#pragma unroll
    for (int i = 0; i < K::SUMS; i++)
      sums.of[i] = add_lanes(sums.of[i]);
    if (lane == 0)
      write<K>(job, piece, station, channel, sums);
  }
}

template <typename K>
static gboolean launch(const PowerJob *job, cudaStream_t stream, GError **error)
{
  const PowerStrides &strides = job->strides;
  const guint64 by_channel = job->channels > 1 ? strides.channel : G_MAXUINT64,
                by_station = job->stations > 1 ? strides.station : G_MAXUINT64;
  const bool along_time = strides.time < by_channel && strides.time < by_station,
             along_stations = by_station < by_channel;
  const guint64 lanes = along_stations ? job->stations : job->channels,
                others = along_stations ? job->channels : job->stations,
                cells = (guint64)job->stations * job->channels;
  const guint64 blocks = along_time ? (cells + POWER_THREADS / 32 - 1) / (POWER_THREADS / 32)
                                    : (lanes + POWER_THREADS - 1) / POWER_THREADS * others;
  if (blocks > G_MAXINT32)
    return astro_backend_refuse(error, "power: %u stations and %u channels are too many for a grid",
                                job->stations, job->channels);
  const dim3 grid((unsigned)blocks, job->splits, MIN(job->pieces, (guint32)MOST));
  if (along_time)
    add_columns<K><<<grid, POWER_THREADS, 0, stream>>>(*job);
  else if (along_stations)
    add_rows<K, true><<<grid, POWER_THREADS, 0, stream>>>(*job);
  else
    add_rows<K, false><<<grid, POWER_THREADS, 0, stream>>>(*job);
  return CUDA_TRY(cudaGetLastError());
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
