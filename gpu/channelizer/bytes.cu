/* Filter, transform and format conversion in one kernel for CI4 or CI8 in and out, whose copy is so
 * quick that instructions count and not memory. A block makes groups of 16 spectra, each of one
 * input: all threads filter; then they transform in two passes, each of which leaves its points
 * where it found them; the second writes bytes in the order of channels, which leave in words as
 * wide as they are aligned to. */
#include "gpu/channelizer/bytes-filter.h"
#include "gpu/lib/fft/turned.h"

#include <math.h>

/* Groups are numbered through all inputs. A word: bytes that are written at once. */
struct BytesWork {
  guint32 total, of_input;
  AstroDivisor words; /* in a group */
  guint32 word;
};

struct BytesGroup {
  guint64 first; /* spectrum */
  guint32 input, there;
};

template <int R> constexpr bool is_power = (R & (R - 1)) == 0;

/* Where bin `number` is after these transforms. */
template <int R> __device__ constexpr int bin_place(int number)
{
  return is_power<R> ? fft_reversed<R>(number) : fft_place<R>(number);
}

template <int R> __device__ inline void transform(float2 (&v)[R])
{
  if constexpr (is_power<R>)
    fft_inside(v);
  else
    fft<R>(v);
}

/* The same for points that first rotate by w^0, w^1, ..., w = exp(-2 pi i k / n). */
template <int R>
__device__ inline void transform_rotated(const float2 *powers, guint32 k, guint32 before,
                                         float2 (&v)[R])
{
  if constexpr (is_power<R> && R >= 4) {
    float2 twiddles[R / 2];
#pragma unroll
    for (int i = 0; i < R / 2; i += 2) {
      const float4 two = ((const float4 *)powers)[i / 2 * before + k];
      twiddles[i] = make_float2(two.x, two.y);
      twiddles[i + 1] = make_float2(two.z, two.w);
    }
    fft_turned(v, twiddles);
  } else {
    float2 of_w[4];
#pragma unroll
    for (int p = 0; (1 << p) < R; p++)
      of_w[p] = powers[p * before + k];
    fft_twiddle<R>(v, of_w);
    fft<R>(v);
  }
}

template <int R, typename Shape>
__device__ inline void pass_first(const Shape &shape, float2 *points)
{
  const guint32 units = shape.groups * BYTES_TOGETHER * shape.after;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < units; unit += BYTES_THREADS) {
    const guint32 spectrum = shape.over_after(unit), j = unit - spectrum * shape.after;
    float2 *own = points + spectrum * shape.row + j, v[R];
#pragma unroll
    for (int r = 0; r < R; r++)
      v[r] = own[r * shape.pitch];
    transform(v);
#pragma unroll
    for (int r = 0; r < R; r++)
      own[r * shape.pitch] = v[bin_place<R>(r)];
  }
}

/* ---- bytes ---- */

/* A number as the low bits of 3 x 2^22 plus half the range, rounded, so that those of numbers in
 * range are from 0 on and the others differ from 3 x 2^22 in higher bits too. */
template <int RANGE> __device__ inline guint32 lifted(float number)
{
  return __float_as_uint(__fadd_rn(number, 12582912 + RANGE / 2));
}

template <AstroFormat TO> struct BytesOut;
template <> struct BytesOut<ASTRO_FORMAT_CI8> {
  using Sample = guint16;
  enum { RANGE = 256, LOW = -128, HIGH = 127 };
  static __device__ Sample pack(guint32 re, guint32 im)
  {
    return (Sample)__byte_perm(re, im, 0x0040);
  }
};
template <> struct BytesOut<ASTRO_FORMAT_CI4> {
  using Sample = guint8;
  enum { RANGE = 16, LOW = -8, HIGH = 7 };
  static __device__ Sample pack(guint32 re, guint32 im)
  {
    return (Sample)((re << 4) + im);
  }
};

/* Writes bins of a spectrum to their channels, each component plus half the range. Out of range is
 * looked for in all of them together, and only then counted. */
