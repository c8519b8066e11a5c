/* Transforms of lines in single precision. */
#include "config.h"

#define REAL float
#define FFTW(name) fftwf_##name
#define PRECISION astro_fft_single
#include "core/lib/fft/lines-body.h"
