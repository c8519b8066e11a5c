/* The columns' first pass in double precision. */
#define COLUMN double2
#include "gpu/gridder/degrid/columns.h"

const DegridColumnsFunc astro_degrid_columns_double[] = { ASTRO_FFT_COLUMNS(COLUMNS_BEGIN) };
