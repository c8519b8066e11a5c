#define BYTES 16
#define LEVEL ASTRO_CPU_C
#define LEVEL_NAME "c"
#define KERNELS astro_fft_columns_c
#include "core/lib/fft/columns-kernels.h"
