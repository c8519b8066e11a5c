/* The shapes of transforms in two or three passes, n = first x middle x last (middle is 1 in two),
 * and where their points lie in shared memory. Each run of `last` points is followed by a gap, so
 * that threads that read a run each, 16 bytes at a time, do not hit the same banks; and so is each
 * block of `middle` runs, and each spectrum, whose next one continues in the banks behind the
 * points that one access reads. */
#pragma once

#include "gpu/channelizer/channelizer.h"

#include <type_traits>

enum {
  BYTES_WIDEST = 16, /* points of a thread */
  BYTES_LEAST = 8,
  BYTES_EACH = 32, /* points for each thread of a block, at most */
  BYTES_MOST_GROUPS = 128 * BYTES_EACH / 16 / BYTES_LEAST,
};

struct BytesFactors {
  guint32 first, middle, last;

  constexpr guint32 pitch() const /* from run to run */
  {
    return last % 4 == 0 && last > 4 ? last + 2 : last;
  }
  constexpr guint32 block() const
  {
    const guint32 least = middle * pitch();
    return middle == 1 || least % 4 == 2 || least % 2 ? least : least + (last % 2 ? 1 : 2);
  }
  constexpr guint32 row() const /* from spectrum to spectrum */
  {
    const guint32 least = first * block();
    return least + (last + 16 - least % 16) % 16;
  }
};

/* How spectra are shared among threads: `together` spectra of an input are filtered together and
 * make a group; a block has as many groups as its threads have points. */
template <int TOGETHER, int THREADS> struct BytesSharing {
  static constexpr guint32 together = TOGETHER, threads = THREADS;
  static constexpr guint32 out_bytes = BYTES_EACH * THREADS * 2;

  static constexpr guint32 groups_of(guint32 n)
  {
    return BYTES_EACH * threads / together / n;
  }
};
using BytesShort = BytesSharing<16, 128>; /* n up to 256 */
using BytesLong = BytesSharing<4, 128>;   /* up to 1024 */
using BytesLongest = BytesSharing<2, 256>;

/* Known when it is compiled. */
template <typename Sharing, int FIRST, int MIDDLE, int LAST> struct BytesFixed : Sharing {
  static constexpr BytesFactors factors = { FIRST, MIDDLE, LAST };
  static constexpr guint32 n = FIRST * MIDDLE * LAST, first = FIRST, middle = MIDDLE, last = LAST;
  static constexpr guint32 before = FIRST * MIDDLE, after = MIDDLE * LAST;
  static constexpr guint32 pitch = factors.pitch(), block = factors.block(), row = factors.row();
  static constexpr guint32 groups = Sharing::groups_of(n), width = 2;

  static __device__ guint32 over_first(guint32 x)
  {
    return x / first;
  }
  static __device__ guint32 over_last(guint32 x)
  {
    return x / last;
  }
  static __device__ guint32 over_before(guint32 x)
  {
    return x / before;
  }
  static __device__ guint32 over_after(guint32 x)
  {
    return x / after;
  }
  static __device__ guint32 over_columns(guint32 x)
  {
    return x / (n / width);
  }
  template <guint32 RADIX, typename Pass> static __device__ void with(Pass pass)
  {
    pass(std::integral_constant<int, RADIX>());
  }
  template <typename Pass> static __device__ void with_first(Pass pass)
  {
    with<FIRST>(pass);
  }
  template <typename Pass> static __device__ void with_middle(Pass pass)
  {
    with<MIDDLE>(pass);
  }
  template <typename Pass> static __device__ void with_last(Pass pass)
  {
    with<LAST>(pass);
  }
};

/* Any other factors. */
template <typename Sharing> struct BytesAny : Sharing {
  guint32 n, first, middle, last, before, after, pitch, block, row, groups;
  guint32 width; /* points side by side that a thread filters */
  AstroDivisor by_first, by_last, by_before, by_after, by_columns;

  BytesAny(BytesFactors factors, guint32 points)
      : n(factors.first * factors.middle * factors.last), first(factors.first),
        middle(factors.middle), last(factors.last), before(first * middle), after(middle * last),
        pitch(factors.pitch()), block(factors.block()), row(factors.row()),
        groups(Sharing::groups_of(n)), width(points), by_first(first), by_last(last),
        by_before(before), by_after(after), by_columns(n / width)
  {
  }
  __device__ guint32 over_first(guint32 x) const
  {
    return by_first.divide(x);
  }
  __device__ guint32 over_last(guint32 x) const
  {
    return by_last.divide(x);
  }
  __device__ guint32 over_before(guint32 x) const
  {
    return by_before.divide(x);
  }
  __device__ guint32 over_after(guint32 x) const
  {
    return by_after.divide(x);
  }
  __device__ guint32 over_columns(guint32 x) const
  {
    return by_columns.divide(x);
  }
  template <typename Pass> static __device__ void with(guint32 radix, Pass pass)
  {
    switch (radix) {
#define RADIX(r)                                                                                   \
  case r:                                                                                          \
    return pass(std::integral_constant<int, r>());
      CHANNELIZER_RADIXES
#undef RADIX
    }
  }
  template <typename Pass> __device__ void with_first(Pass pass) const
  {
    with(first, pass);
  }
  template <typename Pass> __device__ void with_middle(Pass pass) const
  {
    with(middle, pass);
  }
  template <typename Pass> __device__ void with_last(Pass pass) const
  {
    with(last, pass);
  }
};

template <typename Shape> guint32 bytes_shared(const Shape &shape)
{
  return shape.out_bytes + shape.groups * shape.together * shape.row * (guint32)sizeof(float2);
}
