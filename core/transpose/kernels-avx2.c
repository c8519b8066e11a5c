#include "core/transpose/kernels.h"
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

/* Never reads beyond the bytes: 8 + 4 + 2 + 1 of them, from the last to the first. */
static inline Lane load_part(const guint8 *from, gsize bytes)
{
  if (bytes >= 16)
    return (Lane)_mm_loadu_si128((const __m128i *)from);
  guint64 low = 0, part = 0;
  gsize at = bytes & 8;
  const guint8 *rest = from + at;
  if (bytes & 1)
    part = rest[bytes & 6];
  if (bytes & 2)
    part = part << 16 | *(const guint16 *)(rest + (bytes & 4));
  if (bytes & 4)
    part = part << 32 | *(const guint32 *)rest;
  if (at)
    low = *(const guint64 *)from;
  return (Lane)(at ? _mm_set_epi64x(part, low) : _mm_set_epi64x(0, part));
}

static inline void store_part(guint8 *to, Lane lane, gsize bytes)
{
  if (bytes >= 16) {
    _mm_storeu_si128((__m128i *)to, (__m128i)lane);
    return;
  }
  guint64 part = _mm_cvtsi128_si64((__m128i)lane);
  if (bytes & 8) {
    *(guint64 *)to = part;
    to += 8;
    part = _mm_extract_epi64((__m128i)lane, 1);
  }
  if (bytes & 4) {
    *(guint32 *)to = part;
    to += 4;
    part >>= 32;
  }
  if (bytes & 2) {
    *(guint16 *)to = part;
    to += 2;
    part >>= 16;
  }
  if (bytes & 1)
    *to = part;
}

#include "core/transpose/tiles.h"

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
  { transpose_1, transpose_2, transpose_4, transpose_8, transpose_16 },
  rearrange,
  copy,
  stream,
  fence,
};
