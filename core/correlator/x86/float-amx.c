/* Products of floating-point samples by matrix tiles of bytes. Within a pass, the real and
 * imaginary parts of an input are taken as integers of 24 bits times a power of two of their own,
 * and split into three signed digits of eight bits, high, middle, low. All products of digits are
 * summed except low with low, which are 2^-30 of the largest. So the only significant error is that
 * samples are rounded to 2^-23 of the largest of 256. */
#include "core/correlator/x86/tile-float.h"
#include <math.h>

#define DIGITS 3
#define RANKS 4
#define MOST_STEPS 4
#include "core/correlator/x86/bytewise.h"

/* Traits of a packed panel, for a pass. A half is eight inputs, whose real and imaginary parts fill
 * a vector. */
typedef struct {
  guint32 largest[2][PANEL]; /* bits of the largest magnitude, for the parts of each half */
  float scale[2][PANEL];     /* parts times 2^scale are integers of 24 bits */
  float back[PANEL];         /* an input's share of the exponent of rank 0 */
} Traits;

G_STATIC_ASSERT(sizeof(Traits) <= TRAITS_BYTES);

/* ---- packing ---- */

/* Indices that select the real parts from two halves. */
static ALWAYS_INLINE __m512i even_lanes(void)
{
  return _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
}

static ALWAYS_INLINE __m512 load_half(const guint8 *row, guint half, guint inputs,
                                      AstroFormat format)
{
  enum { HALF = PANEL / 2 };
  const guint n = inputs > half * HALF ? MIN(inputs - half * HALF, HALF) : 0;
  const __mmask16 parts = (__mmask16)((1u << 2 * n) - 1);
  if (format == ASTRO_FORMAT_CF32LE)
    return n == HALF ? _mm512_loadu_ps(row + half * 64)
                     : _mm512_maskz_loadu_ps(parts, row + half * 64);
  return _mm512_cvtph_ps(n == HALF ? _mm256_loadu_si256((const __m256i *)(row + half * 32))
                                   : _mm256_maskz_loadu_epi16(parts, row + half * 32));
}

/* The smallest power of two that scales the largest part to at most 0x7f7f7f, the largest number
 * that three signed digits hold; adding 0x10101 lets larger fractions carry into the exponent. A
 * NaN input makes all its sums NaN. */
static ALWAYS_INLINE void set_scales(Traits *traits)
{
  const __m512i even = even_lanes();
  const __m512i infinite = _mm512_set1_epi32(0x7f800000);
  __m512 power[2];
#pragma GCC unroll 2
  for (guint half = 0; half < 2; half++) {
    __m512i bits = _mm512_load_si512(traits->largest[half]);
    bits = _mm512_max_epu32(bits, _mm512_shuffle_epi32(bits, _MM_PERM_CDAB));
    __mmask16 none = _mm512_cmpge_epu32_mask(bits, infinite);
    __m512i exponent = _mm512_srli_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x10101)), 23);
    power[half] = _mm512_cvtepi32_ps(_mm512_sub_epi32(exponent, _mm512_set1_epi32(126)));
    power[half] = _mm512_mask_mov_ps(power[half], none, _mm512_set1_ps(NAN));
    _mm512_store_ps(traits->scale[half], _mm512_sub_ps(_mm512_set1_ps(23), power[half]));
  }
  /* The scales of two inputs, 23 bits each, less the 8 of rank 3: sums are counted from rank 3 up.
   */
  _mm512_store_ps(traits->back, _mm512_sub_ps(_mm512_permutex2var_ps(power[0], even, power[1]),
                                              _mm512_set1_ps(23 - 4)));
}

