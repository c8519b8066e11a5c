/* The columns' second pass in double precision. */
#define COLUMN double2
#include "gpu/image/columns.h"

const AstroImageColumnsFunc astro_image_columns_double[] = { ASTRO_FFT_COLUMNS(COLUMNS_ADD) };
