#include "core/lib/transpose/kernels.h"
#include <immintrin.h>

#define LANES 4
typedef guint8 Lane __attribute__((vector_size(16), aligned(1), may_alias));
typedef guint8 Vector __attribute__((vector_size(64), aligned(1), may_alias));

static inline Vector load_lanes(const guint8 *from, gsize step)
{
  __m512i lanes = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)from));
  lanes = _mm512_inserti32x4(lanes, _mm_loadu_si128((const __m128i *)(from + step)), 1);
  lanes = _mm512_inserti32x4(lanes, _mm_loadu_si128((const __m128i *)(from + 2 * step)), 2);
  return (Vector)_mm512_inserti32x4(lanes, _mm_loadu_si128((const __m128i *)(from + 3 * step)), 3);
}

/* Only what the mask names is touched, so the place may begin before `to`. */
static inline void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
{
  _mm_mask_storeu_epi8(to - first, _bzhi_u32(0xffff, bytes) << first, (__m128i)lane);
}

static inline void store_lanes(guint8 *const *to, Vector vector, gsize first, gsize bytes)
{
  __m512i lanes = (__m512i)vector;
  store_part(to[0], (Lane)_mm512_castsi512_si128(lanes), first, bytes);
  store_part(to[1], (Lane)_mm512_extracti32x4_epi32(lanes, 1), first, bytes);
  store_part(to[2], (Lane)_mm512_extracti32x4_epi32(lanes, 2), first, bytes);
  store_part(to[3], (Lane)_mm512_extracti32x4_epi32(lanes, 3), first, bytes);
}

#include "core/lib/transpose/tiles.h"

static void copy_masked(guint8 *to, const guint8 *from, gsize bytes)
{
  __mmask64 mask = _bzhi_u64(~0ull, bytes);
  _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
}

static void stream(guint8 *to, const guint8 *from, gsize bytes)
{
  gsize head = MIN(bytes, -(guintptr)to & 63);
  copy_masked(to, from, head);
  gsize i = head;
  for (; i + 64 <= bytes; i += 64)
    _mm512_stream_si512((__m512i *)(to + i), _mm512_loadu_si512(from + i));
  copy_masked(to + i, from + i, bytes - i);
}

static void fence(void)
{
  _mm_sfence();
}

const AstroTransposeKernels astro_transpose_kernels_avx512 = {
  { "avx512", ASTRO_CPU_AVX512 },
  { transpose_1, transpose_2, transpose_4, transpose_8, transpose_16 },
  rearrange,
  copy,
  stream,
  fence,
};
