/* The kernels of transposition, for vectors of LANES * 16 bytes. kernels-levels.c defines LANES,
 * Lane (16 bytes), Vector and
 *
 *   void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
 *
 * which stores bytes first ... first + bytes - 1 of the lane, where first is 0 or 8. If LANES is
 * not 1 there are also
 *
 *   Vector load_lanes(const guint8 *from, gsize step)
 *   void store_lanes(guint8 *const *to, Vector lanes, gsize first, gsize bytes)
 *
 * which load 16 bytes from each of LANES places, and store a part of each lane to a place of its
 * own.
 *
 * A square has rows of 16 bytes, one in a register; the lanes of wide registers hold several
 * squares. Interleaving the first half of the registers with the second half, once for every binary
 * digit of the row number, transposes the square: each pass moves one digit from the register's
 * number to the place within it. With four samples a, b, c and d in each of rows 0 to 3:
 *
 *   a0 b0 c0 d0      a0 a2 b0 b2      a0 a1 a2 a3
 *   a1 b1 c1 d1      c0 c2 d0 d2      b0 b1 b2 b3
 *   a2 b2 c2 d2 ---> a1 a3 b1 b3 ---> c0 c1 c2 c3
 *   a3 b3 c3 d3      c1 c3 d1 d3      d0 d1 d2 d3 */
#pragma once

#include "core/lib/transpose/kernels.h"
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 16")

/* Which samples of two lanes side by side, n to a lane, make up their interleaved low (high)
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

/* Where squares go: column c of square l begins at out + l * out_step + column_to[c + l * columns].
 */
typedef struct {
  guint8 *out;
  gsize out_step, columns;
  const guint32 *column_to;
} Places;

INLINE guint8 *place(const Places *to, gsize square, gsize column)
{
  return to->out + square * to->out_step + to->column_to[column + square * to->columns];
}

/* squares_...: transposes squares that lie `in_step` bytes apart, a lane each, of at most n rows
 * and columns. half_...: the same for at most n / 2, where two columns share a register. any_...:
 * picks one of them. */
#define SQUARES(type, name, lanes, LOAD, STORE)                                                    \
  INTERLEAVE(type, name, lanes, LOW)                                                               \
  INTERLEAVE(type, name, lanes, HIGH)                                                              \
                                                                                                   \
  INLINE void pass_over_##name(type *row, gsize n, gsize unit)                                     \
  {                                                                                                \
    type old[16];                                                                                  \
    UNROLL for (gsize i = 0; i < n; i++) old[i] = row[i];                                          \
    UNROLL for (gsize i = 0; i < n / 2; i++)                                                       \
    {                                                                                              \
      row[2 * i] = interleave_LOW_##name(old[i], old[i + n / 2], unit);                            \
      row[2 * i + 1] = interleave_HIGH_##name(old[i], old[i + n / 2], unit);                       \
    }                                                                                              \
  }                                                                                                \
                                                                                                   \
  INLINE void squares_##name(Places to, const guint8 *in, gsize in_pitch, gsize in_step,           \
                             gsize rows, gsize columns, gsize unit)                                \
  {                                                                                                \
    const gsize n = 16 / unit;                                                                     \
    type row[16];                                                                                  \
    UNROLL for (gsize i = 0; i < n; i++) row[i] = LOAD(in + MIN(i, rows - 1) * in_pitch, in_step); \
    UNROLL for (gsize pass = 1; pass < n; pass *= 2) pass_over_##name(row, n, unit);               \
    UNROLL for (gsize i = 0; i < n; i++) if (i < columns) STORE(&to, i, row[i], 0, rows *unit);    \
  }                                                                                                \
                                                                                                   \
  INLINE void half_##name(Places to, const guint8 *in, gsize in_pitch, gsize in_step, gsize rows,  \
                          gsize columns, gsize unit)                                               \
  {                                                                                                \
    const gsize half = 8 / unit;                                                                   \
    type row[8];                                                                                   \
    UNROLL for (gsize i = 0; i < half; i++) row[i] =                                               \
        LOAD(in + MIN(i, rows - 1) * in_pitch, in_step);                                           \
    UNROLL for (gsize i = 0; i < half / 2; i++) row[i] =                                           \
        interleave_LOW_##name(row[i], row[i + half / 2], unit);                                    \
    UNROLL for (gsize pass = 2; pass < half; pass *= 2) pass_over_##name(row, half / 2, unit);     \
    UNROLL for (gsize i = 0; i < half; i++) if (i < columns)                                       \
        STORE(&to, i, row[i / 2], i % 2 * 8, rows * unit);                                         \
  }                                                                                                \
                                                                                                   \
  INLINE void any_##name(Places to, const guint8 *in, gsize in_pitch, gsize in_step, gsize rows,   \
                         gsize columns, gsize unit)                                                \
  {                                                                                                \
    const gsize n = 16 / unit;                                                                     \
    if (unit <= 4 && rows <= n / 2 && columns <= n / 2)                                            \
      half_##name(to, in, in_pitch, in_step, rows, columns, unit);                                 \
    else if (rows >= n && columns >= n)                                                            \
      squares_##name(to, in, in_pitch, in_step, n, n, unit);                                       \
    else                                                                                           \
      squares_##name(to, in, in_pitch, in_step, MIN(n, rows), MIN(n, columns), unit);              \
  }

