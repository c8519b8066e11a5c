/* The reader of the JPL's kernels on any bytes, and positions by what it takes. */
#include "core/lib/ephemeris/kernel.h"

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroKernel) kernel = astro_kernel_from_bytes("fuzz", data, size, &error);
  AstroPlanets planets;
  if (!kernel == !error)
    abort();
  for (guint day = 0; kernel && day < 30; day++) {
    g_autoptr(GError) outside = NULL;
    if (astro_kernel_at(kernel, 2457210.5, day, &planets, &outside) != !outside)
      abort();
  }
  return 0;
}
