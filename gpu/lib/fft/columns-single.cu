/* Transforms of columns in single precision. */
#define COLUMN float2
#include "gpu/lib/fft/columns.h"

const AstroFftColumnsFunc astro_fft_columns_single[] = { ASTRO_FFT_COLUMNS(COLUMNS_LAUNCH) };
