#include "core/transpose/kernels.h"
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

static inline Lane load_part(const guint8 *from, gsize bytes)
{
  return (Lane)_mm_maskz_loadu_epi8(_bzhi_u32(0xffff, bytes), from);
}

static inline void store_part(guint8 *to, Lane lane, gsize bytes)
{
  _mm_mask_storeu_epi8(to, _bzhi_u32(0xffff, bytes), (__m128i)lane);
}

#include "core/transpose/tiles.h"

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
  { transpose_1, transpose_2, transpose_4, transpose_8, transpose_16 },
  rearrange,
  copy,
  stream,
  fence,
};
