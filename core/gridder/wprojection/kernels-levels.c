/* The kernels of W-projection for one instruction set, in both precisions (body.h). */
#include "config.h"
#include "core/gridder/wprojection/kernels.h"

#include "core/backend/level.h"

/* Vectors side by side whose sums fit into registers. */
#if LEVEL_REGISTERS == 32
#define ABREAST 3
#else
#define ABREAST 1
#endif

#define LANES LEVEL_FLOATS
#define REAL float
#define INTEGER gint32
#define SPREAD spread_single
#include "core/gridder/wprojection/body.h"
#define LANES LEVEL_DOUBLES
#define REAL double
#define INTEGER gint64
#define SPREAD spread_double
#include "core/gridder/wprojection/body.h"

const AstroWProjectionKernels LEVEL_NAMED(astro_wprojection_kernels) = {
  LEVEL_VARIANT,
  { spread_single_1, spread_single_2, spread_single_4 },
  { spread_double_1, spread_double_2, spread_double_4 },
};
