#include "config.h"
#define VECTOR_BYTES 64
#define REGISTERS 32
#include "core/gridder/wstacking/both.h"

const AstroSpreadKernels astro_spread_avx512 = {
  .variant = { "avx512", ASTRO_CPU_AVX512 },
  .single = ALL(single),
  .in_double = ALL(double),
};
