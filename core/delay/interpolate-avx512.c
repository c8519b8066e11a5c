#include "config.h"
#define LANES 16
#define INTERPOLATE astro_interpolate_avx512
#include "core/delay/interpolate-body.h"
