/* Adds tiles of float to sums of double with AVX-512. */
#define TILE float
#define SUM double
#define WIDEN(parts) _mm512_cvtps_pd(_mm256_castsi256_ps(parts))
#define WIDEN_ADD(sum, parts)                                                                      \
  _mm512_storeu_pd(sum, _mm512_add_pd(_mm512_loadu_pd(sum), WIDEN(parts)))
#include "core/correlator/x86/tile-avx512.h"
