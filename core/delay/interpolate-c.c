#include "config.h"
#define LANES 4
#define INTERPOLATE astro_interpolate_c
#include "core/delay/interpolate-body.h"
