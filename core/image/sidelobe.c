/* Finds the highest sidelobe of a point-spread function. */
#include "config.h"
#include "core/image/image.h"

static double value_at(AstroFormat format, gconstpointer data, gsize at)
{
  return format == ASTRO_FORMAT_F64LE ? ((const double *)data)[at] : ((const float *)data)[at];
}

/* Whether no neighbour is higher. */
static gboolean is_peak(AstroFormat format, gconstpointer psf, guint size, gsize at)
{
  const double value = value_at(format, psf, at);
  const gsize around[] = { at - size - 1, at - size,     at - size + 1, at - 1,
                           at + 1,        at + size - 1, at + size,     at + size + 1 };
  for (guint i = 0; i < G_N_ELEMENTS(around); i++)
    if (!(value_at(format, psf, around[i]) <= value))
      return FALSE;
  return TRUE;
}

double astro_image_sidelobe(AstroFormat format, gconstpointer psf, guint size)
{
  const gsize middle = (gsize)(size / 2) * size + size / 2;
  double highest = 0;

  if (size < 3 || !(value_at(format, psf, middle) > 0))
    return 0;
  for (gsize y = 1; y + 1 < size; y++)
    for (gsize x = 1; x + 1 < size; x++) {
      const gsize at = y * size + x;
      const double value = value_at(format, psf, at);
      if (at != middle && value > highest && is_peak(format, psf, size, at))
        highest = value;
    }
  return highest / value_at(format, psf, middle);
}
