/* Products of floating-point samples by matrix tiles of bytes. Within a pass the real and imaginary
 * parts of an input are taken as integers of 24 bits, times one power of two that is the input's
 * own, and cut into three digits of eight bits with signs, high, middle, low. Products of digits
 * are exact, and so are their sums of a pass; those of low with low, 2^-30 of the largest, are left
 * out. So the only error of weight is the rounding of samples to 2^-23 of the largest of 256. */
#include "core/correlator/ahead.h"
#include "core/correlator/amx.h"
#include <math.h>

#define TILE float
#define SUM double
#define WIDEN(parts) _mm512_cvtps_pd(_mm256_castsi256_ps(parts))
#define WIDEN_ADD(sum, parts)                                                                      \
  _mm512_storeu_pd(sum, _mm512_add_pd(_mm512_loadu_pd(sum), WIDEN(parts)))
#include "core/correlator/tile-avx512.h"

enum {
  DIGITS = 3,
  RANKS = 4, /* of a product of digits: 2^24, 2^16, 2^8, 1 */
  NUMBER = DIGITS * OPERAND,
  STEP = 2 * NUMBER, /* real digits, then imaginary ones */
  MOST_STEPS = 4,
  HALF = 8, /* inputs whose parts, side by side, fill a vector */
  PAIRS = PANEL * PANEL,
};

/* Of a packed panel, for a pass. */
typedef struct {
  guint32 largest[2][PANEL]; /* magnitudes' bits, of either half's parts */
  float scale[2][PANEL];     /* samples times 2^this are integers of 24 bits */
  float back[PANEL];         /* powers of two that an input brings to sums of rank 0 */
} Notes;

G_STATIC_ASSERT(sizeof(Notes) <= NOTES_BYTES);

/* ---- packing ---- */

static ALWAYS_INLINE __m512 load_half(const guint8 *row, guint half, guint inputs,
                                      AstroFormat format)
{
  const guint n = inputs > half * HALF ? MIN(inputs - half * HALF, HALF) : 0;
  const __mmask16 parts = (__mmask16)((1u << 2 * n) - 1);
  if (format == ASTRO_FORMAT_CF32LE)
    return n == HALF ? _mm512_loadu_ps(row + half * 64)
                     : _mm512_maskz_loadu_ps(parts, row + half * 64);
  return _mm512_cvtph_ps(n == HALF ? _mm256_loadu_si256((const __m256i *)(row + half * 32))
                                   : _mm256_maskz_loadu_epi16(parts, row + half * 32));
}

/* The least scale at which the largest part is no more than 0x7f7f7f, which is the most that three
 * digits with signs hold: 0x10101 is what the rest up to 2^23 takes in a fraction of 24 bits. */
static ALWAYS_INLINE void set_scales(Notes *notes)
{
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i infinite = _mm512_set1_epi32(0x7f800000);
  __m512 power[2];
#pragma GCC unroll 2
  for (guint half = 0; half < 2; half++) {
    __m512i bits = _mm512_load_si512(notes->largest[half]);
    bits = _mm512_max_epu32(bits, _mm512_shuffle_epi32(bits, _MM_PERM_CDAB));
    __mmask16 none = _mm512_cmpge_epu32_mask(bits, infinite);
    __m512i exponent = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x10101)), 23);
    power[half] = _mm512_cvtepi32_ps(_mm512_sub_epi32(exponent, _mm512_set1_epi32(126)));
    power[half] = _mm512_mask_mov_ps(power[half], none, _mm512_set1_ps(NAN));
    _mm512_store_ps(notes->scale[half], _mm512_sub_ps(_mm512_set1_ps(23), power[half]));
  }
  /* Two inputs' scales of 23 bits, less the 8 of rank 3: sums are counted from rank 3 up. */
  _mm512_store_ps(notes->back, _mm512_sub_ps(_mm512_permutex2var_ps(power[0], even, power[1]),
                                             _mm512_set1_ps(23 - 4)));
}

