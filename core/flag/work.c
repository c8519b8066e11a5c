/* The work of flags, for plans. */
#include "config.h"
#include "core/flag/check.h"
#include "core/flag/plane.h"

/* Kurtosis of samples: 3 operations for a power, one for its square, and two sums. */
static void tell_kurtosis(const AstroWorkSteps *steps, AstroWork *work)
{
  work->kept = steps->samples_in * (2 * sizeof(double) + sizeof(guint32));
  work->operations[ASTRO_ARITHMETIC_FLOAT] = 6 * steps->samples_in * steps->in;
}

/* Neighbours within reach of a Gaussian, of all values of a line together. */
static double neighbours(guint length, guint taps)
{
  double n = 0;
  for (guint i = 0; i < length; i++)
    n += MIN(i, taps / 2) + 1 + MIN(length - 1 - i, taps / 2);
  return n;
}

/* The lines of a baseline: sums of weights and weighted values, along time and then channels. */
static double fit_operations(guint rows, guint channels)
{
  return 2. * ASTRO_FLAG_MOMENTS *
         (channels * neighbours(rows, ASTRO_FLAG_TIME_TAPS) +
          rows * neighbours(channels, ASTRO_FLAG_CHANNEL_TAPS));
}

static double amplitude_operations(AstroFormat format)
{
  return format == ASTRO_FORMAT_F32LE ? 0 : format == ASTRO_FORMAT_CI32LE ? 4 : 3;
}

/* SumThreshold of one part of a unit. A value is taken off the baseline in each round, power is
 * divided by it, and both are scaled. */
static double plane_operations(const AstroFlagConfig *config, const AstroFlagPlaces *places,
                               guint part)
{
  const double values = (double)config->block * places->channels,
               deviation = places->is_power[part] ? 3 : 2;
  return values * (amplitude_operations(config->in.format) + ASTRO_FLAG_ROUNDS * deviation) +
         (ASTRO_FLAG_ROUNDS - 1) * fit_operations(config->block, places->channels);
}

static void tell_threshold(const AstroFlagConfig *config, const AstroWorkSteps *steps,
                           AstroWork *work)
{
  AstroFlagPlaces places;
  double operations = 0;
  astro_flag_places(&places, config, 1);
  for (guint part = 0; part < places.parts; part++)
    operations += plane_operations(config, &places, part);
  work->kept =
      (double)places.units * places.parts * places.channels * config->block * sizeof(float);
  work->operations[ASTRO_ARITHMETIC_FLOAT] =
      operations * (double)places.units * steps->in / config->block;
  work->besides = "sums over windows, which leave out what is flagged already, and medians";
}

/* Kurtosis of power takes nothing that is not in its products already. */
gboolean astro_flag_work(gconstpointer configuration, const AstroWorkSteps *steps, AstroWork *work)
{
  const AstroFlagConfig *config = configuration;
  *work = (AstroWork){ 0 };
  if (!astro_flag_has_blocks(config))
    return FALSE;
  if (config->method == ASTRO_FLAG_KURTOSIS)
    tell_kurtosis(steps, work);
  else if (config->method == ASTRO_FLAG_THRESHOLD)
    tell_threshold(config, steps, work);
  return config->method != ASTRO_FLAG_LIST;
}
