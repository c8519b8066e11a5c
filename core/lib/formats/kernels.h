/* Conversion kernels: a table for each instruction set, with a kernel for every pair of formats.
 * core/convert/convert.h fixes the arithmetic. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Vector kernels take a multiple of this many samples, the portable ones any number. */
#define ASTRO_CONVERT_STEP 64

/* Converts that many components, fewer than 2^31, and returns how many were clipped. A complex
 * sample has two components. */
typedef guint64 (*AstroConvertKernel)(gpointer out, gconstpointer in, gsize components,
                                      double scale);

/* [from][to]; NULL where the instruction set is no faster than the portable kernel. */
typedef AstroConvertKernel AstroConvertKernels[ASTRO_N_FORMATS][ASTRO_N_FORMATS];

extern const AstroConvertKernels astro_convert_kernels_c;
extern const AstroConvertKernels astro_convert_kernels_avx2;
extern const AstroConvertKernels astro_convert_kernels_avx512;

/* Copies past the caches to an address that is a multiple of 64. Other threads may look at the copy
 * after astro_convert_copy_end. */
typedef void (*AstroConvertCopy)(gpointer out, gconstpointer in, gsize bytes);

void astro_convert_copy_avx2(gpointer out, gconstpointer in, gsize bytes);
void astro_convert_copy_avx512(gpointer out, gconstpointer in, gsize bytes);
void astro_convert_copy_end(void);

/* The product of each of the sixteen values of a nibble: as a low nibble for CI4 or a byte for CI8,
 * and 0xff where it is clipped. */
typedef struct {
  guint8 becomes[16], clipped[16];
} AstroConvertNibbles;

void astro_convert_nibbles(AstroConvertNibbles *nibbles, AstroFormat to, double scale);

/* Every pair of formats, as X(from's format, its component, to's format, its component), in five
 * lists: products in single precision; two lists of such pairs that have faster kernels of their
 * own, as nibbles have few values (NIBBLES) and whole bytes may stay whole (NARROW); products in
 * double precision; and pairs with U64LE. */
#define ASTRO_CONVERT_PAIRS_SINGLE(X)                                                              \
  X(CI8, i8, CI8, i8)                                                                              \
  ASTRO_CONVERT_TO_SINGLE_(X, CI4, i4)                                                             \
  ASTRO_CONVERT_TO_SINGLE_(X, CI8, i8)                                                             \
  ASTRO_CONVERT_FROM_SINGLE_(X, CI16LE, i16)                                                       \
  ASTRO_CONVERT_FROM_SINGLE_(X, CF16LE, f16)                                                       \
  ASTRO_CONVERT_FROM_SINGLE_(X, CF32LE, f32)                                                       \
  ASTRO_CONVERT_TO_REALS_(X, I8, i8)                                                               \
  ASTRO_CONVERT_TO_REALS_(X, I16LE, i16)                                                           \
  ASTRO_CONVERT_TO_REALS_(X, F32LE, f32)

#define ASTRO_CONVERT_PAIRS_NIBBLES(X)                                                             \
  X(CI4, i4, CI4, i4)                                                                              \
  X(CI4, i4, CI8, i8)

#define ASTRO_CONVERT_PAIRS_NARROW(X) X(CI8, i8, CI4, i4)

#define ASTRO_CONVERT_PAIRS_DOUBLE(X)                                                              \
  ASTRO_CONVERT_TO_DOUBLE_(X, CI4, i4)                                                             \
  ASTRO_CONVERT_TO_DOUBLE_(X, CI8, i8)                                                             \
  ASTRO_CONVERT_TO_DOUBLE_(X, CI16LE, i16)                                                         \
  ASTRO_CONVERT_TO_DOUBLE_(X, CF16LE, f16)                                                         \
  ASTRO_CONVERT_TO_DOUBLE_(X, CF32LE, f32)                                                         \
  ASTRO_CONVERT_FROM_DOUBLE_(X, CI32LE, i32)                                                       \
  ASTRO_CONVERT_FROM_DOUBLE_(X, CF64LE, f64)                                                       \
  ASTRO_CONVERT_TO_REALS_(X, F64LE, f64)                                                           \
  ASTRO_CONVERT_FROM_REALS_(X, F64LE, f64)                                                         \
  X(F64LE, f64, F64LE, f64)

#define ASTRO_CONVERT_PAIRS_U64(X)                                                                 \
  ASTRO_CONVERT_FROM_REALS_(X, U64LE, u64)                                                         \
  ASTRO_CONVERT_TO_REALS_(X, U64LE, u64)                                                           \
  X(F64LE, f64, U64LE, u64)                                                                        \
  X(U64LE, u64, F64LE, f64)                                                                        \
  X(U64LE, u64, U64LE, u64)

#define ASTRO_CONVERT_TO_SINGLE_(X, FROM, from)                                                    \
  X(FROM, from, CI16LE, i16)                                                                       \
  X(FROM, from, CF16LE, f16)                                                                       \
  X(FROM, from, CF32LE, f32)
#define ASTRO_CONVERT_FROM_SINGLE_(X, FROM, from)                                                  \
  X(FROM, from, CI4, i4)                                                                           \
  X(FROM, from, CI8, i8)                                                                           \
  ASTRO_CONVERT_TO_SINGLE_(X, FROM, from)
#define ASTRO_CONVERT_TO_DOUBLE_(X, FROM, from)                                                    \
  X(FROM, from, CI32LE, i32)                                                                       \
  X(FROM, from, CF64LE, f64)
#define ASTRO_CONVERT_FROM_DOUBLE_(X, FROM, from)                                                  \
  ASTRO_CONVERT_FROM_SINGLE_(X, FROM, from)                                                        \
  ASTRO_CONVERT_TO_DOUBLE_(X, FROM, from)

#define ASTRO_CONVERT_TO_REALS_(X, FROM, from)                                                     \
  X(FROM, from, I8, i8)                                                                            \
  X(FROM, from, I16LE, i16)                                                                        \
  X(FROM, from, F32LE, f32)
#define ASTRO_CONVERT_FROM_REALS_(X, TO, to)                                                       \
  X(I8, i8, TO, to)                                                                                \
  X(I16LE, i16, TO, to)                                                                            \
  X(F32LE, f32, TO, to)

/* An entry of a table, for the lists above. */
#define ASTRO_CONVERT_ENTRY(FROM, from, TO, to)                                                    \
  [ASTRO_FORMAT_##FROM][ASTRO_FORMAT_##TO] = convert_##FROM##_##TO,

/* Bits of a component. */
enum {
  ASTRO_CONVERT_BITS_i4 = 4,
  ASTRO_CONVERT_BITS_i8 = 8,
  ASTRO_CONVERT_BITS_i16 = 16,
  ASTRO_CONVERT_BITS_f16 = 16,
  ASTRO_CONVERT_BITS_i32 = 32,
  ASTRO_CONVERT_BITS_f32 = 32,
  ASTRO_CONVERT_BITS_f64 = 64,
  ASTRO_CONVERT_BITS_u64 = 64,
};

G_END_DECLS
