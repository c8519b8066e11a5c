#include "config.h"
#define LANES 2
#define NAME "c"
#define LEVEL ASTRO_CPU_C
#define KERNELS astro_predict_kernels_c
#include "core/lib/predict/kernels-body.h"
