/* Products by dot products of four samples at a time. The instruction multiplies unsigned bytes by
 * signed ones, so 128 is added to columns by an exclusive or. What that adds to sums depends only
 * on the row, and sums begin with that much less. Three real products for a complex one (outer.h)
 * need re + im and re - im in a byte too. For 4-bit samples they always fit; for 8-bit ones they
 * fit as long as samples are within +-63, or their root mean square is below about 20. A panel that
 * does not fit needs four products. Everything is exact modulo 2^32, and the true sums of a span
 * fit. */
#include "core/correlator/x86/pack-fours.h"

typedef gint32 Lanes16 __attribute__((vector_size(64), may_alias));
typedef gint32 Lanes8 __attribute__((vector_size(32), may_alias));

static inline Lanes16 multiply_add_16(Lanes16 sum, Lanes16 row, Lanes16 column)
{
  __m512i biased = _mm512_xor_si512((__m512i)column, _mm512_set1_epi8((char)128));
  return (Lanes16)_mm512_dpbusd_epi32((__m512i)sum, biased, (__m512i)row);
}

static inline Lanes8 multiply_add_8(Lanes8 sum, Lanes8 row, Lanes8 column)
{
  __m256i biased = _mm256_xor_si256((__m256i)column, _mm256_set1_epi8((char)128));
  return (Lanes8)_mm256_dpbusd_epi32((__m256i)sum, biased, (__m256i)row);
}

#define SCALAR gint32
#define TILE gint32
#define BYTES 64
#define ROWS 8
#define VECTORS 2
#define CHUNK 16
#define RUN 128
#define STARTS
#define MULTIPLY_ADD(sum, a, b)                                                                    \
  _Generic((sum), Lanes16 : multiply_add_16, Lanes8 : multiply_add_8)(sum, a, b)
#include "core/correlator/outer.h"
#include "core/correlator/x86/tile-int32.h"

/* Initial values of each row's sums: those of outer.h's three products, and for four products that
 * of the imaginary part, while the real part uses that of re + im. */
typedef struct {
  gint32 starts[SUMS][PANEL], start_im[PANEL];
  __mmask64 large; /* nonzero: re + im or re - im does not fit everywhere */
} Traits;

G_STATIC_ASSERT(sizeof(Traits) <= TRAITS_BYTES);

static inline const Traits *traits_of(const AstroCorrelatorProduct *product, const guint8 *panels,
                                      guint panel)
{
  return (const Traits *)(panels + panel * product->panel_stride + product->traits);
}

/* ---- packing ---- */

static ALWAYS_INLINE void pack_quads(guint8 *packed, Traits *traits,
                                     const AstroCorrelatorRows *rows, __mmask16 inputs,
                                     AstroFormat format)
{
  const __m512i bias = _mm512_set1_epi8((char)128);
  __m512i sum_re = _mm512_setzero_si512(), sum_im = sum_re; /* times 128 */
  __mmask64 large = traits->large;
  for (guint t = 0; t < rows->count; t += 4) {
    __m512i *out = (__m512i *)packed_lanes(packed, t / 4), re, im;
    const guint8 *in = rows->first + t * rows->stride;
    const guint count = rows->count - t;
    if (count >= 4)
      quad_pack(&re, &im, in, rows->stride, 4, inputs, format);
    else
      quad_pack(&re, &im, in, rows->stride, count, inputs, format);
    out[0] = re;
    out[CHUNK] = im;
    sum_re = _mm512_dpbusd_epi32(sum_re, bias, re);
    sum_im = _mm512_dpbusd_epi32(sum_im, bias, im);
    if (large) /* the other planes will not be used */
      continue;
    out[2 * CHUNK] = _mm512_add_epi8(re, im);
    out[3 * CHUNK] = _mm512_sub_epi8(re, im);
    if (format == ASTRO_FORMAT_CI8)
      large = _mm512_cmpneq_epi8_mask(out[2 * CHUNK], _mm512_adds_epi8(re, im)) |
              _mm512_cmpneq_epi8_mask(out[3 * CHUNK], _mm512_subs_epi8(re, im));
  }
  __m512i *starts = (__m512i *)traits->starts, *start_im = (__m512i *)traits->start_im;
  __m512i both = _mm512_add_epi32(sum_re, sum_im);
  starts[0] = _mm512_sub_epi32(starts[0], sum_re);
  starts[1] = _mm512_sub_epi32(starts[1], sum_im);
  starts[2] = _mm512_sub_epi32(starts[2], both);
  *start_im = _mm512_sub_epi32(*start_im, _mm512_sub_epi32(both, _mm512_srai_epi32(sum_re, 7)));
  traits->large = large;
}

