#include "config.h"
#define VECTOR_BYTES 32
#define REGISTERS 16
#include "core/gridder/wstacking/both.h"

const AstroSpreadKernels astro_spread_avx2 = {
  .variant = { "avx2", ASTRO_CPU_AVX2 },
  .single = ALL(single),
  .in_double = ALL(double),
};