template <int R, AstroFormat TO, typename Channel>
__device__ inline void give(guint8 *out, const float2 (&v)[R], Channel channel, int *clipped)
{
  using Out = BytesOut<TO>;
  typename Out::Sample *to = (typename Out::Sample *)out;
  guint32 differs = 0;

#pragma unroll
  for (int r = 0; r < R; r++) {
    const float2 value = v[bin_place<R>(r)];
    const guint32 re = lifted<Out::RANGE>(value.x), im = lifted<Out::RANGE>(value.y);
    differs |= re ^ 0x4b400000;
    differs |= im ^ 0x4b400000;
    to[channel(r)] = Out::pack(re, im);
  }
  if (differs < Out::RANGE)
    return;
#pragma unroll
  for (int r = 0; r < R; r++) {
    const float2 value = v[bin_place<R>(r)];
    const int re = hold<float>(value.x, Out::LOW, Out::HIGH, clipped),
              im = hold<float>(value.y, Out::LOW, Out::HIGH, clipped);
    to[channel(r)] = Out::pack(re - Out::LOW, im - Out::LOW);
  }
}

template <int R, typename Shape>
__device__ inline void pass_last(const ChannelizerRun &run, const Shape &shape,
                                 const BytesGroup *groups, const float2 *points, guint8 *out,
                                 int *clipped)
{
  const guint32 before = shape.before, units = shape.groups * BYTES_TOGETHER * before;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < units; unit += BYTES_THREADS) {
    const guint32 spectrum = shape.over_before(unit), k = unit - spectrum * before;
    const float2 *own = points + spectrum * shape.row + k * shape.pitch;
    float2 v[R];
    if (spectrum % BYTES_TOGETHER >= groups[spectrum / BYTES_TOGETHER].there)
      continue;
    if constexpr (R % 2 == 0) {
#pragma unroll
      for (int r = 0; r < R; r += 2) {
        const float4 two = *(const float4 *)(own + r);
        v[r] = make_float2(two.x, two.y);
        v[r + 1] = make_float2(two.z, two.w);
      }
    } else {
#pragma unroll
      for (int r = 0; r < R; r++)
        v[r] = own[r];
    }
    transform_rotated<R>(run.powers, k, before, v);

    /* The centre of the band is in channel n / 2. */
    auto channel = [&](int r) -> guint32 {
      if constexpr (R % 2 == 0)
        return k + (r + R / 2) % R * before;
      else {
        const guint32 raw = k + r * before + shape.n / 2;
        return raw >= shape.n ? raw - shape.n : raw;
      }
    };
    if (run.gains)
#pragma unroll
      for (int r = 0; r < R; r++) {
        const float gain = run.gains[channel(r)];
        v[bin_place<R>(r)].x *= gain;
        v[bin_place<R>(r)].y *= gain;
      }
    if (run.to == ASTRO_FORMAT_CI8)
      give<R, ASTRO_FORMAT_CI8>(out + spectrum * shape.n * 2, v, channel, clipped);
    else
      give<R, ASTRO_FORMAT_CI4>(out + spectrum * shape.n, v, channel, clipped);
  }
}

/* Subtracts half the range again. */
__device__ inline guint32 signed_bytes(guint32 word, guint32 flip)
{
  return word ^ flip;
}
__device__ inline uint2 signed_bytes(uint2 word, guint32 flip)
{
  return make_uint2(word.x ^ flip, word.y ^ flip);
}
__device__ inline uint4 signed_bytes(uint4 word, guint32 flip)
{
  return make_uint4(word.x ^ flip, word.y ^ flip, word.z ^ flip, word.w ^ flip);
}

/* The spectra of a group lie one after another in the output. */
template <typename Word>
__device__ inline void write(const ChannelizerRun &run, const BytesWork &work, guint32 n_groups,
                             const BytesGroup *groups, const guint8 *out)
{
  const bool wide = run.to == ASTRO_FORMAT_CI8;
  const guint32 spectrum = wide ? run.n * 2 : run.n, flip = wide ? 0x80808080 : 0x88888888;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < n_groups * work.words.by; unit += BYTES_THREADS) {
    const guint32 i = work.words.divide(unit);
    const BytesGroup group = groups[i];
    const guint32 begin = (unit - i * work.words.by) * (guint32)sizeof(Word),
                  end = group.there * spectrum;
    guint8 *to = run.out + (group.input * run.count + group.first) * spectrum;
    const guint8 *from = out + i * BYTES_TOGETHER * spectrum;
    if (begin + sizeof(Word) <= end)
      *(Word *)(to + begin) = signed_bytes(*(const Word *)(from + begin), flip);
    else
      for (guint32 at = begin; at < end; at++)
        to[at] = from[at] ^ (guint8)flip;
  }
}