static ALWAYS_INLINE void measure(guint8 *traits, const AstroCorrelatorRows *rows,
                                  AstroFormat format)
{
  enum { AT_ONCE = 16 };
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  const gsize panel_bytes = PANEL * (format == ASTRO_FORMAT_CF32LE ? 8 : 4);
  for (guint first = 0; first < rows->count; first += AT_ONCE)
    for (guint p = 0; p < rows->panels; p++) {
      Traits *own = (Traits *)(traits + p * rows->panel_stride);
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
    set_scales((Traits *)(traits + p * rows->panel_stride));
}

void astro_correlator_measure_cf32_amx(gpointer traits, const AstroCorrelatorRows *rows)
{
  measure(traits, rows, ASTRO_FORMAT_CF32LE);
}

void astro_correlator_measure_cf16_amx(gpointer traits, const AstroCorrelatorRows *rows)
{
  measure(traits, rows, ASTRO_FORMAT_CF16LE);
}

static ALWAYS_INLINE void pack_half(__m512i quads[4], const Traits *traits, const guint8 *in,
                                    gsize stride, guint count, guint half, guint inputs,
                                    AstroFormat format)
{
  const __m512i bias = _mm512_set1_epi32(0x808080);
  const __m512 scale = _mm512_load_ps(traits->scale[half]);
  __m512i steps[4];
#pragma GCC unroll 4
  for (guint t = 0; t < 4; t++) {
    steps[t] = _mm512_setzero_si512();
    if (t >= count)
      continue;
    __m512 parts = load_half(in + t * stride, half, inputs, format);
    __m512i number = _mm512_cvtps_epi32(_mm512_scalef_ps(parts, scale));
    /* Adding 128 to each digit makes all digits non-negative, so that they become separate bytes.
     */
    steps[t] = _mm512_xor_si512(_mm512_add_epi32(number, bias), bias);
  }
  quads_of_bytes(quads, steps);
}

static ALWAYS_INLINE void pack_quads(guint8 *to, const Traits *traits, const guint8 *in,
                                     gsize stride, guint count, guint inputs, AstroFormat format)
{
  const __m512i even = even_lanes();
  const __m512i odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
  __m512i low[4], high[4];
  pack_half(low, traits, in, stride, count, 0, inputs, format);
  pack_half(high, traits, in, stride, count, 1, inputs, format);
#pragma GCC unroll 3
  for (guint d = 0; d < DIGITS; d++) {
    const guint byte = DIGITS - 1 - d;
    _mm512_store_si512(to + d * OPERAND, _mm512_permutex2var_epi32(low[byte], even, high[byte]));
    _mm512_store_si512(to + PART + d * OPERAND,
                       _mm512_permutex2var_epi32(low[byte], odd, high[byte]));
  }
}

static ALWAYS_INLINE void pack_quads_cf32(guint8 *to, gconstpointer traits, const guint8 *in,
                                          gsize stride, guint count, guint inputs)
{
  pack_quads(to, traits, in, stride, count, inputs, ASTRO_FORMAT_CF32LE);
}

static ALWAYS_INLINE void pack_quads_cf16(guint8 *to, gconstpointer traits, const guint8 *in,
                                          gsize stride, guint count, guint inputs)
{
  pack_quads(to, traits, in, stride, count, inputs, ASTRO_FORMAT_CF16LE);
}

void astro_correlator_pack_cf32_amx(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows)
{
  pack_rows(packed, traits, rows, 8, 2 * DIGITS, pack_quads_cf32);
}

void astro_correlator_pack_cf16_amx(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows)
{
  pack_rows(packed, traits, rows, 4, 2 * DIGITS, pack_quads_cf16);
}

/* ---- products ---- */

/* Eight products need six operands: the row's digits stay loaded while the column's pass by. */
static ALWAYS_INLINE void multiply_digits(const guint8 *left, const guint8 *right)
{
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
}

static ALWAYS_INLINE void add_values(const Target *to, const Sums sums)
{
  const __m512 digit = _mm512_set1_ps(256);
  const __m512 columns = _mm512_load_ps(((const Traits *)to->right)->back);
  const float *rows = ((const Traits *)to->left)->back;
#pragma GCC unroll 4
  for (guint r = 0; r < PANEL; r++) {
    float *part = to->part + r * PANEL;
    __m512 value = _mm512_setzero_ps();
#pragma GCC unroll 4
    for (guint rank = 0; rank < RANKS; rank++) {
      __m512 sum = _mm512_cvtepi32_ps(_mm512_load_si512(sums[rank] + r * PANEL));
      value = rank ? _mm512_fmadd_ps(value, digit, sum) : sum;
    }
    value = _mm512_scalef_ps(value, _mm512_add_ps(columns, _mm512_set1_ps(rows[r])));
    __m512 before = to->first ? _mm512_setzero_ps() : _mm512_load_ps(part);
    _mm512_store_ps(part, to->minus ? _mm512_sub_ps(before, value) : _mm512_add_ps(before, value));
  }
}

DIGITS_KERNEL(float_amx, add_tile_avx512)
