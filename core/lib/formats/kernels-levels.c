/* The kernels for every pair of formats. They take components from one format, multiply them, and
 * put them in the other, as many at once as the level can. The levels differ in two headers, which
 * have the same names in them:
 *
 *   single_from_i8(in, i)        components i, i + 1, ... of the input, in single precision
 *   single_put_i8(out, i, whole) puts products, rounded by rounding.h, in the output
 *   single_to_f16(...)           rounds and puts products where that is one step
 *   double_...                   the same in double precision
 */
#include "config.h"
#include "core/backend/level.h"
#include "core/lib/formats/kernels.h"

#if defined ASTRO_LEVEL_AVX512 || defined ASTRO_LEVEL_AVX2
#include "core/lib/formats/many.h"
#define HAS_BYTES 1 /* kernels of bytes */
#else
#include "core/lib/formats/one.h"
#endif
/* AVX2 cannot convert U64LE. */
#ifdef ASTRO_LEVEL_AVX2
#define U64_PAIRS(X)
#else
#define U64_PAIRS(X) ASTRO_CONVERT_PAIRS_U64(X)
#endif

/* ---- to each format: x are the components that came in; a bit for each that is clipped ---- */

#define TO_WHOLE(precision, Type, Rounded, to, low, high)                                          \
  static inline guint precision##_to_##to(gpointer out, gsize i, Type x, Type product)             \
  {                                                                                                \
    Rounded rounded;                                                                               \
    const guint clipped = precision##_hold(product, low, high, &rounded);                          \
    precision##_put_##to(out, i, rounded);                                                         \
    return clipped;                                                                                \
  }
TO_WHOLE(single, Single, Whole, i4, -8, 7)
TO_WHOLE(single, Single, Whole, i8, -128, 127)
TO_WHOLE(single, Single, Whole, i16, -32768, 32767)
TO_WHOLE(double, Double, Half, i4, -8, 7)
TO_WHOLE(double, Double, Half, i8, -128, 127)
TO_WHOLE(double, Double, Half, i16, -32768, 32767)
TO_WHOLE(double, Double, Half, i32, -0x1p31, 0x1p31 - 1)

#define TO_ITSELF(precision, Type, to)                                                             \
  static inline guint precision##_to_##to(gpointer out, gsize i, Type x, Type product)             \
  {                                                                                                \
    precision##_put_##to(out, i, precision##_quiet(product));                                      \
    return 0;                                                                                      \
  }
TO_ITSELF(single, Single, f32)
TO_ITSELF(double, Double, f64)

/* ---- the kernels ---- */

#define KERNEL(name, precision, Type, at_once, from, to)                                           \
  static guint64 name(gpointer out, gconstpointer in, gsize components, double scale)              \
  {                                                                                                \
    const Type factor = precision##_all(scale);                                                    \
    const guint8 *fetched = in;                                                                    \
    guint clipped = 0;                                                                             \
    for (gsize i = 0; i < components; i += at_once) {                                              \
      fetch_ahead(fetched);                                                                        \
      fetched += at_once * ASTRO_CONVERT_BITS_##from / 8;                                          \
      const Type x = precision##_from_##from(in, i);                                               \
      clipped += count_lanes(precision##_to_##to(out, i, x, x * factor));                          \
    }                                                                                              \
    return clipped;                                                                                \
  }
#define SINGLE(FROM, from, TO, to)                                                                 \
  KERNEL(convert_##FROM##_##TO, single, Single, SINGLE_AT_ONCE, from, to)
#define DOUBLE(FROM, from, TO, to)                                                                 \
  KERNEL(convert_##FROM##_##TO, double, Double, DOUBLE_AT_ONCE, from, to)

ASTRO_CONVERT_PAIRS_SINGLE(SINGLE)
ASTRO_CONVERT_PAIRS_DOUBLE(DOUBLE)
U64_PAIRS(DOUBLE)

#ifdef HAS_BYTES
SINGLE(CI8_SCALED, i8, CI4, i4)
#include "core/lib/formats/bytes.h"
#else
ASTRO_CONVERT_PAIRS_NIBBLES(SINGLE)
ASTRO_CONVERT_PAIRS_NARROW(SINGLE)
#endif

const AstroConvertKernels LEVEL_NAMED(astro_convert_kernels) = {
  ASTRO_CONVERT_PAIRS_SINGLE(ASTRO_CONVERT_ENTRY) ASTRO_CONVERT_PAIRS_NIBBLES(ASTRO_CONVERT_ENTRY)
      ASTRO_CONVERT_PAIRS_NARROW(ASTRO_CONVERT_ENTRY)
          ASTRO_CONVERT_PAIRS_DOUBLE(ASTRO_CONVERT_ENTRY) U64_PAIRS(ASTRO_CONVERT_ENTRY)
};

#ifdef HAS_BYTES
void LEVEL_NAMED(astro_convert_copy)(gpointer out, gconstpointer in, gsize bytes)
{
  const gsize lines = bytes - bytes % 64;
  vector_stream(out, in, lines);
  memcpy((guint8 *)out + lines, (const guint8 *)in + lines, bytes - lines);
}
#endif