/* ---- the kernel ---- */

template <typename Sample, int WIDTH, typename Shape>
__device__ inline void filter(const ChannelizerRun &run, const Shape &shape,
                              const BytesGroup *groups, float2 *points)
{
  const guint32 columns = shape.n / WIDTH;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < shape.groups * columns; unit += BYTES_THREADS) {
    const guint32 i = shape.over_columns(unit, WIDTH), point = (unit - i * columns) * WIDTH;
    const guint32 run_of = shape.over_after(point);
    const BytesGroup group = groups[i];
    float2 *to =
        points + i * BYTES_TOGETHER * shape.row + run_of * (shape.pitch - shape.after) + point;
    if (group.there == 0)
      continue;
    filter_group<Sample, WIDTH>(run, shape, group.input, group.first, group.there, point,
                                [&](guint32 spectrum, const float2(&sums)[WIDTH]) {
                                  float2 *own = to + spectrum * shape.row;
                                  if constexpr (WIDTH == 2)
                                    *(float4 *)own =
                                        make_float4(sums[0].x, sums[0].y, sums[1].x, sums[1].y);
                                  else
                                    *own = sums[0];
                                });
  }
}

template <typename Sample, int WIDTH, typename Shape>
__global__ void __launch_bounds__(BYTES_THREADS, 5)
    channelize(const __grid_constant__ ChannelizerRun run, const __grid_constant__ Shape shape,
               const __grid_constant__ BytesWork work)
{
  extern __shared__ __align__(16) guint8 out[];
  __shared__ BytesGroup groups[BYTES_MOST_GROUPS];
  float2 *points = (float2 *)(out + BYTES_OUT);
  int clipped = 0;

  if (threadIdx.x < shape.groups) {
    const guint32 number = blockIdx.x * shape.groups + threadIdx.x, input = number / work.of_input;
    const guint64 first = (guint64)(number - input * work.of_input) * BYTES_TOGETHER;
    groups[threadIdx.x] = { first, input,
                            number < work.total
                                ? (guint32)min((guint64)BYTES_TOGETHER, run.count - first)
                                : 0 };
  }
  __syncthreads();
  filter<Sample, WIDTH>(run, shape, groups, points);
  __syncthreads();
  shape.first([&](auto radix) { pass_first<radix>(shape, points); });
  __syncthreads();
  shape.last([&](auto radix) { pass_last<radix>(run, shape, groups, points, out, &clipped); });
  __syncthreads();
  switch (work.word) {
  case 16:
    write<uint4>(run, work, shape.groups, groups, out);
    break;
  case 8:
    write<uint2>(run, work, shape.groups, groups, out);
    break;
  case 4:
    write<guint32>(run, work, shape.groups, groups, out);
    break;
  default:
    write<guint8>(run, work, shape.groups, groups, out);
  }
  channelizer_count(run, clipped);
}

/* ---- launch ---- */

/* Two factors of n whose sum is least, the second even if n is; 0: there are none. */
static guint32 first_factor(guint32 n)
{
  guint32 best = 0;
  for (guint32 first = 2; first <= BYTES_WIDEST && n >= BYTES_LEAST; first++) {
    const guint32 last = n / first;
    if (n % first == 0 && last <= BYTES_WIDEST && last > 1 && (last % 2 == 0 || n % 2) &&
        (!best || first + last < best + n / best))
      best = first;
  }
  return best;
}

gboolean astro_channelizer_takes_bytes(guint32 n)
{
  return first_factor(n) != 0;
}

