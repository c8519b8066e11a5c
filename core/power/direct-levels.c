/* Sums straight from memory, for samples that follow each other: nothing is moved apart, as re and
 * im add up alike. One text for all levels.
 *
 * Powers are added row by row, as memory is read fastest in its order: several rows at a time would
 * keep sums in registers, but reach half the speed. Cross products, which keep four sums, gain more
 * from the registers. */
#include "config.h"
#include "core/backend/level.h"
#include "core/kit/vector.h"
#include "core/power/kernels.h"

#if defined ASTRO_LEVEL_AVX512 || defined ASTRO_LEVEL_AVX2
#include "core/lib/formats/many.h"
#define HAS_MANY 1
#else
#include "core/lib/formats/one.h"
#endif

#define ROWS 4 /* of cross products at a time */
#define ALWAYS static inline __attribute__((always_inline)) void

/* ---- the portable level: sample by sample ---- */

#ifndef HAS_MANY
#define POWER(from, bytes)                                                                         \
  static void power_##from(gconstpointer in, gsize row, guint64 rows, guint n, double *sums)       \
  {                                                                                                \
    for (guint64 r = 0; r < rows; r++) {                                                           \
      const guint8 *at = (const guint8 *)in + r * row;                                             \
      for (guint i = 0; i < n; i++) {                                                              \
        const double re = (double)single_from_##from(at, 2 * i),                                   \
                     im = (double)single_from_##from(at, 2 * i + 1);                               \
        sums[i] += re * re + im * im;                                                              \
      }                                                                                            \
    }                                                                                              \
  }
#define CROSS(from, bytes)                                                                         \
  static void cross_##from(gconstpointer x, gconstpointer y, gsize row, guint64 rows, guint n,     \
                           double *const sums[4])                                                  \
  {                                                                                                \
    for (guint64 r = 0; r < rows; r++)                                                             \
      for (guint i = 0; i < n; i++) {                                                              \
        const guint8 *a = (const guint8 *)x + r * row, *b = (const guint8 *)y + r * row;           \
        const double xr = (double)single_from_##from(a, 2 * i),                                    \
                     xi = (double)single_from_##from(a, 2 * i + 1),                                \
                     yr = (double)single_from_##from(b, 2 * i),                                    \
                     yi = (double)single_from_##from(b, 2 * i + 1);                                \
        sums[0][i] += xr * xr + xi * xi;                                                           \
        sums[1][i] += yr * yr + yi * yi;                                                           \
        sums[2][i] += xr * yr + xi * yi;                                                           \
        sums[3][i] += xi * yr - xr * yi;                                                           \
      }                                                                                            \
  }
POWER(i4, 1)
POWER(i8, 2)
POWER(i16, 4)
CROSS(i8, 2)
#else

/* ---- components in double precision ---- */

#ifdef ASTRO_LEVEL_AVX512
#define EVERY_SECOND(a, b, from)                                                                   \
  __builtin_shufflevector(a, b, from, from + 2, from + 4, from + 6, from + 8, from + 10,           \
                          from + 12, from + 14)
#define SWAPPED(a) __builtin_shufflevector(a, a, 1, 0, 3, 2, 5, 4, 7, 6)
#else
#define EVERY_SECOND(a, b, from) __builtin_shufflevector(a, b, from, from + 2, from + 4, from + 6)
#define SWAPPED(a) __builtin_shufflevector(a, a, 1, 0, 3, 2)
#endif

/* Adds the sums of re and im, or the difference of im and re. */
static inline void add_pairs(double *sums, Doubles a, Doubles b)
{
  doubles_store(sums, doubles_load(sums) + EVERY_SECOND(a, b, 0) + EVERY_SECOND(a, b, 1));
}

static inline void add_differences(double *sums, Doubles a, Doubles b)
{
  doubles_store(sums, doubles_load(sums) + (EVERY_SECOND(a, b, 1) - EVERY_SECOND(a, b, 0)));
}

/* Adds groups of ROWS rows, a number that the compiler knows, and then the last rows one by one. */
#define IN_GROUPS(first, end, group)                                                               \
  for (; first + ROWS <= end; first += ROWS)                                                       \
    group(ROWS);                                                                                   \
  for (; first < end; first++)                                                                     \
  group(1)

#define POWER(from, bytes)                                                                         \
  static void power_##from(gconstpointer in, gsize row, guint64 rows, guint n, double *sums)       \
  {                                                                                                \
    for (guint64 r = 0; r < rows; r++) {                                                           \
      const guint8 *at = (const guint8 *)in + r * row;                                             \
      for (guint i = 0; i < n; i += LEVEL_DOUBLES) {                                               \
        const Doubles v = double_from_##from(at, 2 * i),                                           \
                      w = double_from_##from(at, 2 * i + LEVEL_DOUBLES);                           \
        add_pairs(sums + i, v * v, w * w);                                                         \
      }                                                                                            \
    }                                                                                              \
  }

