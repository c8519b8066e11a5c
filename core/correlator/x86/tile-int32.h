/* Adds tiles of int32 to sums of int64 with AVX-512. */
#define TILE gint32
#define SUM gint64
#define WIDEN(parts) _mm512_cvtepi32_pd(parts)
#define WIDEN_ADD(sum, parts)                                                                      \
  _mm512_storeu_si512(sum, _mm512_add_epi64(_mm512_loadu_si512(sum), _mm512_cvtepi32_epi64(parts)))
#include "core/correlator/x86/tile-avx512.h"
