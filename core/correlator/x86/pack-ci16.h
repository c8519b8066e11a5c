/* Packs CI16 for outer.h, 16 inputs at once. Included with SCALAR double. */
#include <immintrin.h>

static inline void part_16(double *out, __m512i parts)
{
  _mm512_store_pd(out, _mm512_cvtepi32_pd(_mm512_castsi512_si256(parts)));
  _mm512_store_pd(out + 8, _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(parts, 1)));
}

void astro_correlator_pack_ci16_avx512(guint8 *packed, gpointer traits,
                                       const AstroCorrelatorRows *rows)
{
  __mmask16 inputs = (__mmask16)((1u << rows->inputs) - 1);
  for (guint t = 0; t < rows->count; t++) {
    double *out = packed_lanes(packed, t);
    __m512i pairs = _mm512_maskz_loadu_epi32(inputs, rows->first + t * rows->stride);
    __m512i re = _mm512_srai_epi32(_mm512_slli_epi32(pairs, 16), 16);
    __m512i im = _mm512_srai_epi32(pairs, 16);
    part_16(out, re);
    part_16(out + PART, im);
    part_16(out + 2 * PART, _mm512_add_epi32(re, im));
    part_16(out + 3 * PART, _mm512_sub_epi32(re, im));
  }
}
