#include "config.h"
#define LANES 8
#define INTERPOLATE astro_interpolate_avx2
#include "core/delay/interpolate-body.h"
