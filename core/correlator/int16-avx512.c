/* Products of 16-bit samples are exact in double, and so are their sums up to four million of them.
 */
#define SCALAR double
#define TILE double
#define SUM gint64
#define BYTES 64
#define ROWS 4
#define VECTORS 2
#define PARTIAL 4096
#define MULTIPLY astro_correlator_multiply_int16_avx512
#define ADD astro_correlator_add_int16_avx512
#include "core/correlator/outer.h"
#include "core/correlator/pack-outer.h"

PACK_OUTER(ci16_avx512, gint16)
