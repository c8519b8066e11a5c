/* Sums that do not depend on their order: of up to 2^36 numbers from 0 to a little over 1, in two
 * integers whose units are 2^-24 and 2^-52. Exact for single precision numbers from 2^-28 on. */
#pragma once

#include <glib.h>

struct AstroFixed {
  unsigned long long high, low;

#ifdef __CUDACC__
  __device__ void add(double value)
  {
    const double scaled = value * 0x1p24, whole = floor(scaled);
    high += (unsigned long long)whole;
    low += (unsigned long long)rint((scaled - whole) * 0x1p28);
  }

  __device__ void add_to(AstroFixed *sum) const
  {
    if (high)
      atomicAdd(&sum->high, high);
    if (low)
      atomicAdd(&sum->low, low);
  }
#endif

  __host__ __device__ double value() const
  {
    return (double)high * 0x1p-24 + (double)low * 0x1p-52;
  }
};
