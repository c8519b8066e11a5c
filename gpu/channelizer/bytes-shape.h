/* The shapes of transforms in two passes, n = first x last, and where their points lie in shared
 * memory: each run of `last` points is followed by a gap, so that threads that read a run each, 16
 * bytes at a time, do not hit the same banks, and so is each spectrum, whose next one continues in
 * the banks behind the points that one access reads. */
#pragma once

#include "gpu/channelizer/channelizer.h"

#include <type_traits>

enum {
  BYTES_THREADS = 128,
  BYTES_TOGETHER = 16, /* spectra of an input in a block: a group */
  BYTES_POINTS = 256,  /* of an input in all groups of a block, at most */
  BYTES_LEAST = 8,
  BYTES_WIDEST = 16,
  BYTES_MOST_GROUPS = BYTES_POINTS / BYTES_LEAST,
  BYTES_OUT = BYTES_POINTS * BYTES_TOGETHER * 2,
};

constexpr guint32 bytes_pitch(guint32 last)
{
  return last % 4 == 0 && last > 4 ? last + 2 : last;
}

constexpr guint32 bytes_row(guint32 first, guint32 last)
{
  const guint32 least = first * bytes_pitch(last);
  return least + (last + 16 - least % 16) % 16;
}

constexpr guint32 bytes_shared(guint32 groups, guint32 row)
{
  return BYTES_OUT + groups * BYTES_TOGETHER * row * (guint32)sizeof(float2);
}

/* Known when it is compiled. */
template <int FIRST, int LAST> struct BytesFixed {
  static constexpr guint32 n = FIRST * LAST, before = FIRST, after = LAST;
  static constexpr guint32 pitch = bytes_pitch(LAST), row = bytes_row(FIRST, LAST);
  static constexpr guint32 groups = BYTES_POINTS / n;

  static __device__ guint32 over_after(guint32 x)
  {
    return x / after;
  }
  static __device__ guint32 over_before(guint32 x)
  {
    return x / before;
  }
  static __device__ guint32 over_columns(guint32 x, guint32 width)
  {
    return x / (n / width);
  }
  template <typename Pass> static __device__ void first(Pass pass)
  {
    pass(std::integral_constant<int, FIRST>());
  }
  template <typename Pass> static __device__ void last(Pass pass)
  {
    pass(std::integral_constant<int, LAST>());
  }
};

/* Any other two factors. */
struct BytesAny {
  guint32 n, before, after, pitch, row, groups;
  AstroDivisor by_after, by_before, by_columns;

  __device__ guint32 over_after(guint32 x) const
  {
    return by_after.divide(x);
  }
  __device__ guint32 over_before(guint32 x) const
  {
    return by_before.divide(x);
  }
  __device__ guint32 over_columns(guint32 x, guint32 width) const
  {
    return by_columns.divide(x);
  }
  template <typename Pass> static __device__ void with(guint32 radix, Pass pass)
  {
    switch (radix) {
#define RADIX(r)                                                                                   \
  case r:                                                                                          \
    return pass(std::integral_constant<int, r>());
      RADIX(2)
      RADIX(3)
      RADIX(4)
      RADIX(5)
      RADIX(6)
      RADIX(7)
      RADIX(8)
      RADIX(9)
      RADIX(10)
      RADIX(11)
      RADIX(12)
      RADIX(13)
      RADIX(14)
      RADIX(15)
      RADIX(16)
#undef RADIX
    }
  }
  template <typename Pass> __device__ void first(Pass pass) const
  {
    with(before, pass);
  }
  template <typename Pass> __device__ void last(Pass pass) const
  {
    with(after, pass);
  }
};