#define LOAD_LANE(from, step) (*(const Lane *)(from))
#define STORE_LANE(to, column, lane, first, bytes)                                                 \
  store_part(place(to, 0, column), lane, first, bytes)
SQUARES(Lane, lane, LANES_1, LOAD_LANE, STORE_LANE)

#if LANES > 1
INLINE void store_vector(const Places *to, gsize column, Vector lanes, gsize first, gsize bytes)
{
  guint8 *places[LANES];
  UNROLL for (gsize l = 0; l < LANES; l++) places[l] = place(to, l, column);
  store_lanes(places, lanes, first, bytes);
}

#if LANES == 4
SQUARES(Vector, vector, LANES_4, load_lanes, store_vector)
#else
SQUARES(Vector, vector, LANES_2, load_lanes, store_vector)
#endif

/* LANES whole squares below each other, of at most n columns. */
INLINE void tall(guint8 *out, const guint32 *column_to, const guint8 *in, gsize in_pitch,
                 gsize columns, gsize unit)
{
  const gsize n = 16 / unit;
  Vector row[16];
  UNROLL for (gsize i = 0; i < n; i++) row[i] = load_lanes(in + i * in_pitch, n * in_pitch);
  UNROLL for (gsize pass = 1; pass < n; pass *= 2) pass_over_vector(row, n, unit);
  if (columns >= n) {
    UNROLL for (gsize i = 0; i < n; i++) * (Vector *)(out + column_to[i]) = row[i];
  } else {
    UNROLL for (gsize i = 0; i < n; i++) if (i < columns) * (Vector *)(out + column_to[i]) = row[i];
  }
}
#endif

/* Lanes take squares below each other while there are rows enough, then squares side by side. */
INLINE void transpose_one(guint8 *out, const guint8 *in, const AstroTransposePlane *plane,
                          gsize unit)
{
  const gsize n = 16 / unit, in_pitch = plane->in_pitch;
  const gsize rows = plane->rows, columns = plane->columns;
  const guint32 *column_to = plane->column_to;
  gsize r = 0;
#if LANES > 1
  for (; r + LANES * n <= rows; r += LANES * n)
    for (gsize c = 0; c < columns; c += n) {
      astro_transpose_fetch(plane->ahead, LANES * 16 * n);
      tall(out + r * unit, column_to + c, in + r * in_pitch + c * unit, in_pitch, columns - c,
           unit);
    }
#endif
  for (; r < rows; r += n) {
    gsize c = 0;
#if LANES > 1
    for (; c + LANES * n <= columns; c += LANES * n) {
      astro_transpose_fetch(plane->ahead, LANES * 16 * n);
      any_vector((Places){ out + r * unit, 0, n, column_to + c }, in + r * in_pitch + c * unit,
                 in_pitch, 16, rows - r, n, unit);
    }
#endif
    for (; c < columns; c += n) {
      astro_transpose_fetch(plane->ahead, 16 * n);
      any_lane((Places){ out + r * unit, 0, 0, column_to + c }, in + r * in_pitch + c * unit,
               in_pitch, 0, rows - r, columns - c, unit);
    }
  }
}

