/* See once.h. */
#include "core/backend/once.h"

GMutex *astro_fftw_mutex(void)
{
  static GMutex mutex;
  return &mutex;
}