guint astro_channelizer_bytes_powers(guint32 n, float2 *powers)
{
  const guint32 before = first_factor(n), last = n / before;
  const bool turns = last >= 4 && (last & (last - 1)) == 0;
  guint each = turns ? last / 2 : 4;
  for (guint32 k = 0; k < before && powers; k++) {
    double turn[BYTES_WIDEST / 2];
    const double w = k / (double)n;
    if (last == 16)
      fft_turns<16>(w, turn);
    else if (last == 8)
      fft_turns<8>(w, *(double(*)[4])turn);
    else if (last == 4)
      fft_turns<4>(w, *(double(*)[2])turn);
    for (guint i = 0; i < each; i++) {
      const double angle = -2 * G_PI * (turns ? turn[i] : w * (1 << i));
      powers[turns ? (i / 2 * before + k) * 2 + i % 2 : i * before + k] =
          make_float2((float)cos(angle), (float)sin(angle));
    }
  }
  return each * before;
}

static BytesAny shape_of(guint32 n, guint width)
{
  const guint32 before = first_factor(n), after = n / before;
  return { .n = n,
           .before = before,
           .after = after,
           .pitch = bytes_pitch(after),
           .row = bytes_row(before, after),
           .groups = BYTES_POINTS / n,
           .by_after = AstroDivisor(after),
           .by_before = AstroDivisor(before),
           .by_columns = AstroDivisor(n / width) };
}

template <typename Sample, int WIDTH, typename Shape>
static gboolean launch(const ChannelizerRun *run, const Shape &shape, const BytesWork &work,
                       cudaStream_t stream, GError **error)
{
  const auto kernel = channelize<Sample, WIDTH, Shape>;
  const guint32 blocks = (work.total + shape.groups - 1) / shape.groups;
  if (!astro_cuda_allow_shared((const void *)kernel, error))
    return FALSE;
  kernel<<<blocks, BYTES_THREADS, bytes_shared(shape.groups, shape.row), stream>>>(*run, shape,
                                                                                   work);
  return CUDA_TRY(cudaGetLastError());
}

template <typename Sample>
static gboolean launch_any(const ChannelizerRun *run, const BytesWork &work, cudaStream_t stream,
                           GError **error)
{
  /* Two points side by side also have their samples so. */
  const guint width = run->n % 2 == 0 && run->turn % 2 == 0 ? 2 : 1;
  const BytesAny shape = shape_of(run->n, width);
  return width == 2 ? launch<Sample, 2>(run, shape, work, stream, error)
                    : launch<Sample, 1>(run, shape, work, stream, error);
}

template <typename Sample>
static gboolean launch_bytes(const ChannelizerRun *run, const BytesWork &work, cudaStream_t stream,
                             GError **error)
{
  switch (run->n) {
#define FIXED(first, last)                                                                         \
  case (first) * (last):                                                                           \
    return launch<Sample, 2>(run, BytesFixed<first, last>(), work, stream, error);
    FIXED(4, 4)
    FIXED(4, 8)
    FIXED(6, 6)
    FIXED(8, 8)
    FIXED(8, 16)
    FIXED(16, 16)
#undef FIXED
  default:
    return launch_any<Sample>(run, work, stream, error);
  }
}

gboolean astro_channelizer_bytes(AstroFormat from, const ChannelizerRun *run, cudaStream_t stream,
                                 GError **error)
{
  const gsize spectrum = run->n * astro_format_info(run->to)->bytes;
  const gsize apart = (guintptr)run->out | run->count * spectrum | BYTES_TOGETHER * spectrum;
  const guint32 word = apart % 16 == 0 ? 16 : apart % 8 == 0 ? 8 : apart % 4 == 0 ? 4 : 1;
  BytesWork work = { .of_input = (guint32)((run->count + BYTES_TOGETHER - 1) / BYTES_TOGETHER),
                     .words = AstroDivisor((guint32)(BYTES_TOGETHER * spectrum / word)),
                     .word = word };
  work.total = work.of_input * run->inputs;
  return from == ASTRO_FORMAT_CI4 ? launch_bytes<ChannelizerNibbles>(run, work, stream, error)
                                  : launch_bytes<char2>(run, work, stream, error);
}
