/* Transforms of columns in double precision. */
#define COLUMN double2
#include "gpu/lib/fft/columns.h"

const AstroFftColumnsFunc astro_fft_columns_double[] = { ASTRO_FFT_COLUMNS(COLUMNS_LAUNCH) };
