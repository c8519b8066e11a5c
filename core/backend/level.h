/* For *-levels.c, the sources that are built once for each instruction set. The text is the same;
 * the library that it is built for says which level that is by a flag (core/column.mk), and the
 * names defined here keep the three results apart. core/kit/vector.h has vectors of that width. */
#pragma once

#include "core/backend/cpu.h"
#include "core/kit/vector-size.h"

#if defined ASTRO_LEVEL_AVX512
#define LEVEL_NAMED(name) name##_avx512 /* the name by which other files know it */
#define LEVEL_VARIANT                                                                              \
  {                                                                                                \
    "avx512", ASTRO_CPU_AVX512                                                                     \
  }
#elif defined ASTRO_LEVEL_AVX2
#define LEVEL_NAMED(name) name##_avx2
#define LEVEL_VARIANT                                                                              \
  {                                                                                                \
    "avx2", ASTRO_CPU_AVX2                                                                         \
  }
#else
#define LEVEL_NAMED(name) name##_c
#define LEVEL_VARIANT                                                                              \
  {                                                                                                \
    "c", ASTRO_CPU_C                                                                               \
  }
#endif

/* For macros that paste names together: the names are expanded first, with their level's suffix. */
#define LEVEL_EXPAND(macro, ...) macro(__VA_ARGS__)
