/* Kernels for 16-bit samples. Products of samples, and of their sums and differences, are below
 * 2^32 and so exact in double, as are sums of up to two million of them. */
#include "config.h"
#include "core/correlator/kernels.h"

#include "core/backend/level.h"

#define SCALAR double
#define TILE double
#define BYTES LEVEL_BYTES
#define ROWS (LEVEL_REGISTERS / 4)
#define VECTORS 2
#define CHUNK 32
#define RUN 128
#include "core/correlator/outer.h"

#define SUM gint64
#include "core/correlator/tile.h"

#if LEVEL_BYTES == 64
#include "core/correlator/x86/pack-ci16.h"
#else
#include "core/correlator/pack-outer.h"
LEVEL_EXPAND(PACK_OUTER, LEVEL_NAMED(ci16), gint16, 2, in[0], in[1])
#endif
LEVEL_EXPAND(MULTIPLY_ROWS, LEVEL_NAMED(int16))
LEVEL_EXPAND(ADD_TILES, LEVEL_NAMED(int16), add_tile)