static ALWAYS_INLINE void measure(guint8 *notes, const AstroCorrelatorRows *rows,
                                  AstroFormat format)
{
  enum { AT_ONCE = 16 };
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  const gsize panel_bytes = PANEL * (format == ASTRO_FORMAT_CF32LE ? 8 : 4);
  for (guint first = 0; first < rows->count; first += AT_ONCE)
    for (guint p = 0; p < rows->panels; p++) {
      Notes *own = (Notes *)(notes + p * rows->panel_stride);
      const guint inputs = p + 1 < rows->panels ? PANEL : rows->inputs;
      __m512i low = _mm512_load_si512(own->largest[0]), high = _mm512_load_si512(own->largest[1]);
      for (guint t = first; t < MIN(first + AT_ONCE, rows->count); t++) {
        const guint8 *row = rows->first + t * rows->stride + p * panel_bytes;
        __m512i a = _mm512_castps_si512(load_half(row, 0, inputs, format));
        __m512i b = _mm512_castps_si512(load_half(row, 1, inputs, format));
        low = _mm512_max_epu32(low, _mm512_and_si512(a, magnitude));
        high = _mm512_max_epu32(high, _mm512_and_si512(b, magnitude));
      }
      _mm512_store_si512(own->largest[0], low);
      _mm512_store_si512(own->largest[1], high);
    }
  for (guint p = 0; p < rows->panels; p++)
    set_scales((Notes *)(notes + p * rows->panel_stride));
}

void astro_correlator_measure_cf32_amx(gpointer notes, const AstroCorrelatorRows *rows)
{
  measure(notes, rows, ASTRO_FORMAT_CF32LE);
}

void astro_correlator_measure_cf16_amx(gpointer notes, const AstroCorrelatorRows *rows)
{
  measure(notes, rows, ASTRO_FORMAT_CF16LE);
}

/* Where the mask has bits the first, else the second. */
static ALWAYS_INLINE __m512i choose(gint32 mask, __m512i a, __m512i b)
{
  return _mm512_ternarylogic_epi32(a, b, _mm512_set1_epi32(mask), 0xe4);
}

/* Four time steps of a half panel: quads of each digit, of the inputs' parts side by side. Time
 * steps from count on are zero. */
static ALWAYS_INLINE void pack_half(__m512i quads[DIGITS], const Notes *notes, const guint8 *first,
                                    gsize stride, guint count, guint half, guint inputs,
                                    AstroFormat format)
{
  const __m512i bias = _mm512_set1_epi32(0x808080);
  const __m512 scale = _mm512_load_ps(notes->scale[half]);
  __m512i v[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++) {
    if (t >= count) {
      v[t] = _mm512_setzero_si512();
      continue;
    }
    v[t] = _mm512_cvtps_epi32(
        _mm512_scalef_ps(load_half(first + t * stride, half, inputs, format), scale));
    /* Bytes of a number plus 128 in each are its digits plus 128. */
    v[t] = _mm512_xor_si512(_mm512_add_epi32(v[t], bias), bias);
  }
  /* Low and high digits of two steps, then their middle ones. */
  __m512i outer_01 = choose(0x00ff00ff, v[0], _mm512_slli_epi32(v[1], 8));
  __m512i outer_23 = choose(0x00ff00ff, v[2], _mm512_slli_epi32(v[3], 8));
  __m512i middle_01 = choose(0x00ff00ff, _mm512_srli_epi32(v[0], 8), v[1]);
  __m512i middle_23 = choose(0x00ff00ff, _mm512_srli_epi32(v[2], 8), v[3]);
  quads[0] = choose(0x0000ffff, _mm512_srli_epi32(outer_01, 16), outer_23);
  quads[1] = choose(0x0000ffff, middle_01, _mm512_slli_epi32(middle_23, 16));
  quads[2] = choose(0x0000ffff, outer_01, _mm512_slli_epi32(outer_23, 16));
}

static ALWAYS_INLINE void pack_quads(guint8 *to, const Notes *notes, const guint8 *first,
                                     gsize stride, guint count, guint inputs, AstroFormat format)
{
  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  __m512i low[DIGITS], high[DIGITS];
  pack_half(low, notes, first, stride, count, 0, inputs, format);
  pack_half(high, notes, first, stride, count, 1, inputs, format);
#pragma GCC unroll 3
  for (guint d = 0; d < DIGITS; d++) {
    _mm512_store_si512(to + d * OPERAND, _mm512_permutex2var_epi32(low[d], even, high[d]));
    _mm512_store_si512(to + NUMBER + d * OPERAND, _mm512_permutex2var_epi32(low[d], odd, high[d]));
  }
}

