/* The results of bytes.cu: numbers become bytes of shared memory in the order of channels, and then
 * leave in words. */
#pragma once

#include "gpu/channelizer/bytes-transform.h"

/* Groups are numbered through all inputs. A word: bytes that are written at once. */
struct BytesWork {
  AstroFormat from;
  guint32 total, of_input;
  AstroDivisor words; /* in a group */
  guint32 word;
};

struct BytesGroup {
  guint64 first; /* spectrum */
  guint32 input, there;
};

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
template <typename Word, typename Shape>
__device__ inline void write(const ChannelizerRun &run, const Shape &shape, const BytesWork &work,
                             const BytesGroup *groups, const guint8 *out)
{
  const bool wide = run.to == ASTRO_FORMAT_CI8;
  const guint32 spectrum = wide ? shape.n * 2 : shape.n, flip = wide ? 0x80808080 : 0x88888888;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < shape.groups * work.words.by; unit += shape.threads) {
    const guint32 i = work.words.divide(unit);
    const BytesGroup group = groups[i];
    const guint32 begin = (unit - i * work.words.by) * (guint32)sizeof(Word),
                  end = group.there * spectrum;
    guint8 *to = run.out + (group.input * run.count + group.first) * spectrum;
    const guint8 *from = out + i * shape.together * spectrum;
    if (begin + sizeof(Word) <= end)
      *(Word *)(to + begin) = signed_bytes(*(const Word *)(from + begin), flip);
    else
      for (guint32 at = begin; at < end; at++)
        to[at] = from[at] ^ (guint8)flip;
  }
}

template <typename Shape>
__device__ inline void write_groups(const ChannelizerRun &run, const Shape &shape,
                                    const BytesWork &work, const BytesGroup *groups,
                                    const guint8 *out)
{
  switch (work.word) {
  case 16:
    return write<uint4>(run, shape, work, groups, out);
  case 8:
    return write<uint2>(run, shape, work, groups, out);
  case 4:
    return write<guint32>(run, shape, work, groups, out);
  default:
    write<guint8>(run, shape, work, groups, out);
  }
}
