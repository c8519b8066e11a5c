#define SCALAR float
#define BYTES 16
#define ROWS 4
#define VECTORS 1
#define PARTIAL 32
#define MULTIPLY astro_correlator_multiply_float_c
#include "core/convert/half.h"
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

#define TILE float
#define SUM double
#include "core/correlator/tile.h"

PACK_OUTER(cf16_c, guint16, astro_half_value)
PACK_OUTER(cf32_c, float, )
ADD_TILES(float_c, add_tile)
