/* Shared by the kernels that make pixels and those that make planes of them. If samples and pixels
 * are both in single precision, all is computed in it except n - 1. */
#pragma once

#include "gpu/runtime/cuda.h"

/* Pixels in a column. */
struct ImageColumn {
  double l2, m, pixel; /* m: of the first pixel */

  __device__ double n_minus_1(guint32 row, double) const
  {
    double at = m + (double)row * pixel, r2 = l2 + at * at;
    return -r2 / (1 + sqrt(1 - r2));
  }

  /* To 1e-13, which after a million wavelengths is still below single precision: one step of
   * Newton's method from an approximate root in single precision. */
  __device__ double n_minus_1(guint32 row, float) const
  {
    double at = m + (double)row * pixel, square = (1 - l2) - at * at;
    float about;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(about) : "f"((float)square));
    double inverse = about, root = square * inverse;
    return root + (square - root * root) * (0.5 * inverse) - 1;
  }
};

/* exp(-2 pi i turns), turns in cycles. Whole numbers are found by adding a number so large that it
 * has no fraction, because there are few units that round and convert. Then polynomials in half
 * cycles, up to a quarter, and the quadrant. */
__device__ inline float2 image_phase(double turns, float)
{
  const double large = 0x1.8p52;
  const float large_single = 0x1.8p23f;
  const float x = (float)(2 * (turns - ((turns + large) - large)));
  const float shifted = 2 * x + large_single, r = x - 0.5f * (shifted - large_single), r2 = r * r;
  const int quadrant = __float_as_int(shifted) & 3;
  const float sine =
      r * 3.14159274f + r * r2 * (-5.16771984f + r2 * (2.55014420f - r2 * 0.592480242f));
  const float cosine =
      1 + r2 * (-4.93480206f + r2 * (4.05869246f + r2 * (-1.33456039f + r2 * 0.226860315f)));
  const float re = quadrant & 1 ? sine : cosine, im = quadrant & 1 ? cosine : sine;
  return make_float2(quadrant == 1 || quadrant == 2 ? -re : re, quadrant & 2 ? im : -im);
}
__device__ inline double2 image_phase(double turns, double)
{
  double2 phase;
  sincospi(-2 * (turns - rint(turns)), &phase.y, &phase.x);
  return phase;
}