/* Two vectors of each polarisation at a time, as their eight sums fill half the registers. */
#define CROSS(from, bytes)                                                                         \
  ALWAYS cross_group_##from(const guint8 *x, const guint8 *y, gsize row, guint rows, guint n,      \
                            double *const sums[4])                                                 \
  {                                                                                                \
    for (guint i = 0; i < n; i += LEVEL_DOUBLES) {                                                 \
      Doubles xx[2] = { { 0 } }, yy[2] = { { 0 } }, re[2] = { { 0 } }, im[2] = { { 0 } };          \
      for (guint r = 0; r < rows; r++)                                                             \
        for (guint k = 0; k < 2; k++) {                                                            \
          const Doubles v = double_from_##from(x + r * row, 2 * i + k * LEVEL_DOUBLES),            \
                        w = double_from_##from(y + r * row, 2 * i + k * LEVEL_DOUBLES);            \
          xx[k] += v * v;                                                                          \
          yy[k] += w * w;                                                                          \
          re[k] += v * w;                                                                          \
          im[k] += v * SWAPPED(w);                                                                 \
        }                                                                                          \
      add_pairs(sums[0] + i, xx[0], xx[1]);                                                        \
      add_pairs(sums[1] + i, yy[0], yy[1]);                                                        \
      add_pairs(sums[2] + i, re[0], re[1]);                                                        \
      add_differences(sums[3] + i, im[0], im[1]);                                                  \
    }                                                                                              \
  }                                                                                                \
  static void cross_##from(gconstpointer x, gconstpointer y, gsize row, guint64 rows, guint n,     \
                           double *const sums[4])                                                  \
  {                                                                                                \
    guint64 first = 0;                                                                             \
    IN_GROUPS(first, rows, GROUP_OF_CROSS_##from);                                                 \
  }
#define CROSS_GROUP(from, rows)                                                                    \
  cross_group_##from((const guint8 *)x + first * row, (const guint8 *)y + first * row, row, rows,  \
                     n, sums)
#define GROUP_OF_CROSS_i16(rows) CROSS_GROUP(i16, rows)
#define GROUP_OF_CROSS_f16(rows) CROSS_GROUP(f16, rows)
#define GROUP_OF_CROSS_f32(rows) CROSS_GROUP(f32, rows)

/* ---- bytes: sums of integers, for a number of rows for which they fit ---- */

#define MOST_ROWS 256

typedef gint16 Shorts __attribute__((vector_size(LEVEL_BYTES)));
typedef guint16 Pairs __attribute__((vector_size(LEVEL_BYTES)));
typedef guint8 Bytes __attribute__((vector_size(LEVEL_BYTES)));

#define INTS (LEVEL_BYTES / 4)
#define SHORTS_AT(at) ((Shorts)VECTOR(cvtepi8_epi16)(LOAD_HALF(at)))
#define PRODUCTS(a, b) ((Ints)VECTOR(madd_epi16)((Whole)(a), (Whole)(b)))

static inline Ints ints_load(const gint32 *from)
{
  Ints loaded;
  memcpy(&loaded, from, sizeof loaded);
  return loaded;
}

static inline void ints_store(gint32 *to, Ints stored)
{
  memcpy(to, &stored, sizeof stored);
}

static void power_i8(gconstpointer in, gsize row, guint64 rows, guint n, double *sums)
{
  gint32 sum[2 * ASTRO_POWER_LANES];
  for (guint64 r = 0; r < rows;) {
    const guint64 end = MIN(r + MOST_ROWS, rows);
    memset(sum, 0, n * sizeof *sum);
    for (; r < end; r++)
      for (guint i = 0; i < n; i += INTS) {
        const Shorts v = SHORTS_AT((const guint8 *)in + r * row + 2 * i);
        ints_store(sum + i, ints_load(sum + i) + PRODUCTS(v, v));
      }
    for (guint i = 0; i < n; i++)
      sums[i] += sum[i];
  }
}

/* The powers of 16-bit samples are whole numbers up to 2^31, which 32 bits without a sign hold. */
#ifdef ASTRO_LEVEL_AVX512
#define MERGED_LOW(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define MERGED_HIGH(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#else
#define MERGED_LOW(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define MERGED_HIGH(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

/* Whole numbers below 2^52. */
static inline Doubles doubles_of(Longs whole)
{
  const Longs exponent = (Longs)doubles_all(0x1p52);
  return (Doubles)(whole | exponent) - doubles_all(0x1p52);
}

static void power_i16(gconstpointer in, gsize row, guint64 rows, guint n, double *sums)
{
  for (guint64 r = 0; r < rows; r++)
    for (guint i = 0; i < n; i += INTS) {
      Shorts v;
      memcpy(&v, (const guint8 *)in + r * row + 4 * i, sizeof v);
      const Longs power = (Longs)PRODUCTS(v, v);
      const Doubles even = doubles_of(power & 0xffffffff),
                    odd = doubles_of((Longs)VECTOR(srli_epi64)((Whole)power, 32));
      double *to = sums + i;
      doubles_store(to, doubles_load(to) + MERGED_LOW(even, odd));
      doubles_store(to + LEVEL_DOUBLES, doubles_load(to + LEVEL_DOUBLES) + MERGED_HIGH(even, odd));
    }
}

