/* The phases that astrofold folds by. */
#include "config.h"
#include "elements/astrofold-pulsar.h"

#include <math.h>

#include "core/fold/fold.h"
#include "elements/base/astrofields.h"

static gboolean refuse(GError **error, const char *wrong)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s", wrong);
}

gboolean astro_fold_pulsar_read(const AstroFoldPulsar *pulsar, AstroEphemeris **ephemeris,
                                GError **error)
{
  const char *file = astro_field_given(pulsar->ephemeris);
  *ephemeris = NULL;
  if (!file && astro_field_given(pulsar->planets))
    return refuse(error, "planets is set without ephemeris: a fixed period needs no planets");
  if (file && pulsar->period > 0)
    return refuse(error, "period and ephemeris are both set, expected one of them");
  if (!file && pulsar->period == 0)
    return refuse(error, "period is not set, expected seconds, or a .par file in ephemeris");
  if (pulsar->dm < 0 && pulsar->dm != -1)
    return refuse(error, "dm is negative, expected pc/cm^3 of 0 or more, or -1");
  if (file)
    *ephemeris = astro_ephemeris_open(file, error);
  return !file || *ephemeris;
}

double astro_fold_pulsar_period(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris)
{
  return ephemeris ? (double)(1 / ephemeris->spin[0]) : pulsar->period;
}

static double wanted_dm(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris)
{
  return pulsar->dm >= 0 ? pulsar->dm : ephemeris ? astro_ephemeris_dm(ephemeris) : 0;
}

static gboolean is_dedispersed(const AstroObservation *observation)
{
  return observation && observation->n_dms > 0;
}

double astro_fold_pulsar_dm(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris,
                            const AstroObservation *observation)
{
  return is_dedispersed(observation) ? observation->dms[0] : wanted_dm(pulsar, ephemeris);
}

/* ---- phases ---- */

static gboolean check(const AstroFoldPulsar *pulsar, const AstroStream *stream,
                      const AstroObservation *observation, double dm, GError **error)
{
  if (is_dedispersed(observation) && observation->n_dms > 1)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "power at %u dispersion measures, expected one: set "
                               "astrodedisperse dm=VALUE",
                               observation->n_dms);
  if (is_dedispersed(observation) && pulsar->dm >= 0 &&
      fabs(pulsar->dm - observation->dms[0]) > 1e-6 * pulsar->dm)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property dm is %g, and the stream has the dispersion of %g taken "
                               "out already: leave dm out, or set that of astrodedisperse",
                               pulsar->dm, observation->dms[0]);
  return is_dedispersed(observation) || dm == 0 ||
         (stream->frequency > 0 && stream->bandwidth > 0) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the caps have no %s, which the delays between channels at a "
                             "dispersion measure of %g need; or set dm=0",
                             stream->frequency > 0 ? "bandwidth" : "frequency", dm);
}

AstroPhases *astro_fold_pulsar_phases(const AstroFoldPulsar *pulsar, const AstroStream *stream,
                                      const AstroObservation *observation, GError **error)
{
  g_autoptr(AstroEphemeris) ephemeris = NULL;
  const char *planets = astro_field_given(pulsar->planets);
  if (!astro_fold_pulsar_read(pulsar, &ephemeris, error))
    return NULL;
  const double dm = wanted_dm(pulsar, ephemeris),
               centre = is_dedispersed(observation) ? observation->dm_frequency : stream->frequency;
  if (!check(pulsar, stream, observation, dm, error))
    return NULL;
  if (!ephemeris)
    return astro_phases_new_period(pulsar->period, is_dedispersed(observation) ? 0 : dm, centre);
  if (!observation) {
    refuse(error, "an ephemeris needs the place and the start of the observation: expected "
                  "astroobserve upstream");
    return NULL;
  }
  if (pulsar->dm >= 0)
    astro_ephemeris_set_dm(ephemeris, pulsar->dm);
  g_autoptr(AstroKernel) kernel = planets ? astro_kernel_open(planets, error) : NULL;
  if (planets && !kernel)
    return NULL;
  return astro_phases_new(g_steal_pointer(&ephemeris), g_steal_pointer(&kernel), observation,
                          centre, error);
}

gboolean astro_fold_pulsar_lags(AstroPhases *phases, const AstroStream *stream,
                                const AstroObservation *observation, double seconds, guint32 *lags,
                                GError **error)
{
  const guint n = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  for (guint c = 0; c < n; c++) {
    double turns = 0;
    if (!is_dedispersed(observation) && stream->frequency > 0 && stream->bandwidth > 0 &&
        !astro_phases_lag(phases, seconds,
                          astro_channel_frequency(stream->frequency, stream->bandwidth, n, c),
                          &turns, error))
      return FALSE;
    lags[c] = astro_fold_phase(turns);
  }
  return TRUE;
}

/* ---- warnings ---- */

char *astro_fold_pulsar_warning(const AstroFoldPulsar *pulsar, const AstroEphemeris *ephemeris)
{
  GString *text = g_string_new(NULL);
  if (ephemeris && ephemeris->planets && !astro_field_given(pulsar->planets) &&
      g_ascii_strcasecmp(ephemeris->planets, "builtin") != 0)
    g_string_append_printf(
        text,
        "%s was fitted with %s, and ERFA's ephemeris of the Earth is used: times "
        "of arrival may be off by %d us. Set planets to the kernel of %s (.bsp). ",
        pulsar->ephemeris, ephemeris->planets, ASTRO_PLANETS_ERROR_US, ephemeris->planets);
  if (ephemeris && ephemeris->clock && g_ascii_strncasecmp(ephemeris->clock, "TT(BIPM", 7) == 0)
    g_string_append_printf(
        text,
        "%s was fitted with %s, and TT(TAI) is used: times of arrival are off by "
        "some 28 us, which hardly changes.",
        pulsar->ephemeris, ephemeris->clock);
  return g_string_free(text, text->len == 0);
}
