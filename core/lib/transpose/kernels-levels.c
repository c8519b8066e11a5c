/* The kernels for each level: how lanes of 16 bytes are loaded and stored, what goes past the
 * caches, and the table. The rest is tiles.h. */
#include "config.h"
#include "core/lib/transpose/kernels.h"

#include "core/backend/level.h"
#include "core/kit/vector.h"

#define LANES (LEVEL_BYTES / 16)
typedef guint8 Lane __attribute__((vector_size(16), aligned(1), may_alias));
typedef guint8 Vector __attribute__((vector_size(LEVEL_BYTES), aligned(1), may_alias));

#if defined ASTRO_LEVEL_AVX512 || defined ASTRO_LEVEL_AVX2
#define LOAD(from) _mm_loadu_si128((const __m128i *)(from))
#endif

#if defined ASTRO_LEVEL_AVX512
static inline Vector load_lanes(const guint8 *from, gsize step)
{
  __m512i lanes = _mm512_castsi128_si512(LOAD(from));
  lanes = _mm512_inserti32x4(lanes, LOAD(from + step), 1);
  lanes = _mm512_inserti32x4(lanes, LOAD(from + 2 * step), 2);
  return (Vector)_mm512_inserti32x4(lanes, LOAD(from + 3 * step), 3);
}

/* Only what the mask names is touched, so the place may begin before `to`. */
static inline void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
{
  _mm_mask_storeu_epi8(to - first, _bzhi_u32(0xffff, bytes) << first, (__m128i)lane);
}

static inline void store_lanes(guint8 *const *to, Vector vector, gsize first, gsize bytes)
{
  const __m512i lanes = (__m512i)vector;
  store_part(to[0], (Lane)_mm512_castsi512_si128(lanes), first, bytes);
  store_part(to[1], (Lane)_mm512_extracti32x4_epi32(lanes, 1), first, bytes);
  store_part(to[2], (Lane)_mm512_extracti32x4_epi32(lanes, 2), first, bytes);
  store_part(to[3], (Lane)_mm512_extracti32x4_epi32(lanes, 3), first, bytes);
}

/* 64 bytes or fewer. */
static inline void copy_few(guint8 *to, const guint8 *from, gsize bytes)
{
  const __mmask64 mask = _bzhi_u64(~0ull, bytes);
  _mm512_mask_storeu_epi8(to, mask, _mm512_maskz_loadu_epi8(mask, from));
}

#elif defined ASTRO_LEVEL_AVX2
static inline Vector load_lanes(const guint8 *from, gsize step)
{
  return (Vector)_mm256_inserti128_si256(_mm256_castsi128_si256(LOAD(from)), LOAD(from + step), 1);
}

static inline void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
{
  const __m128i rest = (__m128i)lane;
  if (bytes >= 16) {
    _mm_storeu_si128((__m128i *)to, rest);
    return;
  }
  if (bytes & 8) {
    _mm_storeu_si64(to, first ? _mm_unpackhi_epi64(rest, rest) : rest);
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

#define copy_few copy_inline
#else
static inline void store_part(guint8 *to, Lane lane, gsize first, gsize bytes)
{
  __builtin_memcpy(to, (const guint8 *)&lane + first, bytes);
}
#endif

#include "core/lib/transpose/tiles.h"

#if LANES > 1
static void stream(guint8 *to, const guint8 *from, gsize bytes)
{
  const gsize head = MIN(bytes, -(guintptr)to & 63), lines = (bytes - head) / 64 * 64,
              streamed = head + lines;
  copy_few(to, from, head);
  vector_stream(to + head, from + head, lines);
  copy_few(to + streamed, from + streamed, bytes - streamed);
}
#else
#define stream copy
#endif

const AstroTransposeKernels LEVEL_NAMED(astro_transpose_kernels) = {
  LEVEL_VARIANT, { transpose_1, transpose_2, transpose_4, transpose_8, transpose_16 },
  rearrange,     copy,
  stream,        vector_fence,
};
