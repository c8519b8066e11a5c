#define BYTES 32
#define LEVEL ASTRO_CPU_AVX2
#define LEVEL_NAME "avx2"
#define KERNELS astro_fft_columns_avx2
#include "core/lib/fft/columns-kernels.h"
