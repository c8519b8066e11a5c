/* The columns' second pass in single precision. */
#define COLUMN float2
#include "gpu/image/columns.h"

const AstroImageColumnsFunc astro_image_columns_single[] = { ASTRO_FFT_COLUMNS(COLUMNS_ADD) };
