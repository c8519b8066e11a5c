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

/* The nearest whole number that 16 bits hold, halves to even, in the low half of a word. */
__device__ inline guint32 nearest(float number)
{
  guint32 whole;
  asm("cvt.rni.s16.f32 %0, %1;" : "=r"(whole) : "f"(number));
  return whole;
}

/* Both components of a sample are held in range together, as halves of a word. */
template <AstroFormat TO> struct BytesOut;
template <> struct BytesOut<ASTRO_FORMAT_CI8> {
  using Sample = guint16;
  static constexpr guint32 low = 0xff80ff80, high = 0x007f007f;
  static __device__ Sample pack(guint32 both)
  {
    return (Sample)__byte_perm(both, 0, 0x0020);
  }
};
template <> struct BytesOut<ASTRO_FORMAT_CI4> {
  using Sample = guint8;
  static constexpr guint32 low = 0xfff8fff8, high = 0x00070007;
  static __device__ Sample pack(guint32 both)
  {
    return (Sample)(both << 4 | (both >> 16 & 15));
  }
};

/* Writes bins of a spectrum to their channels. */
template <int R, AstroFormat TO, typename Channel>
__device__ inline void give(guint8 *out, const float2 (&v)[R], Channel channel, int *clipped)
{
  using Out = BytesOut<TO>;
  typename Out::Sample *to = (typename Out::Sample *)out;
  guint32 differ = 0; /* how many re, how many im */

#pragma unroll
  for (int r = 0; r < R; r++) {
    const float2 value = v[bin_place<R>(r)];
    const guint32 both = __byte_perm(nearest(value.x), nearest(value.y), 0x5410),
                  held = __vmaxs2(__vmins2(both, Out::high), Out::low);
    differ += __vminu2(both ^ held, 0x00010001);
    to[channel(r)] = Out::pack(held);
  }
  *clipped += (int)((differ & 0xffff) + (differ >> 16));
}

/* The spectra of a group lie one after another in the output. */
template <typename Word, typename Shape>
__device__ inline void write(const ChannelizerRun &run, const Shape &shape, const BytesWork &work,
                             const BytesGroup *groups, const guint8 *out)
{
  const guint32 spectrum = run.to == ASTRO_FORMAT_CI8 ? shape.n * 2 : shape.n;
#pragma unroll 1
  for (guint32 unit = threadIdx.x; unit < shape.groups * work.words.by; unit += shape.threads) {
    const guint32 i = work.words.divide(unit);
    const BytesGroup group = groups[i];
    const guint32 begin = (unit - i * work.words.by) * (guint32)sizeof(Word),
                  end = group.there * spectrum;
    guint8 *to = run.out + (group.input * run.count + group.first) * spectrum;
    const guint8 *from = out + i * shape.together * spectrum;
    if (begin + sizeof(Word) <= end)
      *(Word *)(to + begin) = *(const Word *)(from + begin);
    else
      for (guint32 at = begin; at < end; at++)
        to[at] = from[at];
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
