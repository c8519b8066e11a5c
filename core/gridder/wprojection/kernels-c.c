#include "config.h"
#include "core/gridder/wprojection/kernels.h"

#define ABREAST 1
#define LANES 4
#define REAL float
#define INTEGER gint32
#define SPREAD spread_single
#include "core/gridder/wprojection/body.h"
#define LANES 2
#define REAL double
#define INTEGER gint64
#define SPREAD spread_double
#include "core/gridder/wprojection/body.h"

const AstroWProjectionKernels astro_wprojection_kernels_c = {
  { "c", ASTRO_CPU_C },
  { spread_single_1, spread_single_2, spread_single_4 },
  { spread_double_1, spread_double_2, spread_double_4 },
};