/* Planes with few rows are taken LANES at a time, a lane each. */
INLINE void transpose(const AstroTransposePlane *plane, gsize unit)
{
  gsize i = 0;
#if LANES > 1
  const gsize n = 16 / unit;
  if (plane->rows < LANES * n)
    for (; i + LANES <= plane->times; i += LANES)
      for (gsize r = 0; r < plane->rows; r += n)
        for (gsize c = 0; c < plane->columns; c += n) {
          astro_transpose_fetch(plane->ahead, LANES * 16 * n);
          any_vector((Places){ plane->out + i * plane->out_step + r * unit, plane->out_step, 0,
                               plane->column_to + c },
                     plane->in + i * plane->in_step + r * plane->in_pitch + c * unit,
                     plane->in_pitch, plane->in_step, plane->rows - r, plane->columns - c, unit);
        }
#endif
  for (; i < plane->times; i++)
    transpose_one(plane->out + i * plane->out_step, plane->in + i * plane->in_step, plane, unit);
}

#define TRANSPOSE(unit)                                                                            \
  static void transpose_##unit(const AstroTransposePlane *plane)                                   \
  {                                                                                                \
    transpose(plane, unit);                                                                        \
  }
TRANSPOSE(1)
TRANSPOSE(2)
TRANSPOSE(4)
TRANSPOSE(8)
TRANSPOSE(16)

/* Copies whole pieces and then the last one, which may overlap the one before, so that no loop goes
 * over single bytes. */
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

/* A unit of n to 2 n bytes is two pieces of n, which may overlap, so the loop has no branches. */
typedef guint8 Piece16 __attribute__((vector_size(16), aligned(1), may_alias));
typedef guint8 Piece32 __attribute__((vector_size(32), aligned(1), may_alias));

#define COPY_PAIR(name, Piece)                                                                     \
  INLINE void name(guint8 *restrict to, const guint8 *restrict from, gsize bytes)                  \
  {                                                                                                \
    Piece head = *(const Piece *)from, tail = *(const Piece *)(from + bytes - sizeof tail);        \
    *(Piece *)to = head;                                                                           \
    *(Piece *)(to + bytes - sizeof tail) = tail;                                                   \
  }
COPY_PAIR(copy_pair_4, Piece4)
COPY_PAIR(copy_pair_8, Piece8)
COPY_PAIR(copy_pair_16, Piece16)
COPY_PAIR(copy_pair_32, Piece32)

#define REARRANGE(copy_unit)                                                                       \
  for (gsize i = 0; i < plane->times; i++)                                                         \
    for (gsize c = 0; c < plane->columns; c++) {                                                   \
      guint8 *out = plane->out + i * plane->out_step + plane->column_to[c];                        \
      const guint8 *in = plane->in + i * plane->in_step + c * unit;                                \
      astro_transpose_fetch(plane->ahead, plane->rows *unit);                                      \
      for (gsize r = 0; r < plane->rows; r++)                                                      \
        copy_unit(out + r * unit, in + r * plane->in_pitch, unit);                                 \
    }

static void rearrange(const AstroTransposePlane *plane)
{
  const gsize unit = plane->unit;
  if (unit < 4 || unit > 64) {
    REARRANGE(copy_inline)
  } else if (unit < 8) {
    REARRANGE(copy_pair_4)
  } else if (unit < 16) {
    REARRANGE(copy_pair_8)
  } else if (unit < 32) {
    REARRANGE(copy_pair_16)
  } else {
    REARRANGE(copy_pair_32)
  }
}
