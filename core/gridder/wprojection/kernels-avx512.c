#include "config.h"
#include "core/gridder/wprojection/kernels.h"

#define ABREAST 3
#define LANES 16
#define REAL float
#define INTEGER gint32
#define SPREAD spread_single
#include "core/gridder/wprojection/body.h"
#define LANES 8
#define REAL double
#define INTEGER gint64
#define SPREAD spread_double
#include "core/gridder/wprojection/body.h"

const AstroWProjectionKernels astro_wprojection_kernels_avx512 = {
  { "avx512", ASTRO_CPU_AVX512 },
  { spread_single_1, spread_single_2, spread_single_4 },
  { spread_double_1, spread_double_2, spread_double_4 },
};
