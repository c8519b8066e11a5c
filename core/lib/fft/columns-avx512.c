#define BYTES 64
#define LEVEL ASTRO_CPU_AVX512
#define LEVEL_NAME "avx512"
#define KERNELS astro_fft_columns_avx512
#include "core/lib/fft/columns-kernels.h"
