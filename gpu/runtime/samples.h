/* Reads and writes components of samples, with the arithmetic of core/convert/convert.h. */
#pragma once

#include <cuda_fp16.h>

#include "core/stream/stream.h"

__device__ inline float single_of(gint8 x)
{
  return x;
}
__device__ inline float single_of(gint16 x)
{
  return x;
}
__device__ inline float single_of(__half x)
{
  return __half2float(x);
}
__device__ inline float single_of(float x)
{
  return x;
}
template <typename T> __device__ inline double double_of(T x)
{
  return (double)x;
}
template <> __device__ inline double double_of(__half x)
{
  return (double)__half2float(x);
}
template <> __device__ inline double double_of(guint64 x)
{
  return __ull2double_rn(x);
}

/* The real part is in the high nibble. */
__device__ inline gint8 nibble_of(guint8 byte, int component)
{
  return (gint8)(component % 2 ? byte << 4 : byte & 0xf0) >> 4;
}

/* Reads a complex sample in any of CI4, CI8, CI16LE, CF16LE and CF32LE. */
__device__ inline float2 read_sample(const guint8 *in, guint64 at, AstroFormat format)
{
  switch (format) {
  case ASTRO_FORMAT_CI4:
    return make_float2(nibble_of(in[at], 0), nibble_of(in[at], 1));
  case ASTRO_FORMAT_CI8: {
    char2 sample = ((const char2 *)in)[at];
    return make_float2(sample.x, sample.y);
  }
  case ASTRO_FORMAT_CI16LE: {
    short2 sample = ((const short2 *)in)[at];
    return make_float2(sample.x, sample.y);
  }
  case ASTRO_FORMAT_CF16LE:
    return __half22float2(((const __half2 *)in)[at]);
  default:
    return ((const float2 *)in)[at];
  }
}

/* Rounds and saturates to low...high, and counts what was out of range. low is even and high odd,
 * so that rounding halves to even moves high + 0.5 out of range but not low - 0.5. */
template <typename Real> __device__ inline int hold(Real product, Real low, Real high, int *clipped)
{
  *clipped += !(product >= low - (Real)0.5 && product < high + (Real)0.5);
  if constexpr (sizeof(Real) == 4)
    return max(min(__float2int_rn(product), (int)high), (int)low); /* NaN becomes 0 */
  else
    return product != product ? 0 : (int)fmin(fmax(rint(product), low), high);
}

/* The same for bytes, in the low eight bits, for numbers other than NaN. It uses arithmetic units
 * alone, since conversions run at an eighth of their rate: added to 3 x 2^22 in single precision, a
 * number loses its fraction, and the low bits of the sum are those of the whole number. */
__device__ inline guint32 hold_byte(float number, int *clipped)
{
  const float centre = 12582912;
  const float rounded = __fadd_rn(number, centre),
              held = fminf(fmaxf(rounded, centre - 128), centre + 127);
  int differs; /* -1 or 0 */
  asm("set.ne.s32.f32 %0, %1, %2;" : "=r"(differs) : "f"(held), "f"(rounded));
  *clipped -= differs;
  return __float_as_uint(held);
}

template <typename Real, typename In>
__device__ inline void write_one(gint8 *out, In in, Real product, int *clipped)
{
  *out = (gint8)hold<Real>(product, -128, 127, clipped);
}

template <typename Real, typename In>
__device__ inline void write_one(gint16 *out, In in, Real product, int *clipped)
{
  *out = (gint16)hold<Real>(product, -32768, 32767, clipped);
}

template <typename Real, typename In>
__device__ inline void write_one(gint32 *out, In in, Real product, int *clipped)
{
  *out = hold<double>(product, -2147483648.0, 2147483647.0, clipped);
}

template <typename Real, typename In>
__device__ inline void write_one(guint64 *out, In in, Real product, int *clipped)
{
  double whole = rint((double)product);
  bool above = whole >= 18446744073709551616.0, inside = whole >= 0 && !above;
  *clipped += !inside;
  *out = above ? G_MAXUINT64 : inside ? __double2ull_rz(whole) : 0;
}

template <typename Real, typename In>
__device__ inline void write_one(__half *out, In in, Real product, int *clipped)
{
  __half value;
  if constexpr (sizeof(Real) == 8)
    value = __double2half(product);
  else
    value = __float2half_rn(product);
  if (product != product)
    value = __ushort_as_half(0x7e00);
  *clipped += isfinite(in) && (__half_as_ushort(value) & 0x7fff) == 0x7c00;
  *out = value;
}

template <typename Real, typename In>
__device__ inline void write_one(float *out, In in, Real product, int *clipped)
{
  *out = product != product ? __uint_as_float(0x7fc00000) : (float)product;
}

template <typename Real, typename In>
__device__ inline void write_one(double *out, In in, Real product, int *clipped)
{
  *out = product != product ? __longlong_as_double(0x7ff8000000000000) : (double)product;
}

/* Writes a complex sample in any of these formats. */
__device__ inline void write_sample(guint8 *out, guint64 at, AstroFormat format, float2 sample,
                                    int *clipped)
{
  switch (format) {
  case ASTRO_FORMAT_CI4: {
    int re = hold<float>(sample.x, -8, 7, clipped), im = hold<float>(sample.y, -8, 7, clipped);
    out[at] = (guint8)(re << 4 | (im & 15));
    break;
  }
  case ASTRO_FORMAT_CI8: {
    char2 whole;
    write_one<float>((gint8 *)&whole.x, sample.x, sample.x, clipped);
    write_one<float>((gint8 *)&whole.y, sample.y, sample.y, clipped);
    ((char2 *)out)[at] = whole;
    break;
  }
  case ASTRO_FORMAT_CI16LE: {
    short2 whole;
    write_one<float>(&whole.x, sample.x, sample.x, clipped);
    write_one<float>(&whole.y, sample.y, sample.y, clipped);
    ((short2 *)out)[at] = whole;
    break;
  }
  case ASTRO_FORMAT_CF16LE: {
    __half re, im;
    write_one<float>(&re, sample.x, sample.x, clipped);
    write_one<float>(&im, sample.y, sample.y, clipped);
    ((__half2 *)out)[at] = __halves2half2(re, im);
    break;
  }
  default:
    ((float2 *)out)[at] = sample;
  }
}

/* Writes a real sample: I8, I16LE or F32LE. */
__device__ inline void write_real(guint8 *out, guint64 at, AstroFormat format, float sample,
                                  int *clipped)
{
  if (format == ASTRO_FORMAT_I8)
    write_one<float>((gint8 *)out + at, sample, sample, clipped);
  else if (format == ASTRO_FORMAT_I16LE)
    write_one<float>((gint16 *)out + at, sample, sample, clipped);
  else
    ((float *)out)[at] = sample;
}
