/* The kernel of int8-avx2.c, which also packs the panels, with larger vectors: for machines without
 * VNNI. */
#include "core/correlator/kernels.h"
#include <immintrin.h>

typedef gint32 Lanes16 __attribute__((vector_size(64), may_alias));
typedef gint32 Lanes8 __attribute__((vector_size(32), may_alias));

static inline Lanes16 multiply_add_16(Lanes16 sum, Lanes16 a, Lanes16 b)
{
  return (Lanes16)_mm512_add_epi32((__m512i)sum, _mm512_madd_epi16((__m512i)a, (__m512i)b));
}

static inline Lanes8 multiply_add_8(Lanes8 sum, Lanes8 a, Lanes8 b)
{
  return (Lanes8)_mm256_add_epi32((__m256i)sum, _mm256_madd_epi16((__m256i)a, (__m256i)b));
}

#define SCALAR gint32
#define TILE gint32
#define BYTES 64
#define ROWS 8
#define VECTORS 2
#define MULTIPLY_ADD(sum, a, b)                                                                    \
  _Generic((sum), Lanes16 : multiply_add_16, Lanes8 : multiply_add_8)(sum, a, b)
#define CHUNK 32
#define RUN 128
#include "core/correlator/outer.h"
#include "core/correlator/x86/tile-int32.h"

MULTIPLY_ROWS(int8_avx512)
ADD_TILES(int8_avx512, add_tile_avx512)
