/* Products of complex numbers without the search for infinities that C asks of them, which takes
 * most of the time. */
#pragma once

#include <complex.h>

static inline complex double astro_times(complex double a, complex double b)
{
  return creal(a) * creal(b) - cimag(a) * cimag(b) +
         I * (creal(a) * cimag(b) + cimag(a) * creal(b));
}

/* a times the conjugate of b. */
static inline complex double astro_times_conj(complex double a, complex double b)
{
  return creal(a) * creal(b) + cimag(a) * cimag(b) +
         I * (cimag(a) * creal(b) - creal(a) * cimag(b));
}

static inline double astro_power(complex double z)
{
  return creal(z) * creal(z) + cimag(z) * cimag(z);
}
