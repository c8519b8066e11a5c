#define SCALAR float
#define TILE float
#define SUM double
#define BYTES 32
#define ROWS 4
#define VECTORS 1
#define PARTIAL 32
#define MULTIPLY astro_correlator_multiply_float_avx2
#define ADD astro_correlator_add_float_avx2
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

PACK_OUTER(cf16_avx2, _Float16)
PACK_OUTER(cf32_avx2, float)