/* Four time steps of all panels, then the next four. */
static ALWAYS_INLINE void pack(guint8 *packed, const guint8 *notes, const AstroCorrelatorRows *rows,
                               AstroFormat format)
{
  const gsize panel_bytes = PANEL * (format == ASTRO_FORMAT_CF32LE ? 8 : 4);
  const guint quads = (rows->count + 63) / 64 * 16, whole_quads = rows->count / 4;
  const guint whole_panels = rows->inputs == PANEL ? rows->panels : rows->panels - 1;
  for (guint q = 0; q < quads; q++) {
    guint8 *to = packed + q / 16 * STEP + q % 16 * 64;
    const guint8 *in = rows->first + 4 * q * rows->stride, *own = notes;
    const guint count = rows->count > 4 * q ? rows->count - 4 * q : 0;
    guint p = 0;
    for (; q < whole_quads && p < whole_panels; p++) {
      pack_quads(to, (const Notes *)own, in, rows->stride, 4, PANEL, format);
      to += rows->panel_stride;
      own += rows->panel_stride;
      in += panel_bytes;
    }
    for (; p < rows->panels; p++) {
      pack_quads(to, (const Notes *)own, in, rows->stride, count,
                 p < whole_panels ? PANEL : rows->inputs, format);
      to += rows->panel_stride;
      own += rows->panel_stride;
      in += panel_bytes;
    }
  }
}

void astro_correlator_pack_cf32_amx(guint8 *packed, gpointer notes, const AstroCorrelatorRows *rows)
{
  pack(packed, notes, rows, ASTRO_FORMAT_CF32LE);
}

void astro_correlator_pack_cf16_amx(guint8 *packed, gpointer notes, const AstroCorrelatorRows *rows)
{
  pack(packed, notes, rows, ASTRO_FORMAT_CF16LE);
}

/* ---- products ---- */

/* Adds the products of numbers, digit by digit, to the sums of each rank, registers 0 to 3. */
static ALWAYS_INLINE void add_products(const guint8 *left, const guint8 *right, guint steps,
                                       AstroCorrelatorAhead *ahead)
{
  for (guint s = 0; s < steps; s++, left += STEP, right += STEP) {
#ifdef VARB
    _tile_loadd(4, right, 64);
    _tile_loadd(5, right + OPERAND, 64);
    _tile_loadd(6, right + 2 * OPERAND, 64);
    _tile_loadd(7, left, 64);
    _tile_dpbssd(0, 7, 4);
    _tile_dpbssd(1, 7, 5);
    _tile_dpbssd(2, 7, 6);
    _tile_loadd(7, left + OPERAND, 64);
    _tile_dpbssd(3, 7, 6);
    _tile_dpbssd(1, 7, 4);
    _tile_dpbssd(2, 7, 5);
    _tile_loadd(7, left + 2 * OPERAND, 64);
    _tile_dpbssd(2, 7, 4);
    _tile_dpbssd(3, 7, 5);
#else
    _tile_loadd(4, left, 64);
    _tile_loadd(7, right, 64);
    _tile_dpbssd(0, 4, 7);
    _tile_loadd(5, left + OPERAND, 64);
    _tile_dpbssd(1, 5, 7);
    _tile_loadd(6, left + 2 * OPERAND, 64);
    _tile_dpbssd(2, 6, 7);
    _tile_loadd(7, right + OPERAND, 64);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 7);
    _tile_dpbssd(3, 6, 7);
    _tile_loadd(7, right + 2 * OPERAND, 64);
    _tile_dpbssd(2, 4, 7);
    _tile_dpbssd(3, 5, 7);
#endif
    astro_correlator_ask(ahead);
  }
}

typedef gint32 Sums[RANKS][PAIRS];

static ALWAYS_INLINE void zero_sums(void)
{
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
}

