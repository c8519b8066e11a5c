/* The table of gains of astrocalibrate. */
#include "config.h"
#include "elements/astrocalibrate-table.h"

#include <string.h>

#include "core/fits/gains/gains.h"

gboolean astro_calibrate_file_open(AstroCalibrateFile *file, const char *location, gboolean writes,
                                   GError **error)
{
  if (writes) {
    file->file = location ? astro_part_file_create(location, error) : NULL;
    return file->file || !location;
  }
  file->gains = astro_fits_gains_read(location, error);
  if (!file->gains)
    return FALSE;
  file->sum = astro_gains_sum(file->gains);
  return TRUE;
}

static void forget_gains(AstroCalibrateFile *file)
{
  g_clear_pointer(&file->gains, astro_gains_free);
  g_clear_pointer(&file->stations, g_free);
  g_clear_pointer(&file->sum, g_free);
  file->is_scaled = FALSE;
}

void astro_calibrate_file_clear(AstroCalibrateFile *file)
{
  g_clear_pointer(&file->file, astro_part_file_discard);
  forget_gains(file);
}

/* ---- what was solved ---- */

static gboolean is_for(const AstroGains *gains, const AstroCalibrateConfig *config,
                       const AstroObservation *observation)
{
  return gains->pols == astro_stream_extent(&config->in, ASTRO_AXIS_POL) &&
         gains->groups == astro_calibrate_groups(config) &&
         gains->stations == observation->n_stations && gains->start_mjd == observation->start_mjd &&
         gains->start_ns == observation->start_ns &&
         gains->low == config->in.frequency - config->in.bandwidth / 2 &&
         gains->high == config->in.frequency + config->in.bandwidth / 2 &&
         g_strv_equal((const char *const *)gains->names, (const char *const *)observation->names);
}

gboolean astro_calibrate_file_begin(AstroCalibrateFile *file, const AstroCalibrateConfig *config,
                                    const AstroObservation *observation, GError **error)
{
  if (file->gains && is_for(file->gains, config, observation))
    return TRUE;
  if (file->gains && file->gains->intervals->len)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "the stations, the start, the band or the polarisations became others after gains had been "
        "solved: a table of gains is for one array and band, expected an astrocalibrate for each");
  forget_gains(file);
  const gboolean has_amplitudes =
      config->type != ASTRO_GAINS_PHASE && config->type != ASTRO_GAINS_DELAY;
  file->gains = astro_gains_new(observation, config->type,
                                (guint)astro_stream_extent(&config->in, ASTRO_AXIS_POL),
                                astro_calibrate_groups(config));
  astro_calibrate_set_band(config, file->gains);
  file->gains->to_jansky = has_amplitudes && !(observation->done.scale > 0);
  return TRUE;
}

gboolean astro_calibrate_file_write(AstroCalibrateFile *file, gboolean *written, GError **error)
{
  *written = FALSE;
  if (!file->file || !file->gains || !file->gains->intervals->len)
    return TRUE;
  AstroPartFile *part = g_steal_pointer(&file->file);
  if (!astro_fits_gains_write(part, file->gains, error)) {
    astro_part_file_discard(part);
    return FALSE;
  }
  *written = astro_part_file_commit(part, error);
  return *written;
}

/* ---- what is applied ---- */

gboolean astro_calibrate_file_match(AstroCalibrateFile *file, const AstroObservation *observation,
                                    guint pols, GError **error)
{
  if (file->stations)
    return TRUE;
  g_autofree gint *stations = g_new(gint, observation->n_stations);
  if (!astro_gains_match(file->gains, observation, pols, stations, error))
    return FALSE;
  file->stations = g_steal_pointer(&stations);
  return TRUE;
}

/* Names are separated by commas: astrodelay may have divided gains out of voltages before. */
gboolean astro_calibrate_history_has(const AstroObservation *observation, const char *name)
{
  const char *known = observation->done.gains;
  g_auto(GStrv) names = g_strsplit(known ? known : "", ",", -1);
  return g_strv_contains((const char *const *)names, name);
}

gboolean astro_calibrate_history_add(AstroObservation *observation, const char *name,
                                     GError **error)
{
  const char *known = observation->done.gains;
  if (astro_calibrate_history_has(observation, name))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the gains of this table have been divided out of the stream "
                               "before: expected each table once");
  g_autofree char *all = known && *known ? g_strdup_printf("%s,%s", known, name) : g_strdup(name);
  astro_history_set_text(&observation->done.gains, all);
  return TRUE;
}
