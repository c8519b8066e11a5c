/* The kernels of transpose, written once for vectors of LANES * 16 bytes. The including file
 * defines LANES, Lane, Vector and Vector load_lanes(const guint8 *from, gsize step)    16 bytes
 * from each of LANES places Lane load_part(const guint8 *from, gsize bytes)      0 to 16 bytes void
 * store_part(guint8 *to, Lane lane, gsize bytes)
 *
 * A tile is a square of 16-byte rows, one row a register, with LANES such squares beside each
 * other. Interleaving the first half of the registers with the second half, once for every binary
 * digit of the row number, turns the squares over: each pass moves one digit from the register's
 * number to the place within it. */
#pragma once

#include "core/transpose/kernels.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

/* Which samples of two lanes side by side, n to a lane, come of interleaving their low (high)
 * halves. */
#define PAIR(i, n) i, i + n
#define LOW_2(at, n) PAIR(at, n)
#define LOW_4(at, n) LOW_2(at, n), PAIR(at + 1, n)
#define LOW_8(at, n) LOW_4(at, n), LOW_4(at + 2, n)
#define LOW_16(at, n) LOW_8(at, n), LOW_8(at + 4, n)
#define HIGH_2(at, n) LOW_2(at + 1, n)
#define HIGH_4(at, n) LOW_4(at + 2, n)
#define HIGH_8(at, n) LOW_8(at + 4, n)
#define HIGH_16(at, n) LOW_16(at + 8, n)
#define LANES_1(half, n) half(0, n)
#define LANES_2(half, n) half(0, 2 * n), half(n, 2 * n)
#define LANES_4(half, n) half(0, 4 * n), half(n, 4 * n), half(2 * n, 4 * n), half(3 * n, 4 * n)

