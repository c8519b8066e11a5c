/* Reads and writes components of samples with the arithmetic of core/convert/convert.h. REAL is the
 * type that is read, and in which products are rounded. Options name the formats of a program that
 * has one of each (astro_opencl_sample_options): READ and WRITE, the functions below that they
 * take; IN and OUT, types of components in memory. With ONLY_READS, REAL may be an integer. */

#define PLAIN(name, T)                                                                             \
  REAL read_##name(__global const T *in, ulong i)                                                  \
  {                                                                                                \
    return (REAL)in[i];                                                                            \
  }

PLAIN(i8, char)
PLAIN(i16, short)
PLAIN(i32, int)
PLAIN(u64, ulong)
PLAIN(float, float)
#ifdef ASTRO_DOUBLE
PLAIN(double, double)
#endif

REAL read_half(__global const ushort *in, ulong i)
{
  return (REAL)vload_half(i, (__global const half *)in);
}

/* The real part is in the high nibble. A work item has whole bytes. */
REAL read_nibble(__global const char *in, ulong i)
{
  const int byte = (int)in[i / 2], nibble = i % 2 ? byte & 15 : byte >> 4 & 15;
  return (REAL)(nibble < 8 ? nibble : nibble - 16);
}

#ifndef ONLY_READS
/* The integer nearest to a product, held to low...high. beyond: the first value that is too large.
 */
#define HOLD(product, T, low, high, beyond)                                                        \
  const REAL whole = isnan(product) ? (REAL)0 : rint(product);                                     \
  const int above = whole >= (REAL)beyond, below = whole < (REAL)low;                              \
  const T held = above ? high : below ? low : (T)whole;                                            \
  *clipped += isnan(product) || above || below

#define INTEGER(name, T, low, high, beyond)                                                        \
  void write_##name(__global T *out, ulong i, REAL in, REAL product, uint *clipped)                \
  {                                                                                                \
    HOLD(product, T, low, high, beyond);                                                           \
    out[i] = held;                                                                                 \
  }

INTEGER(i8, char, CHAR_MIN, CHAR_MAX, 128)
INTEGER(i16, short, SHRT_MIN, SHRT_MAX, 32768)
#ifdef ASTRO_DOUBLE
INTEGER(i32, int, INT_MIN, INT_MAX, 2147483648.0)
INTEGER(u64, ulong, 0UL, ULONG_MAX, 18446744073709551616.0)
#endif

void write_nibble(__global char *out, ulong i, REAL in, REAL product, uint *clipped)
{
  HOLD(product, int, -8, 7, 8);
  const int nibble = held & 15, byte = (int)out[i / 2];
  out[i / 2] = (char)(i % 2 ? (byte & 0xf0) | nibble : nibble << 4);
}

/* The last place of a half is worth 2^(exponent - 10), but at least 2^-24. */
ushort half_nearest(REAL value)
{
  const REAL size = fabs(value);
  const ushort sign = (ushort)(signbit(value) ? 0x8000 : 0);
  if (isnan(value))
    return 0x7e00;
  if (size >= (REAL)65520)
    return sign | 0x7c00;
  const int exponent = size > 0 ? max(ilogb(size), -14) : -14;
  return sign | (ushort)((exponent + 14) * 1024 + (int)rint(ldexp(size, 10 - exponent)));
}

void write_half(__global ushort *out, ulong i, REAL in, REAL product, uint *clipped)
{
  const ushort value = half_nearest(product);
  *clipped += isfinite(in) && (value & 0x7fff) == 0x7c00;
  out[i] = value;
}

void write_float(__global float *out, ulong i, REAL in, REAL product, uint *clipped)
{
  out[i] = isnan(product) ? as_float(0x7fc00000) : (float)product;
}

#ifdef ASTRO_DOUBLE
void write_double(__global double *out, ulong i, REAL in, REAL product, uint *clipped)
{
  out[i] = isnan(product) ? as_double(0x7ff8000000000000L) : (double)product;
}
#endif

/* Adds to a count of clipped components (opencl/runtime/clipped.h). It has 64 bits in two words,
 * low ones first: the addition that wraps the first one adds to the second. */
void add_clipped(__global volatile uint *count, uint clipped)
{
  if (clipped && atomic_add(count, clipped) > UINT_MAX - clipped)
    atomic_inc(count + 1);
}
#endif

