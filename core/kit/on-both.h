/* For functions that C and CUDA share: they are compiled for the host and for the device. */
#pragma once

#include <glib.h>

#ifdef __CUDACC__
#define ON_BOTH __host__ __device__
#else
#define ON_BOTH
#endif

/* A product that is rounded before it is added to, as all our C is: nvcc would fuse the two. */
ON_BOTH static inline double astro_product(double a, double b)
{
#ifdef __CUDA_ARCH__
  return __dmul_rn(a, b);
#else
  return a * b;
#endif
}
