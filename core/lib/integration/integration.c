/* Converts an integration time to a number of spectra. */
#include "core/lib/integration/integration.h"
#include "core/stream/stream.h"

#include <math.h>

gboolean astro_integration_spectra(double seconds, gint rate_n, gint rate_d, guint *spectra,
                                   GError **error)
{
  if (rate_n <= 0 || rate_d <= 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "property integration-time is %.15g s, but the spectra's caps have no rate: "
        "expected field rate in the caps (spectra per second), or property integration (spectra) "
        "in its place",
        seconds);
  const double rate = (double)rate_n / rate_d, number = rint(seconds * rate);
  if (!(number >= 1 && number < G_MAXUINT))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property integration-time is %.15g s, %s spectra at %d/%d a "
                               "second: expected %.6g to %.6g s",
                               seconds, number < 1 ? "less than half of one of the" : "too many",
                               rate_n, rate_d, 1 / rate, (G_MAXUINT - 1) / rate);
  *spectra = (guint)number;
  return TRUE;
}