static ALWAYS_INLINE void store_sums(Sums sums)
{
  _tile_stored(0, sums[0], 64);
  _tile_stored(1, sums[1], 64);
  _tile_stored(2, sums[2], 64);
  _tile_stored(3, sums[3], 64);
}

/* What sums of all ranks come to, for one row. */
static ALWAYS_INLINE __m512 value(Sums sums, guint row, __m512 power)
{
  const __m512 digit = _mm512_set1_ps(256);
  __m512 all = _mm512_cvtepi32_ps(_mm512_load_si512(sums[0] + row * PANEL));
#pragma GCC unroll 3
  for (guint rank = 1; rank < RANKS; rank++)
    all = _mm512_fmadd_ps(all, digit,
                          _mm512_cvtepi32_ps(_mm512_load_si512(sums[rank] + row * PANEL)));
  return _mm512_scalef_ps(all, power);
}

static ALWAYS_INLINE void add_values(float *tile, Sums sums, const Notes *left, const Notes *right,
                                     gboolean first, gboolean minus)
{
  const __m512 columns = _mm512_load_ps(right->back);
#pragma GCC unroll 4
  for (guint r = 0; r < PANEL; r++) {
    __m512 part = value(sums, r, _mm512_add_ps(columns, _mm512_set1_ps(left->back[r])));
    __m512 before = first ? _mm512_setzero_ps() : _mm512_load_ps(tile + r * PANEL);
    _mm512_store_ps(tile + r * PANEL,
                    minus ? _mm512_sub_ps(before, part) : _mm512_add_ps(before, part));
  }
}

void astro_correlator_multiply_float_amx(const AstroCorrelatorProduct *product)
{
  guint8 row[MOST_STEPS * STEP] __attribute__((aligned(64)));
  Sums sums __attribute__((aligned(64)));
  AstroCorrelatorAhead ahead = astro_correlator_ahead(product, 4 * product->steps);
  ahead.lines = MIN(ahead.lines, ASKED_LINES);
  _tile_loadconfig(&tile_shape);
  for (guint i = 0; i < product->rows; i++) {
    const guint8 *panel = product->left + i * product->panel_stride;
    const Notes *left = (const Notes *)(panel + product->notes);
    float *tile = (float *)(product->tiles + i * product->tiles_stride);
    const guint columns = astro_correlator_columns(product, i);
    for (gsize at = 0; at < product->steps * STEP; at += OPERAND)
      turn(row + at, panel + at);
    for (guint j = 0; j < columns; j++, tile += 2 * PAIRS) {
      const guint8 *column = product->right + j * product->panel_stride;
      const Notes *right = (const Notes *)(column + product->notes);
      zero_sums();
      add_products(row, column, product->steps, &ahead);
      add_products(row + NUMBER, column + NUMBER, product->steps, &ahead);
      store_sums(sums);
      add_values(tile, sums, left, right, product->first, FALSE);
      zero_sums();
      add_products(row + NUMBER, column, product->steps, &ahead);
      store_sums(sums);
      add_values(tile + PAIRS, sums, left, right, product->first, FALSE);
      if (j == product->below + i)
        continue;
      zero_sums();
      add_products(row, column + NUMBER, product->steps, &ahead);
      store_sums(sums);
      add_values(tile + PAIRS, sums, left, right, FALSE, TRUE);
    }
  }
  _tile_release();
}

/* On the diagonal im re alone was summed. */
static void subtract_transpose(float *im, const float *im_re)
{
  for (guint r = 0; r < PANEL; r++)
    for (guint c = 0; c < PANEL; c++)
      im[r * PANEL + c] = im_re[r * PANEL + c] - im_re[c * PANEL + r];
}

void astro_correlator_add_float_amx(const AstroCorrelatorPlace *place, const guint8 *tile)
{
  const float *re = (const float *)tile, *im = re + PAIRS;
  float of_diagonal[PAIRS] __attribute__((aligned(64)));
  if (place->row == place->column) {
    subtract_transpose(of_diagonal, im);
    im = of_diagonal;
  }
  add_tile_avx512(place, re, im);
}
