#include "config.h"
#define VECTOR_BYTES 16
#define REGISTERS 16
#include "core/gridder/wstacking/both.h"

const AstroSpreadKernels astro_spread_c = {
  .variant = { "c", ASTRO_CPU_C },
  .single = ALL(single),
  .in_double = ALL(double),
};
