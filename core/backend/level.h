/* For sources that are built once a level, *-levels.c: one text in vectors of any width, and the
 * library that it is built for says by a flag of its own (core/column.mk) which level that is. */
#pragma once

#include "core/backend/cpu.h"

#if defined ASTRO_LEVEL_AVX512
#define LEVEL_NAMED(name) name##_avx512 /* what is defined, as other files know it */
#define LEVEL_VARIANT                                                                              \
  {                                                                                                \
    "avx512", ASTRO_CPU_AVX512                                                                     \
  }
#define LEVEL_BYTES 64 /* of a vector, and how many reals it holds */
#define LEVEL_FLOATS 16
#define LEVEL_DOUBLES 8
#define LEVEL_REGISTERS 32 /* each holds a vector */
#elif defined ASTRO_LEVEL_AVX2
#define LEVEL_NAMED(name) name##_avx2
#define LEVEL_VARIANT                                                                              \
  {                                                                                                \
    "avx2", ASTRO_CPU_AVX2                                                                         \
  }
#define LEVEL_BYTES 32
#define LEVEL_FLOATS 8
#define LEVEL_DOUBLES 4
#define LEVEL_REGISTERS 16
#else
#define LEVEL_NAMED(name) name##_c
#define LEVEL_VARIANT                                                                              \
  {                                                                                                \
    "c", ASTRO_CPU_C                                                                               \
  }
#define LEVEL_BYTES 16
#define LEVEL_FLOATS 4
#define LEVEL_DOUBLES 2
#define LEVEL_REGISTERS 16
#endif

/* Calls a macro that makes names by pasting, with names that have the level's end already. */
#define LEVEL_EXPAND(macro, ...) macro(__VA_ARGS__)
