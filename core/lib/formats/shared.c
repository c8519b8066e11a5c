/* Shared by the kernels of all levels. */
#include "config.h"
#include "core/kit/vector.h"
#include "core/lib/formats/kernels.h"

void astro_convert_nibbles(AstroConvertNibbles *nibbles, AstroFormat to, double scale)
{
  const AstroConvertKernel convert = astro_convert_kernels_c[ASTRO_FORMAT_CI4][to];
  const guint8 bits = to == ASTRO_FORMAT_CI4 ? 0x0f : 0xff;
  for (guint8 i = 0; i < 16; i++) {
    const guint8 twice = (guint8)(i << 4 | i);
    guint8 out[2];
    const guint64 clipped = convert(out, &twice, 2, scale);
    nibbles->becomes[i] = out[0] & bits;
    nibbles->clipped[i] = clipped > 0 ? 0xff : 0;
  }
}

void astro_convert_copy_end(void)
{
  vector_fence();
}
