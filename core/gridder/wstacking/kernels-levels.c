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
#include "core/gridder/wstacking/collect-body.h"
#undef NAME
#undef REAL
#define REAL double
#define NAME(x) double_##x
#include "core/gridder/wstacking/body.h"
#include "core/gridder/wstacking/collect-body.h"
#undef NAME
#undef REAL

#define ALL(kernel)                                                                                \
  {                                                                                                \
    kernel##_4, kernel##_5, kernel##_6, kernel##_7, kernel##_8, kernel##_9, kernel##_10,           \
        kernel##_11, kernel##_12, kernel##_13, kernel##_14, kernel##_15, kernel##_16               \
  }

const AstroSpreadKernels LEVEL_NAMED(astro_spread) = {
  .variant = LEVEL_VARIANT,
  .single = ALL(single_spread),
  .in_double = ALL(double_spread),
  .collect_single = ALL(single_collect),
  .collect_double = ALL(double_collect),
};
