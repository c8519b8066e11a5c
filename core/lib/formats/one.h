/* Components one at a time, for the portable level. The compiler turns loops over them into
 * vectors by itself, as nothing is called, and only halves branch. They also take the ends of
 * blocks, which are too short for vectors. Products must be rounded before anything is added to
 * them (see Makefile.am). */
#pragma once

#include "core/lib/formats/kernels.h"

#include <math.h>
#include <string.h>

enum { SINGLE_AT_ONCE = 1, DOUBLE_AT_ONCE = 1 };
typedef float Single;
typedef double Double;
typedef gint32 Whole, Half; /* products in single and in double precision, rounded */

/* The operations of core/kit/vector.h that rounding.h needs, on a vector of one. */
#define one_all(a) (a)
#define one_below(a, b) ((a) < (b))
#define one_at_least(a, b) ((a) >= (b))
#define one_ordered(a) ((a) == (a))
#define one_pick(mask, a, b) ((mask) ? (a) : (b))
#define one_least(a, b) ((a) < (b) ? (a) : (b))
#define one_greatest(a, b) ((a) > (b) ? (a) : (b))

#define single_outside(fits) (guint) !(fits)
#define double_outside(fits) (guint) !(fits)
#define count_lanes(clipped) (clipped)

/* The whole number nearest to the one held, and 0 where the product is not a number. Adding 1.5 *
 * 2^23 leaves it, rounded to even, in the low bits. */
static inline gint32 single_nearest(gboolean is_number, float held)
{
  gint32 bits;
  held = (is_number ? held : 0) + 0x1.8p23f;
  memcpy(&bits, &held, sizeof bits);
  return bits - 0x4b400000;
}

static inline gint32 double_nearest(gboolean is_number, double held)
{
  gint64 bits;
  held = (is_number ? held : 0) + 0x1.8p52;
  memcpy(&bits, &held, sizeof bits);
  return (gint32)bits;
}

#define REAL float
#define REALS float
#define MASK gboolean
#define ROUNDED gint32
#define NAME(function) single_##function
#define OPERATION(name) one_##name
#include "core/lib/formats/rounding.h"

#define REAL double
#define REALS double
#define MASK gboolean
#define ROUNDED gint32
#define NAME(function) double_##function
#define OPERATION(name) one_##name
#include "core/lib/formats/rounding.h"

#define single_all(number) (float)(number)
#define double_all(number) (number)

/* ---- from memory ---- */

#define FROM(precision, Real, from, Stored)                                                        \
  static inline Real precision##_from_##from(gconstpointer in, gsize i)                            \
  {                                                                                                \
    Stored stored;                                                                                 \
    memcpy(&stored, (const guint8 *)in + i * sizeof stored, sizeof stored);                        \
    return (Real)stored;                                                                           \
  }
FROM(single, float, i8, gint8)
FROM(single, float, i16, gint16)
FROM(single, float, f32, float)
FROM(double, double, i32, gint32)
FROM(double, double, u64, guint64)
FROM(double, double, f64, double)

/* A component of CI4 with an even index is the high nibble. */
static inline float single_from_i4(gconstpointer in, gsize i)
{
  const guint byte = ((const guint8 *)in)[i / 2];
  const gint32 nibble = i % 2 ? byte & 15 : byte >> 4;
  return (nibble ^ 8) - 8;
}

/* Below the smallest normal number the fraction is a count of 2^-24. */
static inline float single_from_f16(gconstpointer in, gsize i)
{
  guint16 half;
  memcpy(&half, (const guint8 *)in + i * sizeof half, sizeof half);
  const guint32 sign = (guint32)(half & 0x8000) << 16, magnitude = half & 0x7fff;
  float small = magnitude * 0x1p-24f, value;
  guint32 bits;
  memcpy(&bits, &small, sizeof bits);
  if (magnitude >= 0x7c00)
    bits = (magnitude << 13) + ((255 - 31) << 23);
  else if (magnitude >= 0x0400)
    bits = (magnitude << 13) + ((127 - 15) << 23);
  bits |= sign;
  memcpy(&value, &bits, sizeof value);
  return value;
}

#define double_from_i4 (double)single_from_i4
#define double_from_i8 (double)single_from_i8
#define double_from_i16 (double)single_from_i16
#define double_from_f16 (double)single_from_f16
#define double_from_f32 (double)single_from_f32

/* ---- to memory ---- */

#define PUT(kind, Value, to, Stored)                                                               \
  static inline void kind##_put_##to(gpointer out, gsize i, Value value)                           \
  {                                                                                                \
    const Stored stored = (Stored)value;                                                           \
    memcpy((guint8 *)out + i * sizeof stored, &stored, sizeof stored);                             \
  }
PUT(single, gint32, i8, gint8)
PUT(single, gint32, i16, gint16)
PUT(double, gint32, i32, gint32)
PUT(single, float, f32, float)
PUT(double, double, f64, double)
PUT(bits, guint64, u64, guint64)

/* Both nibbles of a byte are written one after the other, the high one first. */
static inline void single_put_i4(gpointer out, gsize i, gint32 whole)
{
  guint8 *byte = (guint8 *)out + i / 2;
  *byte = i % 2 ? *byte | (whole & 15) : (guint8)((guint)whole << 4);
}

#define double_put_i4 single_put_i4
#define double_put_i8 single_put_i8
#define double_put_i16 single_put_i16

/* Rounds once from double; a product in single precision is widened first, which is exact. A half
 * from 65520 on is infinite: clipped where the component that came in was finite. */
static inline guint double_to_f16(gpointer out, gsize i, double x, double product)
{
  const double magnitude = fabs(product);
  guint64 bits;
  memcpy(&bits, &product, sizeof bits);
  const guint64 sign = bits >> 48 & 0x8000;
  bits &= G_MAXINT64;
  guint16 half;
  if (product != product) {
    half = 0x7e00;
  } else if (magnitude >= 65520.0) {
    half = (guint16)(sign | 0x7c00);
  } else if (magnitude >= 0x1p-14) {
    const guint64 even = bits >> 42 & 1;
    half = (guint16)(sign | (((bits + (G_GUINT64_CONSTANT(1) << 41) - 1 + even) >> 42) -
                             ((1023 - 15) << 10)));
  } else {
    /* The sum's last place is worth 2^-24, as that of the half. */
    const double sum = magnitude + 0x1p28;
    memcpy(&bits, &sum, sizeof bits);
    half = (guint16)(sign | (bits & 0x7ff));
  }
  memcpy((guint8 *)out + i * sizeof half, &half, sizeof half);
  return magnitude >= 65520.0 && fabs(x) < (double)INFINITY;
}

static inline guint single_to_f16(gpointer out, gsize i, float x, float product)
{
  return double_to_f16(out, i, x, product);
}

static inline guint double_to_f32(gpointer out, gsize i, double x, double product)
{
  single_put_f32(out, i, product == product ? (float)product : (float)NAN);
  return 0;
}

/* 2^64 - 1 is no double: everything below 2^64 fits. From 2^52 on a double is whole. */
static inline guint double_to_u64(gpointer out, gsize i, double x, double product)
{
  guint64 whole = 0;
  if (product >= 0x1p64)
    whole = G_MAXUINT64;
  else if (product > 0)
    whole = (guint64)(product < 0x1p52 ? product + 0x1p52 - 0x1p52 : product);
  bits_put_u64(out, i, whole);
  return !(product >= -0.5 && product < 0x1p64);
}

static inline void fetch_ahead(gconstpointer in)
{
}
