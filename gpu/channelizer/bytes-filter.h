/* The filter of bytes.cu. A thread has one or two adjacent points of an input, keeps their weights
 * in registers, and reads each of their samples once for all spectra of a group. */
#pragma once

#include "gpu/channelizer/bytes-shape.h"

/* Points that come next to each other in memory, and their samples as numbers: a byte or nibble
 * without its sign becomes the low bits of a large number, from which that number is subtracted,
 * since conversions are slow. Nibbles in higher bits are scaled down as well, which is exact. */
template <typename Sample, int WIDTH> struct BytesPoints;

template <int WIDTH> struct BytesPoints<char2, WIDTH> {
  using Word = std::conditional_t<WIDTH == 2, guint32, guint16>;

  static __device__ float part(guint32 flipped, guint32 which)
  {
    return __fadd_rn(__uint_as_float(__byte_perm(flipped, 0x4b000000, 0x7440 | which)), -8388736);
  }
  static __device__ void numbers(Word word, float2 (&x)[WIDTH])
  {
    const guint32 flipped = word ^ 0x80808080u;
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
      x[i] = make_float2(part(flipped, 2 * i), part(flipped, 2 * i + 1));
  }
};

template <int WIDTH> struct BytesPoints<ChannelizerNibbles, WIDTH> {
  using Word = std::conditional_t<WIDTH == 2, guint16, guint8>;

  template <int SHIFT> static __device__ float part(guint32 word)
  {
    constexpr float scale = 1.f / (1 << SHIFT);
    return __fmaf_rn(__uint_as_float((word & 0xfu << SHIFT) ^ (0x4b000000u | 8u << SHIFT)), scale,
                     -8388608 * scale - 8);
  }
  static __device__ void numbers(Word word, float2 (&x)[WIDTH])
  {
    x[0] = make_float2(part<4>(word), part<0>(word));
    if constexpr (WIDTH == 2)
      x[1] = make_float2(part<12>(word), part<8>(word));
  }
};

/* Filters the points of a group for a known number of taps. load(row, numbers) gives the samples of
 * a row, give(spectrum, sums) takes a result. Sums are of the same order in filter_any. */
template <int WIDTH, int TAPS, typename Shape, typename Load, typename Give>
__device__ inline void filter_taps(const float *of_point, const Shape &shape, Load load, Give give)
{
  float weights[TAPS][WIDTH];
  float2 sums[TAPS][WIDTH]; /* in rotation */

#pragma unroll
  for (int tap = 0; tap < TAPS; tap++)
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
      weights[tap][i] = of_point[tap * shape.n + i];
#pragma unroll
  for (int row = 0; row < (int)Shape::together + TAPS - 1; row++) {
    float2 x[WIDTH];
    load(row, x);
#pragma unroll
    for (int tap = 0; tap < TAPS; tap++)
      if (row - tap >= 0 && row - tap < (int)Shape::together)
#pragma unroll
        for (int i = 0; i < WIDTH; i++) {
          float2 &sum = sums[(row - tap) % TAPS][i];
          const float2 before = tap ? sum : make_float2(0, 0);
          sum.x = __fmaf_rn(weights[tap][i], x[i].x, before.x);
          sum.y = __fmaf_rn(weights[tap][i], x[i].y, before.y);
        }
    if (row >= TAPS - 1)
      give(row - TAPS + 1, sums[(row - TAPS + 1) % TAPS]);
  }
}

template <int WIDTH, typename Shape, typename Load, typename Give>
__device__ inline void filter_any(const float *of_point, const Shape &shape, guint32 taps,
                                  Load load, Give give)
{
#pragma unroll 1
  for (guint32 spectrum = 0; spectrum < Shape::together; spectrum++) {
    float2 sums[WIDTH] = {};
#pragma unroll 1
    for (guint32 tap = 0; tap < taps; tap++) {
      float2 x[WIDTH];
      load(spectrum + tap, x);
#pragma unroll
      for (int i = 0; i < WIDTH; i++) {
        const float weight = of_point[tap * shape.n + i];
        sums[i].x = __fmaf_rn(weight, x[i].x, sums[i].x);
        sums[i].y = __fmaf_rn(weight, x[i].y, sums[i].y);
      }
    }
    give(spectrum, sums);
  }
}

/* Filters these points of a group: `there` spectra from `first` on. Most groups have all spectra
 * and all samples in the block; in short blocks few do. */
template <typename Sample, int WIDTH, typename Shape, typename Give>
__device__ inline void filter_group(const ChannelizerRun &run, const Shape &shape, guint32 input,
                                    guint64 first, guint32 there, guint32 point, Give give)
{
  using Points = BytesPoints<Sample, WIDTH>;
  using Word = typename Points::Word;
  const guint32 turned = point + run.turn, rows = there + run.taps - 1;
  const gint64 begin = (gint64)first * shape.n;
  const gint64 at = begin + (turned >= shape.n ? turned - shape.n : turned);
  const float *weights = run.weights + point;
  const Sample *held = (const Sample *)run.in.held + (input * run.in.held_row + at);
  const Sample *block =
      (const Sample *)run.in.block + (input * run.in.block_row + (at - run.in.split));
  /* So many samples from this one on are held, those after them in the block. */
  const guint32 in_held = (guint32)max(min(run.in.split - at, (gint64)1 << 30), (gint64)0);
  const bool block_aligned = (guintptr)block % sizeof(Word) == 0,
             held_aligned =
                 !in_held || (in_held % WIDTH == 0 && (guintptr)held % sizeof(Word) == 0);
  const bool aligned = (!run.in.block || block_aligned) && held_aligned;
  const bool plain =
      run.in.block && block_aligned && begin >= run.in.split && there == Shape::together;

  auto quick = [&](int row, float2(&x)[WIDTH]) {
    Points::numbers(*(const Word *)(block + row * shape.n), x);
  };
  /* Samples may be held or in the block; those of spectra that are not there are not read. */
  auto near = [&](guint32 row, float2(&x)[WIDTH]) {
    const guint32 offset = row * shape.n;
    Word word = 0;
    if (row < rows && offset < in_held)
      word = *(const Word *)(held + offset);
    else if (row < rows && run.in.block)
      word = *(const Word *)(block + offset);
    Points::numbers(word, x);
  };
  auto careful = [&](guint32 row, float2(&x)[WIDTH]) {
#pragma unroll
    for (int i = 0; i < WIDTH; i++)
      x[i] = row < rows ? channelizer_sample<Sample>(run.in, input, at + (gint64)row * shape.n + i)
                        : make_float2(0, 0);
  };
  if (plain && run.taps == 8)
    filter_taps<WIDTH, 8>(weights, shape, quick, give);
  else if (plain && run.taps == 4)
    filter_taps<WIDTH, 4>(weights, shape, quick, give);
  else if (aligned && run.taps == 8)
    filter_taps<WIDTH, 8>(weights, shape, near, give);
  else
    filter_any<WIDTH>(weights, shape, run.taps, careful, give);
}
