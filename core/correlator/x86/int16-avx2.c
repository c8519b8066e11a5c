/* Products of 16-bit samples, and of their sums and differences, below 2^32, are exact in double,
 * and so are sums up to two million of them. */
#define SCALAR double
#define TILE double
#define BYTES 32
#define ROWS 4
#define VECTORS 2
#define CHUNK 32
#define RUN 128
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

#define SUM gint64
#include "core/correlator/tile.h"

PACK_OUTER(ci16_avx2, gint16, 2, in[0], in[1])
MULTIPLY_ROWS(int16_avx2)
ADD_TILES(int16_avx2, add_tile)