#define INTERLEAVE(type, name, lanes, which)                                                       \
  INLINE type interleave_##which##_##name(type a, type b, gsize unit)                              \
  {                                                                                                \
    typedef guint8 As1 __attribute__((vector_size(sizeof(type))));                                 \
    typedef guint16 As2 __attribute__((vector_size(sizeof(type))));                                \
    typedef guint32 As4 __attribute__((vector_size(sizeof(type))));                                \
    typedef guint64 As8 __attribute__((vector_size(sizeof(type))));                                \
    return unit == 1   ? (type)__builtin_shufflevector((As1)a, (As1)b, lanes(which##_16, 16))      \
           : unit == 2 ? (type)__builtin_shufflevector((As2)a, (As2)b, lanes(which##_8, 8))        \
           : unit == 4 ? (type)__builtin_shufflevector((As4)a, (As4)b, lanes(which##_4, 4))        \
                       : (type)__builtin_shufflevector((As8)a, (As8)b, lanes(which##_2, 2));       \
  }

#define TURN(type, name, lanes)                                                                    \
  INTERLEAVE(type, name, lanes, LOW)                                                               \
  INTERLEAVE(type, name, lanes, HIGH)                                                              \
  INLINE void turn_##name(type *row, gsize n, gsize unit)                                          \
  {                                                                                                \
    type old[16];                                                                                  \
    UNROLL for (gsize pass = 1; pass < n; pass *= 2)                                               \
    {                                                                                              \
      UNROLL for (gsize i = 0; i < n; i++) old[i] = row[i];                                        \
      UNROLL for (gsize i = 0; i < n / 2; i++)                                                     \
      {                                                                                            \
        row[2 * i] = interleave_LOW_##name(old[i], old[i + n / 2], unit);                          \
        row[2 * i + 1] = interleave_HIGH_##name(old[i], old[i + n / 2], unit);                     \
      }                                                                                            \
    }                                                                                              \
  }

TURN(Lane, lane, LANES_1)
#if LANES == 4
TURN(Vector, vector, LANES_4)
#elif LANES == 2
TURN(Vector, vector, LANES_2)
#endif

#if LANES > 1
INLINE void wide_tile(guint8 *out, gsize out_pitch, const guint8 *in, gsize in_pitch, gsize unit)
{
  const gsize n = 16 / unit;
  Vector row[16];
  UNROLL for (gsize i = 0; i < n; i++) row[i] = load_lanes(in + i * in_pitch, n * in_pitch);
  turn_vector(row, n, unit);
  UNROLL for (gsize i = 0; i < n; i++) * (Vector *)(out + i * out_pitch) = row[i];
}
#endif

INLINE void tile(guint8 *out, gsize out_pitch, const guint8 *in, gsize in_pitch, gsize unit)
{
  const gsize n = 16 / unit;
  Lane row[16];
  UNROLL for (gsize i = 0; i < n; i++) row[i] = *(const Lane *)(in + i * in_pitch);
  turn_lane(row, n, unit);
  UNROLL for (gsize i = 0; i < n; i++) * (Lane *)(out + i * out_pitch) = row[i];
}

/* A tile with fewer rows or columns than it could have. */
INLINE void part_tile(guint8 *out, gsize out_pitch, const guint8 *in, gsize in_pitch, gsize rows,
                      gsize columns, gsize unit)
{
  const gsize n = 16 / unit;
  Lane row[16];
  UNROLL for (gsize i = 0; i < n; i++) row[i] =
      load_part(in + i * in_pitch, i < rows ? columns * unit : 0);
  turn_lane(row, n, unit);
  UNROLL for (gsize i = 0; i < n; i++) if (i < columns)
      store_part(out + i * out_pitch, row[i], rows * unit);
}

INLINE void transpose_once(guint8 *out, const guint8 *in, const AstroTransposePlane *plane,
                           gsize unit)
{
  const gsize n = 16 / unit, out_pitch = plane->out_pitch, in_pitch = plane->in_pitch;
  const gsize rows = plane->rows, columns = plane->columns;
  gsize r = 0;
#if LANES > 1
  for (; r + LANES * n <= rows; r += LANES * n) {
    gsize c = 0;
    for (; c + n <= columns; c += n)
      wide_tile(out + c * out_pitch + r * unit, out_pitch, in + r * in_pitch + c * unit, in_pitch,
                unit);
    if (c < columns)
      for (gsize i = r; i < r + LANES * n; i += n)
        part_tile(out + c * out_pitch + i * unit, out_pitch, in + i * in_pitch + c * unit, in_pitch,
                  n, columns - c, unit);
  }
#endif
  for (; r < rows; r += n)
    for (gsize c = 0; c < columns; c += n) {
      guint8 *to = out + c * out_pitch + r * unit;
      const guint8 *from = in + r * in_pitch + c * unit;
      if (r + n <= rows && c + n <= columns)
        tile(to, out_pitch, from, in_pitch, unit);
      else
        part_tile(to, out_pitch, from, in_pitch, MIN(n, rows - r), MIN(n, columns - c), unit);
    }
}

#define TRANSPOSE(unit)                                                                            \
  static void transpose_##unit(const AstroTransposePlane *plane)                                   \
  {                                                                                                \
    for (gsize i = 0; i < plane->times; i++)                                                       \
      transpose_once(plane->out + i * plane->out_step, plane->in + i * plane->in_step, plane,      \
                     unit);                                                                        \
  }
TRANSPOSE(1)
TRANSPOSE(2)
TRANSPOSE(4)
TRANSPOSE(8)
TRANSPOSE(16)

/* Whole pieces and then the last one, which may overlap the one before: no loop over single bytes.
 */
#define COPY_PIECES(type)                                                                          \
  if (bytes >= sizeof(type)) {                                                                     \
    for (gsize i = 0; i + sizeof(type) < bytes; i += sizeof(type))                                 \
      *(type *)(to + i) = *(const type *)(from + i);                                               \
    *(type *)(to + bytes - sizeof(type)) = *(const type *)(from + bytes - sizeof(type));           \
    return;                                                                                        \
  }

typedef guint64 Piece8 __attribute__((aligned(1), may_alias));
typedef guint32 Piece4 __attribute__((aligned(1), may_alias));
typedef guint16 Piece2 __attribute__((aligned(1), may_alias));

INLINE void copy_inline(guint8 *restrict to, const guint8 *restrict from, gsize bytes)
{
  COPY_PIECES(Vector)
#if LANES > 1
  COPY_PIECES(Lane)
#endif
  COPY_PIECES(Piece8)
  COPY_PIECES(Piece4)
  COPY_PIECES(Piece2)
  if (bytes)
    *to = *from;
}

static void copy(guint8 *to, const guint8 *from, gsize bytes)
{
  copy_inline(to, from, bytes);
}

static void rearrange(const AstroTransposePlane *plane)
{
  const gsize unit = plane->unit;
  for (gsize i = 0; i < plane->times; i++)
    for (gsize c = 0; c < plane->columns; c++) {
      guint8 *out = plane->out + i * plane->out_step + c * plane->out_pitch;
      const guint8 *in = plane->in + i * plane->in_step + c * unit;
      for (gsize r = 0; r < plane->rows; r++)
        copy_inline(out + r * unit, in + r * plane->in_pitch, unit);
    }
}
