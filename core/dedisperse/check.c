/* Checks configurations and blocks of dedispersion, and rounds delays. */
#include "config.h"
#include "core/dedisperse/check.h"

#include <math.h>

#include "core/lib/integration/axes.h"
#include "core/lib/sky/dispersion.h"

#define MOST_STEPS 2147483647.0 /* of a delay */

static double channel_frequency(const AstroDedisperseConfig *config, guint channel)
{
  return astro_channel_frequency(config->frequency, config->bandwidth, config->channels, channel);
}

double astro_dedisperse_top(const AstroDedisperseConfig *config)
{
  return channel_frequency(config, config->channels - 1);
}

static double delay_of(const AstroDedisperseConfig *config, guint dm, guint channel)
{
  return config->rate * astro_dispersion_delay(config->dms[dm], astro_dedisperse_top(config),
                                               channel_frequency(config, channel));
}

guint64 astro_dedisperse_reach(const AstroDedisperseConfig *config)
{
  return (guint64)rint(delay_of(config, config->n_dms - 1, 0));
}

guint32 *astro_dedisperse_delays(const AstroDedisperseConfig *config)
{
  guint32 *delays = g_try_new(guint32, (gsize)config->n_dms * config->channels);
  for (guint d = 0; delays && d < config->n_dms; d++)
    for (guint c = 0; c < config->channels; c++)
      delays[(gsize)d * config->channels + c] = (guint32)rint(delay_of(config, d, c));
  return delays;
}

guint64 astro_dedisperse_ready(guint64 reach, const AstroDedisperseArguments *arguments)
{
  const guint64 all = arguments->before + arguments->steps,
                done = arguments->before > reach ? arguments->before - reach : 0;
  return arguments->end ? all - arguments->trail - done : all > reach ? all - reach - done : 0;
}

/* ---- configurations ---- */

gboolean astro_dedisperse_check_layout(const AstroDedisperseConfig *config, GError **error)
{
  return astro_axes_check(&config->layout, config->channels, config->stations, config->pols,
                          "input", ": its dispersion is still to be taken out", error);
}

static gboolean check_band(const AstroDedisperseConfig *config, GError **error)
{
  if (!(config->rate > 0))
    return astro_backend_refuse(error, "the rate of the power is not known, and delays in steps "
                                       "follow from it");
  if (!(config->bandwidth > 0 && config->frequency < 1e18))
    return astro_backend_refuse(error,
                                "a band of %g Hz at %g Hz, expected the frequency and the width of "
                                "the band, from which delays follow",
                                config->bandwidth, config->frequency);
  return channel_frequency(config, 0) > 0 ||
         astro_backend_refuse(error,
                              "the lowest channel is at %g Hz (frequency=%.10g, bandwidth=%.10g), "
                              "expected frequencies on the sky, above 0",
                              channel_frequency(config, 0), config->frequency, config->bandwidth);
}

static gboolean check_dms(const AstroDedisperseConfig *config, GError **error)
{
  if (config->n_dms < 1 || config->n_dms > ASTRO_DEDISPERSE_MAX_DMS)
    return astro_backend_refuse(error, "%u dispersion measures, expected 1 to %d", config->n_dms,
                                ASTRO_DEDISPERSE_MAX_DMS);
  for (guint i = 0; i < config->n_dms; i++)
    if (!(config->dms[i] >= 0) || (i > 0 && !(config->dms[i] > config->dms[i - 1])))
      return astro_backend_refuse(error, "dispersion measures are not positive and rising");
  const double longest = delay_of(config, config->n_dms - 1, 0);
  return longest <= MOST_STEPS ||
         astro_backend_refuse(error,
                              "a dispersion measure of %.10g pc/cm^3 delays the lowest channel by "
                              "%.3g steps (%.3g s), expected at most %.0f",
                              config->dms[config->n_dms - 1], longest, longest / config->rate,
                              MOST_STEPS);
}

