/* Makes a calibration of voltages of a table of gains. */
#include "config.h"
#include "core/delay/calibration-table.h"

#include <math.h>

#include "core/lib/sky/sky.h"

static gboolean refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean refuse(GError **error, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *text = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "%s", text);
  return FALSE;
}

/* Voltages are multiplied by one number an input, at all times. */
static gboolean check_table(const AstroGains *gains, double scale, GError **error)
{
  if (gains->type == ASTRO_GAINS_FULL)
    return refuse(error, "the table has matrices that mix polarisations (type full), and voltages "
                         "take a gain for each: expected one of type phase, gain or delay");
  if (gains->groups != 1)
    return refuse(error,
                  "the table has gains for %u groups of channels, and voltages take one for the "
                  "whole band: expected one solved with channel-step=0, of type phase, gain or "
                  "delay",
                  gains->groups);
  if (gains->to_jansky && scale > 0)
    return refuse(error, "the table was solved from visibilities of unknown scale, which its gains "
                         "hold, and these voltages say their scale: expected a table that was "
                         "solved from such voltages");
  return gains->is_constant ||
         refuse(error,
                "the table has gains for %u intervals, and voltages take one for all times: "
                "expected one solved with interval=0",
                gains->intervals->len);
}

/* The table's delay leaves the middle of the band as it is, and that of voltages counts from 0 Hz.
 */
static gboolean set_input(const AstroGains *gains, gsize at, const char *name, guint pol,
                          AstroInputCalibration *input, GError **error)
{
  const complex double gain = g_array_index(gains->gains, complex double, at);
  const double delay = g_array_index(gains->delays, double, at);
  if (!(g_array_index(gains->snr, float, at) > 0) || gain == 0)
    return refuse(error,
                  "station %s, polarisation %u, is flagged in the table: expected gains of all "
                  "stations, or astroselect before, which leaves the station out",
                  name, pol);
  input->amplitude = cabs(gain);
  input->delay = delay;
  input->phase = remainder(
      carg(gain) + 2 * G_PI * remainder(delay * astro_gains_group_middle(gains, 0), 1), 2 * G_PI);
  return TRUE;
}

AstroCalibration *astro_calibration_from_gains(const AstroGains *gains,
                                               const AstroObservation *observation, guint pols,
                                               GError **error)
{
  const guint n = observation->n_stations * pols;
  g_autofree gint *stations = g_new(gint, observation->n_stations);
  if (!check_table(gains, observation->done.scale, error) ||
      !astro_gains_match(gains, observation, pols, stations, error))
    return NULL;
  g_autoptr(AstroCalibration) calibration = g_new0(AstroCalibration, 1);
  calibration->n_inputs = n;
  calibration->inputs = g_new0(AstroInputCalibration, n);
  calibration->n_bandpasses = 1;
  calibration->bandpasses = g_new0(AstroBandpass, 1);
  calibration->table = astro_gains_sum(gains);
  for (guint i = 0; i < n; i++) {
    const char *name = observation->names[i / pols];
    if (stations[i / pols] < 0) {
      refuse(error,
             "station %s is not in the table: expected gains of all stations, or astroselect "
             "before, which leaves the station out",
             name);
      return NULL;
    }
    const gsize at = (gsize)stations[i / pols] * gains->values + i % pols;
    if (!set_input(gains, at, name, i % pols, &calibration->inputs[i], error))
      return NULL;
  }
  return g_steal_pointer(&calibration);
}
