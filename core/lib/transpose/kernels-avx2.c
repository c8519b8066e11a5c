#include "core/lib/transpose/kernels.h"
#include <immintrin.h>

#define LANES 2
typedef guint8 Lane __attribute__((vector_size(16), aligned(1), may_alias));
typedef guint8 Vector __attribute__((vector_size(32), aligned(1), may_alias));

static inline Vector load_lanes(const guint8 *from, gsize step)
{
  __m128i first = _mm_loadu_si128((const __m128i *)from);
  __m128i second = _mm_loadu_si128((const __m128i *)(from + step));
  return (Vector)_mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}

static inline void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
{
  __m128i rest = (__m128i)lane;
  if (bytes >= 16) {
    _mm_storeu_si128((__m128i *)to, rest);
    return;
  }
  if (bytes & 8) {
    _mm_storeu_si64(to + 0, first ? _mm_unpackhi_epi64(rest, rest) : rest);
    to += 8;
    first += 8;
  }
  guint64 part = first ? _mm_extract_epi64(rest, 1) : _mm_cvtsi128_si64(rest);
  if (bytes & 4) {
    _mm_storeu_si32(to, _mm_cvtsi32_si128(part));
    to += 4;
    part >>= 32;
  }
  if (bytes & 2) {
    _mm_storeu_si16(to, _mm_cvtsi32_si128(part));
    to += 2;
    part >>= 16;
  }
  if (bytes & 1)
    *to = part;
}

static inline void store_lanes(guint8 *const *to, Vector lanes, gsize first, gsize bytes)
{
  store_part(to[0], (Lane)_mm256_castsi256_si128((__m256i)lanes), first, bytes);
  store_part(to[1], (Lane)_mm256_extracti128_si256((__m256i)lanes, 1), first, bytes);
}

#include "core/lib/transpose/tiles.h"

static void stream(guint8 *to, const guint8 *from, gsize bytes)
{
  gsize head = MIN(bytes, -(guintptr)to & 63);
  copy_inline(to, from, head);
  gsize i = head;
  for (; i + 64 <= bytes; i += 64) {
    __m256i first = _mm256_loadu_si256((const __m256i *)(from + i));
    __m256i second = _mm256_loadu_si256((const __m256i *)(from + i + 32));
    _mm256_stream_si256((__m256i *)(to + i), first);
    _mm256_stream_si256((__m256i *)(to + i + 32), second);
  }
  copy_inline(to + i, from + i, bytes - i);
}

static void fence(void)
{
  _mm_sfence();
}

const AstroTransposeKernels astro_transpose_kernels_avx2 = {
  { "avx2", ASTRO_CPU_AVX2 },
  { transpose_1, transpose_2, transpose_4, transpose_8, transpose_16 },
  rearrange,
  copy,
  stream,
  fence,
};
