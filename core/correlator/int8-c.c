/* Portable kernels for 8-bit samples. Products of samples, and of their sums and differences, are
 * below 2^16 and so exact in float, as are sums of up to 257 of them. */
#define SCALAR float
#define TILE gint32
#define BYTES 16
#define ROWS 4
#define VECTORS 2
#define CHUNK 32
#define RUN 128
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

#define SUM gint64
#include "core/correlator/tile.h"

PACK_OUTER(ci8_c, gint8, 2, in[0], in[1])
PACK_OUTER(ci4_c, guint8, 1, (gint8)in[0] >> 4, (gint8)(guint8)(in[0] << 4) >> 4)
MULTIPLY_ROWS(int8_c)
ADD_TILES(int8_c, add_tile)
