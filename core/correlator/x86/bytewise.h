/* Matrix tiles for samples that are numbers of several bytes: each byte is a digit. Products of
 * digits, which are exact, are summed in int32 by rank, the power of 256 that they stand for. A
 * packed step has the digits of real parts, then those of imaginary parts. In memory a tile is re,
 * then im, of type TILE.
 *
 * Included by a file that defines
 * TILE, DIGITS, RANKS, MOST_STEPS (per pass)
 * multiply_digits(left, right)  adds products of 64 samples of two parts to registers 0, 1, ... by
 *                               rank, the highest first
 * add_values(to, sums)          adds the value of a pass's sums */
#include "core/correlator/prefetch.h"
#include "core/correlator/x86/amx.h"

enum {
  PART = DIGITS * OPERAND,
  STEP = 2 * PART,
  PAIRS = PANEL * PANEL,
  ASKED_LINES = 8, /* at a time: more would take up the line buffers that operands pass through */
};

typedef gint32 Sums[RANKS][PAIRS];

/* Where products of two parts of panels are added. */
typedef struct {
  TILE *part;                /* re or im of a tile */
  gconstpointer left, right; /* the panels' traits */
  gboolean first;            /* the part is uninitialised */
  gboolean minus;
} Target;

static void multiply_digits(const guint8 *left, const guint8 *right);
static void add_values(const Target *to, const Sums sums);

/* Bytes 0 to 3 of the lanes of four time steps, as quads of each byte. */
static ALWAYS_INLINE void quads_of_bytes(__m512i quads[4], const __m512i steps[4])
{
  const __m512i even = _mm512_set1_epi32(0x00ff00ff), low = _mm512_set1_epi32(0xffff);
  __m512i bytes_02[2], bytes_13[2]; /* from two steps */
#pragma GCC unroll 2
  for (guint i = 0; i < 2; i++) {
    const __m512i a = steps[2 * i], b = steps[2 * i + 1];
    bytes_02[i] = _mm512_ternarylogic_epi32(a, _mm512_slli_epi32(b, 8), even, 0xe4);
    bytes_13[i] = _mm512_ternarylogic_epi32(_mm512_srli_epi32(a, 8), b, even, 0xe4);
  }
  quads[0] = _mm512_ternarylogic_epi32(bytes_02[0], _mm512_slli_epi32(bytes_02[1], 16), low, 0xe4);
  quads[1] = _mm512_ternarylogic_epi32(bytes_13[0], _mm512_slli_epi32(bytes_13[1], 16), low, 0xe4);
  quads[2] = _mm512_ternarylogic_epi32(_mm512_srli_epi32(bytes_02[0], 16), bytes_02[1], low, 0xe4);
  quads[3] = _mm512_ternarylogic_epi32(_mm512_srli_epi32(bytes_13[0], 16), bytes_13[1], low, 0xe4);
}

static ALWAYS_INLINE void zero_sums(void)
{
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  if (RANKS > 3)
    _tile_zero(3);
}

static ALWAYS_INLINE void store_sums(Sums sums)
{
  _tile_stored(0, sums[0], 64);
  _tile_stored(1, sums[1], 64);
  _tile_stored(2, sums[2], 64);
  if (RANKS > 3)
    _tile_stored(3, sums[RANKS - 1], 64);
}

static ALWAYS_INLINE void multiply_steps(const guint8 *left, const guint8 *right, guint steps,
                                         AstroCorrelatorAhead *ahead)
{
  for (guint s = 0; s < steps; s++, left += STEP, right += STEP) {
    multiply_digits(left, right);
    astro_correlator_ask(ahead);
  }
}

/* re re + im im, then im re, then re im; on the diagonal the last is the transpose of im re and not
 * summed. Sums are converted to values right after a pass: doing so between products costs more. */
static ALWAYS_INLINE void multiply_panels(Target *to, const guint8 *row, const guint8 *column,
                                          guint steps, gboolean diagonal,
                                          AstroCorrelatorAhead *ahead)
{
  Sums sums __attribute__((aligned(64)));
  to->minus = FALSE;
  zero_sums();
  multiply_steps(row, column, steps, ahead);
  multiply_steps(row + PART, column + PART, steps, ahead);
  store_sums(sums);
  add_values(to, sums);
  to->part += PAIRS;
  zero_sums();
  multiply_steps(row + PART, column, steps, ahead);
  store_sums(sums);
  add_values(to, sums);
  if (diagonal)
    return;
  to->first = FALSE;
  to->minus = TRUE;
  zero_sums();
  multiply_steps(row, column + PART, steps, ahead);
  store_sums(sums);
  add_values(to, sums);
}

static void multiply_product(const AstroCorrelatorProduct *product)
{
  guint8 row[MOST_STEPS * STEP] __attribute__((aligned(64)));
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, 4 * product->steps);
  ahead.lines = MIN(ahead.lines, ASKED_LINES);
  _tile_loadconfig(&tile_shape);
  for (guint i = 0; i < product->rows; i++) {
    const guint8 *left = product->left + i * product->panel_stride;
    TILE *tile = (TILE *)(product->tiles + i * product->tiles_stride);
    for (gsize at = 0; at < product->steps * STEP; at += OPERAND)
      transpose(row + at, left + at);
    for (guint j = 0; j < astro_correlator_columns(product, i); j++) {
      const guint8 *right = product->right + j * product->panel_stride;
      Target to = { .part = tile + 2 * j * PAIRS,
                    .left = left + product->traits,
                    .right = right + product->traits,
                    .first = product->first };
      multiply_panels(&to, row, right, product->steps, j == product->below + i, &ahead);
    }
  }
  _tile_release();
}

/* Defines the functions for a kernel's table. */
#define DIGITS_KERNEL(name, add)                                                                   \
  void astro_correlator_multiply_##name(const AstroCorrelatorProduct *product)                     \
  {                                                                                                \
    multiply_product(product);                                                                     \
  }                                                                                                \
  void astro_correlator_add_##name(const AstroCorrelatorPlace *place, const guint8 *tile)          \
  {                                                                                                \
    const TILE *re = (const TILE *)tile, *im = re + PAIRS;                                         \
    TILE of_diagonal[PAIRS] __attribute__((aligned(64)));                                          \
    if (place->row == place->column) {                                                             \
      subtract_transpose(of_diagonal, im);                                                         \
      im = of_diagonal;                                                                            \
    }                                                                                              \
    add(place, re, im);                                                                            \
  }
