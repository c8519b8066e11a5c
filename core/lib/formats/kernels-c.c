/* Portable kernels. They also take the ends that the vector kernels leave.
 *
 * Written so that compilers vectorize them: no calls, no branches in the integer ones. Contraction
 * of products and sums must stay off (see Makefile.am): a product is rounded on its own.
 */
#include "config.h"
#include "core/lib/formats/kernels.h"

#include <math.h>
#include <string.h>

#define LOAD(type, in, i)                                                                          \
  type value;                                                                                      \
  memcpy(&value, (const guint8 *)(in) + (i) * sizeof value, sizeof value)
#define STORE(value, out, i) memcpy((guint8 *)(out) + (i) * sizeof(value), &(value), sizeof(value))

/* Loads of single precision; those of double precision widen them. */

/* A component of CI4 with an even index is the high nibble. */
static inline float load_i4(gconstpointer in, gsize i)
{
  guint byte = ((const guint8 *)in)[i / 2];
  gint nibble = i % 2 ? byte & 15 : byte >> 4;
  return (nibble ^ 8) - 8;
}

static inline float load_i8(gconstpointer in, gsize i)
{
  LOAD(gint8, in, i);
  return value;
}

static inline float load_i16(gconstpointer in, gsize i)
{
  LOAD(gint16, in, i);
  return value;
}

static inline float load_f32(gconstpointer in, gsize i)
{
  LOAD(float, in, i);
  return value;
}

/* Below the smallest normal number the fraction is a count of 2^-24. */
static inline float load_f16(gconstpointer in, gsize i)
{
  LOAD(guint16, in, i);
  guint32 sign = (guint32)(value & 0x8000) << 16, magnitude = value & 0x7fff;
  float small = magnitude * 0x1p-24f, result;
  guint32 bits;
  memcpy(&bits, &small, sizeof bits);
  if (magnitude >= 0x7c00)
    bits = (magnitude << 13) + ((255 - 31) << 23);
  else if (magnitude >= 0x0400)
    bits = (magnitude << 13) + ((127 - 15) << 23);
  bits |= sign;
  memcpy(&result, &bits, sizeof result);
  return result;
}

static inline double load_i32(gconstpointer in, gsize i)
{
  LOAD(gint32, in, i);
  return value;
}

static inline double load_f64(gconstpointer in, gsize i)
{
  LOAD(double, in, i);
  return value;
}

static inline double load_u64(gconstpointer in, gsize i)
{
  LOAD(guint64, in, i);
  return value;
}

/* Stores take the component that came in and its product, and return 1 where they clip. The limits
 * lie halfway to the next whole number: the upper one rounds out of range, the lower one does not.
 */

/* Adding 1.5 * 2^23 leaves the whole number, rounded to even, in the low bits. */
#define ROUND_SINGLE(low, high)                                                                    \
  float held = product < (high) ? product : (high);                                                \
  held = held > (low) ? held : (low);                                                              \
  held = (product == product ? held : 0.0f) + 0x1.8p23f;                                           \
  gint32 rounded;                                                                                  \
  memcpy(&rounded, &held, sizeof rounded);                                                         \
  rounded -= 0x4b400000;                                                                           \
  guint clipped = !(product >= (low)-0.5f) | !(product < (high) + 0.5f)

/* The same in double precision, for whole numbers of 32 bits. */
#define ROUND_DOUBLE(low, high)                                                                    \
  double held = product < (high) ? product : (high);                                               \
  held = held > (low) ? held : (low);                                                              \
  held = (product == product ? held : 0.0) + 0x1.8p52;                                             \
  gint64 bits;                                                                                     \
  memcpy(&bits, &held, sizeof bits);                                                               \
  gint32 rounded = (gint32)bits;                                                                   \
  guint clipped = !(product >= (low)-0.5) | !(product < (high) + 0.5)

/* Both nibbles of a byte are written one after the other, the high one first. */
static inline void put_nibble(gpointer out, gsize i, gint32 value)
{
  guint8 *byte = (guint8 *)out + i / 2;
  *byte = i % 2 ? *byte | (value & 15) : (guint8)((guint)value << 4);
}

static inline guint single_i4(gpointer out, gsize i, float x, float product)
{
  ROUND_SINGLE(-8.0f, 7.0f);
  put_nibble(out, i, rounded);
  return clipped;
}

static inline guint single_i8(gpointer out, gsize i, float x, float product)
{
  ROUND_SINGLE(-128.0f, 127.0f);
  gint8 result = (gint8)rounded;
  STORE(result, out, i);
  return clipped;
}

static inline guint single_i16(gpointer out, gsize i, float x, float product)
{
  ROUND_SINGLE(-32768.0f, 32767.0f);
  gint16 result = (gint16)rounded;
  STORE(result, out, i);
  return clipped;
}

static inline guint single_f32(gpointer out, gsize i, float x, float product)
{
  float result = product == product ? product : (float)NAN;
  STORE(result, out, i);
  return 0;
}

static inline guint double_i4(gpointer out, gsize i, double x, double product)
{
  ROUND_DOUBLE(-8.0, 7.0);
  put_nibble(out, i, rounded);
  return clipped;
}

static inline guint double_i8(gpointer out, gsize i, double x, double product)
{
  ROUND_DOUBLE(-128.0, 127.0);
  gint8 result = (gint8)rounded;
  STORE(result, out, i);
  return clipped;
}

