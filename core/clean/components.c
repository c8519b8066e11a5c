/* Writes a model as a list of points. */
#include "config.h"
#include "core/clean/components.h"

#include "core/kit/units.h"
#include "core/lib/sky/sky.h"
#include "core/lib/wcs/wcs.h"
#include "core/stream/uvw.h"

#include <math.h>

static gboolean direction_of(const AstroGrid *image, const AstroObservation *observation, guint at,
                             double *ra, double *dec)
{
  const double l = astro_image_l(image, at % image->size),
               m = astro_image_m(image, at / image->size);
  if (!(l * l + m * m < 1))
    return FALSE;
  const double lmn[] = { l, m, sqrt(1 - l * l - m * m) };
  astro_direction_from_lmn(observation, lmn, ra, dec);
  return TRUE;
}

static double mean_of(const float *model, guint channels, gsize stride, gsize at)
{
  double sum = 0;
  for (guint i = 0; i < channels; i++)
    sum += (double)model[i * stride + at];
  return sum / channels;
}

gboolean astro_components_write(const char *path, const AstroGrid *image,
                                const AstroObservation *observation, const float *model,
                                guint channels, gsize stride, AstroComponents *written,
                                GError **error)
{
  g_autoptr(GString) text = g_string_new("# ra dec flux: degrees (ICRS), Jy\n");
  *written = (AstroComponents){ 0 };
  for (guint i = 0; i < image->size * image->size; i++) {
    const double flux = mean_of(model, channels, stride, i);
    double ra, dec;
    if (flux < 0) {
      written->n_negative++;
      written->negative += flux;
    }
    if (!(flux > 0) || !direction_of(image, observation, i, &ra, &dec))
      continue;
    written->n++;
    written->flux += flux;
    g_string_append_printf(text, "%.10f %.10f %.9g\n", ra * ASTRO_DEGREES, dec * ASTRO_DEGREES,
                           flux);
  }
  if (written->n > ASTRO_SKY_MAX_SOURCES)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                               "%s would have %u components, expected at most %u: use a mask, a "
                               "higher threshold or fewer scales",
                               path, written->n, ASTRO_SKY_MAX_SOURCES);
  return g_file_set_contents(path, text->str, (gssize)text->len, error);
}
