/* Looks up gains for blocks. */
#include "config.h"
#include "core/calibrate/lookup.h"

#include <math.h>

void astro_calibrate_set_band(const AstroCalibrateConfig *config, AstroGains *gains)
{
  const AstroStream *in = &config->in;
  const double channels = (double)astro_stream_extent(in, ASTRO_AXIS_CHANNEL);
  gains->low = in->frequency - in->bandwidth / 2;
  gains->high = in->frequency + in->bandwidth / 2;
  gains->step = in->bandwidth / channels * astro_calibrate_step(config);
}

guint64 astro_calibrate_lookup(const AstroCalibrateTable *table, const AstroStream *in,
                               double seconds, AstroGainsAt *to)
{
  const guint channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL),
              pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL),
              stations = table->observation->n_stations;
  const double time = astro_gains_time(table->gains, table->observation, seconds);
  guint64 unknown = 0;
  for (guint c = 0; c < channels; c++) {
    const double frequency = astro_channel_frequency(in->frequency, in->bandwidth, channels, c);
    for (guint i = 0; i < stations; i++, to++) {
      if (table->stations[i] >= 0)
        astro_gains_at(table->gains, (guint)table->stations[i], time, frequency, to);
      else
        *to = (AstroGainsAt){ .jones = { 1, 0, 0, 1 } };
      for (guint p = 0; p < pols; p++)
        unknown += !to->has[p];
    }
  }
  return unknown;
}

#define FINE 4096 /* counts: rounding them changes weights by a part of this */

/* The mean power of good gains, of one element of a diagonal. */
static double power_of(const AstroGains *gains)
{
  double sum = 0;
  guint64 n = 0;
  for (guint k = 0; k < gains->gains->len; k++) {
    const guint value = k % gains->values;
    const gboolean is_off = gains->values == 4 && (value == 1 || value == 2);
    if (is_off || !(g_array_index(gains->snr, float, k) > 0))
      continue;
    sum += pow(cabs(g_array_index(gains->gains, complex double, k)), 2);
    n++;
  }
  return n && sum > 0 ? sum / (double)n : 1;
}

double astro_calibrate_count_scale(const AstroGains *gains, guint32 full, guint32 *to_full)
{
  const gboolean keeps = gains->type == ASTRO_GAINS_PHASE || gains->type == ASTRO_GAINS_DELAY;
  const double power = power_of(gains);
  guint32 factor = 1;
  *to_full = MAX(full, 1);
  while (!keeps && (guint64)*to_full * factor < FINE)
    factor *= 2;
  *to_full *= factor;
  return keeps ? 1 : factor / (power * power);
}
