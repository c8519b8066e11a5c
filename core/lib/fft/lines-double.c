/* Transforms of lines in double precision. */
#include "config.h"

#define REAL double
#define FFTW(name) fftw_##name
#define PRECISION astro_fft_double
#include "core/lib/fft/lines-body.h"