static ALWAYS_INLINE void pack(guint8 *packed, Traits *traits, const AstroCorrelatorRows *rows,
                               AstroFormat format)
{
  if (rows->inputs == PANEL)
    pack_quads(packed, traits, rows, 0xffff, format);
  else
    pack_quads(packed, traits, rows, (__mmask16)((1u << rows->inputs) - 1), format);
}

void astro_correlator_pack_ci8_vnni(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows)
{
  pack(packed, traits, rows, ASTRO_FORMAT_CI8);
}

void astro_correlator_pack_ci4_vnni(guint8 *packed, gpointer traits,
                                    const AstroCorrelatorRows *rows)
{
  pack(packed, traits, rows, ASTRO_FORMAT_CI4);
}

/* ---- four products ---- */

/* The first of a tile's three sums gets the real part, and the last the sum of real and imaginary
 * part, so that their difference is the imaginary part. */
static void multiply_large_block(const OuterRow *row, const Traits *traits, guint first,
                                 guint panel)
{
  const __m512i high = _mm512_set1_epi8((char)0x80), rest = _mm512_set1_epi8(0x7f);
  __m512i sum_re[ROWS], sum_im[ROWS];
#pragma GCC unroll 8
  for (guint r = 0; r < ROWS; r++) {
    sum_re[r] = _mm512_set1_epi32(traits->starts[2][first + r]);
    sum_im[r] = _mm512_set1_epi32(traits->start_im[first + r]);
  }
  for (guint t = 0; t < row->lanes; t++) {
    const gsize at = (gsize)t / CHUNK * PLANES * PART + t % CHUNK * PANEL;
    const gint32 *left = row->left + first + at;
    const gint32 *right = row->right + panel * row->panel_stride + at;
    __m512i re = _mm512_load_si512(right), im = _mm512_load_si512(right + PART);
    __m512i b_re = _mm512_xor_si512(re, high), b_im = _mm512_xor_si512(im, high);
    __m512i b_minus = _mm512_xor_si512(im, rest); /* 127 - im */
#pragma GCC unroll 8
    for (guint r = 0; r < ROWS; r++) {
      __m512i a_re = _mm512_set1_epi32(left[r]), a_im = _mm512_set1_epi32(left[PART + r]);
      sum_re[r] = _mm512_dpbusd_epi32(sum_re[r], b_re, a_re);
      sum_im[r] = _mm512_dpbusd_epi32(sum_im[r], b_minus, a_re);
      sum_re[r] = _mm512_dpbusd_epi32(sum_re[r], b_im, a_im);
      sum_im[r] = _mm512_dpbusd_epi32(sum_im[r], b_re, a_im);
    }
  }
  __m512i *re_re = (__m512i *)(row->tiles + (gsize)panel * SUMS * PAIRS) + first;
  __m512i *cross = re_re + 2 * PANEL;
#pragma GCC unroll 8
  for (guint r = 0; r < ROWS; r++) {
    re_re[r] = _mm512_add_epi32(re_re[r], sum_re[r]);
    cross[r] = _mm512_add_epi32(cross[r], _mm512_add_epi32(sum_re[r], sum_im[r]));
  }
}

static void multiply_large(const OuterRow *row, const Traits *traits, guint panel,
                           AstroCorrelatorAhead *ahead)
{
  for (guint r = 0; r < PANEL; r += ROWS) {
    astro_correlator_ask(ahead);
    multiply_large_block(row, traits, r, panel);
  }
}

/* Column panels that fit are multiplied together, others one at a time. */
void astro_correlator_multiply_int8_vnni(const AstroCorrelatorProduct *product)
{
  AstroCorrelatorAhead ahead = ahead_of(product);
  for (guint i = 0; i < product->rows; i++) {
    const Traits *own = traits_of(product, product->left, i);
    const guint panels = astro_correlator_columns(product, i);
    OuterRow row = row_of(product, i);
    row.starts = own->starts[0];
    for (guint panel = 0; panel < panels;) {
      guint end = panel;
      while (!own->large && end < panels && !traits_of(product, product->right, end)->large)
        end++;
      if (end > panel)
        multiply_row(&row, panel, end, end == panels && astro_correlator_on_diagonal(product, i),
                     &ahead);
      else
        multiply_large(&row, own, end++, &ahead);
      panel = end;
    }
  }
}

ADD_TILES(int8_vnni, add_tile_avx512)
