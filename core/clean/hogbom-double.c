/* Hogbom's minor cycles in double precision. */
#include "config.h"

#define REAL double
#define SUBTRACT subtract_double
#define METHOD astro_hogbom_double
#include "core/clean/hogbom-body.h"
