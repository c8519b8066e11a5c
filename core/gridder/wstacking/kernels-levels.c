/* The kernels of W-stacking for one instruction set, in both precisions (body.h). */
#include "config.h"
#include "core/gridder/wstacking/kernels.h"

#include "core/backend/level.h"

#include <string.h>
#if LEVEL_BYTES == 64
#include <immintrin.h>
#endif

/* A sanitizer would add its checks to each of the thousands of operations of an unrolled kernel. */
#ifdef __SANITIZE_ADDRESS__
#define UNROLLED
#else
#define UNROLLED _Pragma("GCC unroll 32")
#endif

#define HANDFUL 32 /* visibilities whose taps are evaluated together and stay in L1 */

#define REAL float
#define NAME(x) single_##x
#include "core/gridder/wstacking/body.h"
#undef NAME
#undef REAL
#define REAL double
#define NAME(x) double_##x
#include "core/gridder/wstacking/body.h"
#undef NAME
#undef REAL

#define ALL(precision)                                                                             \
  {                                                                                                \
    precision##_spread_4, precision##_spread_5, precision##_spread_6, precision##_spread_7,        \
        precision##_spread_8, precision##_spread_9, precision##_spread_10, precision##_spread_11,  \
        precision##_spread_12, precision##_spread_13, precision##_spread_14,                       \
        precision##_spread_15, precision##_spread_16                                               \
  }

const AstroSpreadKernels LEVEL_NAMED(astro_spread) = {
  .variant = LEVEL_VARIANT,
  .single = ALL(single),
  .in_double = ALL(double),
};
