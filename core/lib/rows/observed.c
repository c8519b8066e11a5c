/* Checks that a stream of visibilities says what a file of rows needs. */
#include "core/lib/rows/observed.h"

#include <string.h>

#define refuse(error, ...) astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, __VA_ARGS__)

static gboolean check_observation(const char *format, guint most_stations,
                                  const AstroObservation *o, GError **error)
{
  if (!o)
    return refuse(error,
                  "%s needs the observation (stations, phase centre, start) but no event "
                  "\"" ASTRO_OBSERVATION_EVENT "\" came with the stream",
                  format);
  if (!o->has_start)
    return refuse(error, "%s needs a start time but the observation has none", format);
  if (o->start_mjd < 0 || o->start_mjd >= ASTRO_ROW_DAYS)
    return refuse(error, "the observation starts on MJD %d, %s takes a day from " ASTRO_ROW_YEARS,
                  o->start_mjd, format);
  if (!o->has_phase_centre)
    return refuse(error, "%s needs a phase centre but the observation has none", format);
  if (o->n_stations < 1 || o->n_stations > most_stations)
    return refuse(error, "the observation has %u stations, %s takes 1 to %u", o->n_stations, format,
                  most_stations);
  return TRUE;
}

static gboolean check_basis(const char *basis, guint64 pols, GError **error)
{
  if (strcmp(basis, "stokes") == 0)
    return pols == 1 || refuse(error,
                               "the observation's polarisation basis is \"stokes\", and the caps "
                               "have %" G_GUINT64_FORMAT " polarisations: expected one, which is I",
                               pols);
  return strcmp(basis, "linear") == 0 || strcmp(basis, "circular") == 0 ||
         refuse(error,
                "the observation's polarisation basis is \"%s\", expected linear or circular",
                basis);
}

gboolean astro_rows_check(const char *format, guint most_stations, const AstroStream *stream,
                          guint stations, const AstroObservation *o, GError **error)
{
  const guint64 baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE);
  const guint channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  if (!astro_stream_check_lower(stream, error) ||
      !check_observation(format, most_stations, o, error) ||
      !check_basis(o->basis, astro_stream_extent(stream, ASTRO_AXIS_POL), error))
    return FALSE;
  if (stream->frequency <= 0 || stream->bandwidth <= 0)
    return refuse(error, "%s needs the fields \"frequency\" and \"bandwidth\" (Hz) in the caps",
                  format);
  if (astro_channel_frequency(stream->frequency, stream->bandwidth, channels, 0) < 0)
    return refuse(error, "the caps' first channel is below 0 Hz: bandwidth=%g around frequency=%g",
                  stream->bandwidth, stream->frequency);
  const guint64 expected = (guint64)o->n_stations * (o->n_stations + 1) / 2;
  if ((stations && stations != o->n_stations) || baselines != expected) {
    g_autofree char *told = stations ? g_strdup_printf("stations=%u, ", stations) : g_strdup("");
    return refuse(error,
                  "the caps have %sbaselines=%" G_GUINT64_FORMAT
                  " but the observation has %u stations, which make %" G_GUINT64_FORMAT
                  " baselines with autocorrelations",
                  told, baselines, o->n_stations, expected);
  }
  return TRUE;
}
