/* The correlator's portable kernels for float samples. */
#define SCALAR float
#define TILE float
#define BYTES 16
#define ROWS 4
#define VECTORS 2
#define CHUNK 16
#define RUN 16
#include "core/lib/formats/half.h"
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

#define SUM double
#include "core/correlator/tile.h"

PACK_OUTER(cf16_c, guint16, 2, astro_half_value(in[0]), astro_half_value(in[1]))
PACK_OUTER(cf32_c, float, 2, in[0], in[1])
MULTIPLY_ROWS(float_c)
ADD_TILES(float_c, add_tile)
