/* Transforms of 2^n points in registers, with twiddles inside the butterflies: (a, b) to (a + s b,
 * 2 a - (a + s b)), in six multiply-adds. Afterwards bin k is at fft_reversed<R>(k). */
#pragma once

#include "gpu/lib/fft/butterflies.h"

template <int R> __device__ constexpr int fft_reversed(int number)
{
  int reversed = 0;
  for (int bit = 1; bit < R; bit *= 2, number /= 2)
    reversed = reversed * 2 + number % 2;
  return reversed;
}

/* A butterfly with s or, for a quarter cycle more, -i s. */
template <typename C> __device__ inline void fft_butterfly(C &a, C &b, C s, bool quarter)
{
  const C sum = quarter
                    ? C{ fma(s.x, b.y, fma(s.y, b.x, a.x)), fma(-s.x, b.x, fma(s.y, b.y, a.y)) }
                    : C{ fma(s.x, b.x, fma(-s.y, b.y, a.x)), fma(s.x, b.y, fma(s.y, b.x, a.y)) };
  b = C{ fma((decltype(C::x))2, a.x, -sum.x), fma((decltype(C::x))2, a.y, -sum.y) };
  a = sum;
}

/* The stages from the one with GROUPS groups of butterflies on, whose points lie SPAN apart. If w
 * is the rotation from point to point, a group rotates by w^SPAN, and by SPAN R-ths of a cycle
 * times the bit-reversed number of the group. The second half of the reversed numbers is a quarter
 * cycle from the first, so that a stage has half as many twiddles of its own as groups. Calls
 * butterfly(a, b, index among all twiddles, R-ths of a cycle, whether to add a quarter cycle). */
template <int R, int GROUPS, typename C, typename Butterfly>
__device__ inline void fft_stages(C (&v)[R], Butterfly butterfly)
{
  if constexpr (GROUPS < R) {
    constexpr int SPAN = R / 2 / GROUPS, HALF = GROUPS / 2;
#pragma unroll
    for (int group = 0; group < GROUPS; group++) {
      const int reverse = fft_reversed<GROUPS>(group);
      const bool quarter = HALF && reverse >= HALF;
      const int own = quarter ? reverse - HALF : reverse;
#pragma unroll
      for (int i = 0; i < SPAN; i++)
        butterfly(v[group * 2 * SPAN + i], v[(group * 2 + 1) * SPAN + i], HALF + own, own * SPAN,
                  quarter);
    }
    fft_stages<R, GROUPS * 2>(v, butterfly);
  }
}

/* Sum of v[r] exp(-2 pi i r k / R). */
template <int R, typename C> __device__ inline void fft_inside(C (&v)[R])
{
  using Part = decltype(C::x);
  constexpr FftRoots<R> roots;
  fft_stages<R, 1>(v, [&](C &a, C &b, int which, int angle, bool quarter) {
    if (angle)
      fft_butterfly(a, b, C{ (Part)roots.cosine[angle], (Part)-roots.sine[angle] }, quarter);
    else {
      const C turned = quarter ? C{ b.y, -b.x } : b;
      b = fft_sub(a, turned);
      a = fft_add(a, turned);
    }
  });
}

/* Sum of v[r] w^r exp(-2 pi i r k / R); fft_turns gives the rotations of the twiddles. */
template <int R, typename C>
__device__ inline void fft_turned(C (&v)[R], const C (&twiddles)[R / 2])
{
  fft_stages<R, 1>(v, [&](C &a, C &b, int which, int angle, bool quarter) {
    fft_butterfly(a, b, twiddles[which], quarter);
  });
}

/* Rotations of the twiddles, in cycles, if w rotates by `turn` cycles. */
template <int R> void fft_turns(double turn, double (&turns)[R / 2])
{
  for (int groups = 1; groups < R; groups *= 2)
    for (int own = 0; own < (groups + 1) / 2; own++)
      turns[groups / 2 + own] = (R / 2 / groups) * (turn + (double)own / R);
}
