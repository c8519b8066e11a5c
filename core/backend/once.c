/* The lock of FFTW's planner, once for the process. */
#include "core/backend/once.h"

GMutex *astro_fftw_mutex(void)
{
  static GMutex mutex;
  return &mutex;
}
