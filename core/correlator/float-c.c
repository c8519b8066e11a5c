#define SCALAR float
#define TILE float
#define SUM double
#define BYTES 16
#define ROWS 4
#define VECTORS 1
#define PARTIAL 32
#define MULTIPLY astro_correlator_multiply_float_c
#define ADD astro_correlator_add_float_c
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

PACK_OUTER(cf16_c, _Float16)
PACK_OUTER(cf32_c, float)
