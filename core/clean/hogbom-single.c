/* Hogbom's minor cycles in single precision. */
#include "config.h"

#define REAL float
#define SUBTRACT subtract_single
#define METHOD astro_hogbom_single
#include "core/clean/hogbom-body.h"
