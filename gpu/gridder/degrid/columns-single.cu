/* The columns' first pass in single precision. */
#define COLUMN float2
#include "gpu/gridder/degrid/columns.h"

const DegridColumnsFunc astro_degrid_columns_single[] = { ASTRO_FFT_COLUMNS(COLUMNS_BEGIN) };