static inline guint double_i16(gpointer out, gsize i, double x, double product)
{
  ROUND_DOUBLE(-32768.0, 32767.0);
  gint16 result = (gint16)rounded;
  STORE(result, out, i);
  return clipped;
}

static inline guint double_i32(gpointer out, gsize i, double x, double product)
{
  ROUND_DOUBLE(-2147483648.0, 2147483647.0);
  STORE(rounded, out, i);
  return clipped;
}

static inline guint double_f32(gpointer out, gsize i, double x, double product)
{
  float result = product == product ? (float)product : (float)NAN;
  STORE(result, out, i);
  return 0;
}

static inline guint double_f64(gpointer out, gsize i, double x, double product)
{
  double result = product == product ? product : (double)NAN;
  STORE(result, out, i);
  return 0;
}

/* 2^64 - 1 is no double: what lies below 2^64 fits. From 2^52 on a double is whole. */
static inline guint double_u64(gpointer out, gsize i, double x, double product)
{
  guint64 result = 0;
  if (product >= 0x1p64)
    result = G_MAXUINT64;
  else if (product > 0)
    result = (guint64)(product < 0x1p52 ? product + 0x1p52 - 0x1p52 : product);
  STORE(result, out, i);
  return !(product >= -0.5 && product < 0x1p64);
}

/* Rounds once from double; a single-precision product is widened first, which is exact. */
static inline guint double_f16(gpointer out, gsize i, double x, double product)
{
  double magnitude = fabs(product);
  guint64 bits, sign;
  memcpy(&bits, &product, sizeof bits);
  sign = bits >> 48 & 0x8000;
  bits &= G_MAXINT64;
  guint16 result;
  if (product != product) {
    result = 0x7e00;
  } else if (magnitude >= 65520.0) {
    result = (guint16)(sign | 0x7c00);
  } else if (magnitude >= 0x1p-14) {
    guint64 even = bits >> 42 & 1;
    result = (guint16)(sign | (((bits + (G_GUINT64_CONSTANT(1) << 41) - 1 + even) >> 42) -
                               ((1023 - 15) << 10)));
  } else {
    /* The sum's last place is worth 2^-24, as that of the result. */
    double sum = magnitude + 0x1p28;
    memcpy(&bits, &sum, sizeof bits);
    result = (guint16)(sign | (bits & 0x7ff));
  }
  STORE(result, out, i);
  return magnitude >= 65520.0 && fabs(x) < (double)INFINITY;
}

static inline guint single_f16(gpointer out, gsize i, float x, float product)
{
  return double_f16(out, i, x, product);
}

#define KERNEL(type, precision, FROM, from, TO, to)                                                \
  static guint64 convert_##FROM##_##TO(gpointer out, gconstpointer in, gsize components,           \
                                       double scale)                                               \
  {                                                                                                \
    type factor = (type)scale;                                                                     \
    guint clipped = 0;                                                                             \
    for (gsize i = 0; i < components; i++) {                                                       \
      type x = (type)load_##from(in, i);                                                           \
      clipped += precision##_##to(out, i, x, x * factor);                                          \
    }                                                                                              \
    return clipped;                                                                                \
  }
#define SINGLE(FROM, from, TO, to) KERNEL(float, single, FROM, from, TO, to)
#define DOUBLE(FROM, from, TO, to) KERNEL(double, double, FROM, from, TO, to)

ASTRO_CONVERT_PAIRS_SINGLE(SINGLE)
ASTRO_CONVERT_PAIRS_NIBBLES(SINGLE)
ASTRO_CONVERT_PAIRS_NARROW(SINGLE)
ASTRO_CONVERT_PAIRS_DOUBLE(DOUBLE)
ASTRO_CONVERT_PAIRS_U64(DOUBLE)

const AstroConvertKernels astro_convert_kernels_c = {
  ASTRO_CONVERT_PAIRS_SINGLE(ASTRO_CONVERT_ENTRY) ASTRO_CONVERT_PAIRS_NIBBLES(ASTRO_CONVERT_ENTRY)
      ASTRO_CONVERT_PAIRS_NARROW(ASTRO_CONVERT_ENTRY)
          ASTRO_CONVERT_PAIRS_DOUBLE(ASTRO_CONVERT_ENTRY)
              ASTRO_CONVERT_PAIRS_U64(ASTRO_CONVERT_ENTRY)
};

void astro_convert_nibbles(AstroConvertNibbles *nibbles, AstroFormat to, double scale)
{
  const AstroConvertKernel convert = astro_convert_kernels_c[ASTRO_FORMAT_CI4][to];
  const guint8 bits = to == ASTRO_FORMAT_CI4 ? 0x0f : 0xff;
  for (guint8 i = 0; i < 16; i++) {
    const guint8 twice = (guint8)(i << 4 | i);
    guint8 out[2];
    const guint64 clipped = convert(out, &twice, 2, scale);
    nibbles->becomes[i] = out[0] & bits;
    nibbles->clipped[i] = clipped > 0 ? 0xff : 0;
  }
}

/* For all variants: the vector kernels' copies need a fence, the portable ones make none. */
void astro_convert_copy_end(void)
{
#ifdef ASTRO_X86_KERNELS
  __builtin_ia32_sfence();
#endif
}