/* (-im, re) of each sample: its products with another's (re, im) add up to the imaginary part. */
static inline Shorts turned(Shorts v)
{
  const Shorts low = (Shorts)((Ints){ 0 } + 0xffff);
  const Ints whole = (Ints)v;
  const Shorts swapped = (Shorts)((Ints)VECTOR(slli_epi32)((Whole)whole, 16) |
                                  (Ints)VECTOR(srli_epi32)((Whole)whole, 16));
  return (swapped ^ low) - low;
}

ALWAYS cross_group_i8(const guint8 *x, const guint8 *y, gsize row, guint rows, guint n,
                      gint32 (*sum)[ASTRO_POWER_LANES])
{
  for (guint i = 0; i < n; i += INTS) {
    Ints xx = ints_load(sum[0] + i), yy = ints_load(sum[1] + i), re = ints_load(sum[2] + i),
         im = ints_load(sum[3] + i);
    for (guint r = 0; r < rows; r++) {
      const Shorts v = SHORTS_AT(x + r * row + 2 * i), w = SHORTS_AT(y + r * row + 2 * i);
      xx += PRODUCTS(v, v);
      yy += PRODUCTS(w, w);
      re += PRODUCTS(v, w);
      im += PRODUCTS(v, turned(w));
    }
    ints_store(sum[0] + i, xx);
    ints_store(sum[1] + i, yy);
    ints_store(sum[2] + i, re);
    ints_store(sum[3] + i, im);
  }
}

static void cross_i8(gconstpointer x, gconstpointer y, gsize row, guint64 rows, guint n,
                     double *const sums[4])
{
  gint32 sum[4][ASTRO_POWER_LANES];
  for (guint64 first = 0; first < rows;) {
    const guint64 end = MIN(first + MOST_ROWS, rows);
    for (guint k = 0; k < 4; k++)
      memset(sum[k], 0, n * sizeof *sum[k]);
#define GROUP(rows)                                                                                \
  cross_group_i8((const guint8 *)x + first * row, (const guint8 *)y + first * row, row, rows, n,   \
                 sum)
    IN_GROUPS(first, end, GROUP);
#undef GROUP
    for (guint k = 0; k < 4; k++)
      for (guint i = 0; i < n; i++)
        sums[k][i] += sum[k][i];
  }
}

/* The powers of all 16 nibbles are looked up; those of a byte are at most 128. Sums of every second
 * byte are kept apart, in 16 bits. */
static void power_i4(gconstpointer in, gsize row, guint64 rows, guint n, double *sums)
{
  static const guint8 squares[16] = { 0, 1, 4, 9, 16, 25, 36, 49, 64, 49, 36, 25, 16, 9, 4, 1 };
  const __m128i small = _mm_loadu_si128((const __m128i *)squares);
#ifdef ASTRO_LEVEL_AVX512
  const Whole table = _mm512_broadcast_i32x4(small);
#else
  const Whole table = _mm256_broadcastsi128_si256(small);
#endif
  const Bytes low = (Bytes)VECTOR(set1_epi8)(15);
  guint16 even[ASTRO_POWER_LANES], odd[ASTRO_POWER_LANES];
  for (guint64 first = 0; first < rows;) {
    const guint64 end = MIN(first + MOST_ROWS, rows);
    memset(even, 0, n / 2 * sizeof *even);
    memset(odd, 0, n / 2 * sizeof *odd);
    for (; first < end; first++)
      for (guint i = 0; i < n; i += LEVEL_BYTES) {
        Bytes v;
        Pairs a, b;
        memcpy(&v, (const guint8 *)in + first * row + i, sizeof v);
        memcpy(&a, even + i / 2, sizeof a);
        memcpy(&b, odd + i / 2, sizeof b);
        const Bytes high = (Bytes)((Pairs)v >> 4) & low;
        const Pairs power = (Pairs)((Bytes)VECTOR(shuffle_epi8)(table, (Whole)(v & low)) +
                                    (Bytes)VECTOR(shuffle_epi8)(table, (Whole)high));
        a += power & 255;
        b += power >> 8;
        memcpy(even + i / 2, &a, sizeof a);
        memcpy(odd + i / 2, &b, sizeof b);
      }
    for (guint i = 0; i < n / 2; i++) {
      sums[2 * i] += even[i];
      sums[2 * i + 1] += odd[i];
    }
  }
}
#endif

POWER(f16, 4)
POWER(f32, 8)
CROSS(i16, 4)
CROSS(f16, 4)
CROSS(f32, 8)

const AstroPowerDirect LEVEL_NAMED(astro_power_direct) = {
  .power = { [ASTRO_FORMAT_CI4] = power_i4,
             [ASTRO_FORMAT_CI8] = power_i8,
             [ASTRO_FORMAT_CI16LE] = power_i16,
             [ASTRO_FORMAT_CF16LE] = power_f16,
             [ASTRO_FORMAT_CF32LE] = power_f32 },
  .cross = { [ASTRO_FORMAT_CI8] = cross_i8,
             [ASTRO_FORMAT_CI16LE] = cross_i16,
             [ASTRO_FORMAT_CF16LE] = cross_f16,
             [ASTRO_FORMAT_CF32LE] = cross_f32 },
};