/* The rows must fit into memory: [station][channel], the reach and a piece twice, with counts.
 */
double astro_dedisperse_bytes(const AstroDedisperseConfig *config)
{
  const double steps = 2 * (double)(astro_dedisperse_reach(config) + ASTRO_DEDISPERSE_PIECE);
  return steps * config->stations * config->channels *
             (config->pols * sizeof(float) + sizeof(guint32)) +
         (double)config->n_dms * config->channels * sizeof(guint32);
}

static gboolean check_memory(const AstroDedisperseConfig *config, GError **error)
{
  const double bytes = astro_dedisperse_bytes(config), had = (double)astro_host_memory();
  const guint64 reach = astro_dedisperse_reach(config);
  return bytes <= had || astro_backend_no_memory(
                             error,
                             "a dispersion measure of %.10g pc/cm^3 delays the lowest of %u "
                             "channels by %" G_GUINT64_FORMAT " steps (%.4g s), which have to "
                             "be kept: that needs %.0f bytes, and this machine has %.0f: expected "
                             "a smaller dispersion measure, or fewer channels or steps a "
                             "second (astropower integration=... channel-step=...)",
                             config->dms[config->n_dms - 1], config->channels, reach,
                             (double)reach / config->rate, bytes, had);
}

gboolean astro_dedisperse_power_shape(gconstpointer configuration, GError **error)
{
  const AstroDedisperseConfig *config = configuration;
  if (config->stations < 1 || config->channels < 1 || config->pols < 1)
    return astro_backend_refuse(error, "power of no stations, channels or products");
  return astro_dedisperse_check_layout(config, error) && check_band(config, error) &&
         check_dms(config, error) && check_memory(config, error);
}

/* ---- blocks ---- */

void astro_dedisperse_strides(AstroDedisperseStrides *strides, const AstroDedisperseConfig *config,
                              guint64 steps)
{
  AstroLayout shape = config->layout;
  guint64 own[ASTRO_MAX_AXES];
  const gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME),
             station = astro_axes_find_stations(&shape);
  if (time >= 0)
    shape.extents[time] = steps;
  astro_layout_strides(&shape, own);
  *strides = (AstroDedisperseStrides){
    /* Frames without an axis of time follow each other. */
    .time = time >= 0 ? own[time] : astro_layout_samples(&shape),
    .channel = astro_layout_stride_of(&shape, own, ASTRO_AXIS_CHANNEL),
    .station = station >= 0 ? own[station] : 0,
    .pol = astro_layout_stride_of(&shape, own, ASTRO_AXIS_POL),
  };
}

gboolean astro_dedisperse_check_blocks(const AstroDedisperseConfig *config, guint64 reach,
                                       const AstroBlock *in, guint n_in, const AstroBlock *out,
                                       guint n_out, const AstroDedisperseArguments *arguments,
                                       const AstroResult *result, GError **error)
{
  const gsize step = (gsize)config->stations * config->pols * config->channels * sizeof(float),
              made = (gsize)config->stations * config->pols * config->n_dms * sizeof(float);
  const guint64 ready = astro_dedisperse_ready(reach, arguments);
  if ((double)arguments->full * config->channels > G_MAXUINT32)
    return astro_backend_refuse(error,
                                "%u samples behind each of %u channels, expected at most %u in all",
                                arguments->full, config->channels, G_MAXUINT32);
  if (n_in <= 1 && (n_in == 0 || in[0].bytes >= arguments->steps * step) && n_out <= 1 &&
      (ready == 0 || (n_out == 1 && result && result->counts && out[0].bytes >= ready * made)))
    return TRUE;
  return astro_backend_refuse(error,
                              "dedispersion: blocks do not fit %" G_GUINT64_FORMAT
                              " steps of %" G_GSIZE_FORMAT " bytes and %" G_GUINT64_FORMAT
                              " of %" G_GSIZE_FORMAT,
                              arguments->steps, step, ready, made);
}
