#include "config.h"

#define REAL double
#define FFTW(name) fftw_##name
#define PRECISION astro_fft_double
#include "core/lib/fft/lines-body.h"
