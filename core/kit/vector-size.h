/* How wide the vectors are in a source that is built once a level (core/backend/level.h). */
#pragma once

#if defined ASTRO_LEVEL_AVX512
#define LEVEL_BYTES 64  /* of a vector, */
#define LEVEL_FLOATS 16 /* and how many numbers it holds */
#define LEVEL_DOUBLES 8
#define LEVEL_REGISTERS 32 /* each holds a vector */
#elif defined ASTRO_LEVEL_AVX2
#define LEVEL_BYTES 32
#define LEVEL_FLOATS 8
#define LEVEL_DOUBLES 4
#define LEVEL_REGISTERS 16
#else
#define LEVEL_BYTES 16
#define LEVEL_FLOATS 4
#define LEVEL_DOUBLES 2
#define LEVEL_REGISTERS 16
#endif
