/* Tables of gains in memory. */
#include "config.h"
#include "core/lib/gains/gains.h"

#include <string.h>

static const char *const type_names[ASTRO_N_GAINS_TYPES] = {
  [ASTRO_GAINS_PHASE] = "phase", [ASTRO_GAINS_GAIN] = "gain",         [ASTRO_GAINS_FULL] = "full",
  [ASTRO_GAINS_DELAY] = "delay", [ASTRO_GAINS_BANDPASS] = "bandpass",
};

const char *astro_gains_type_name(AstroGainsType type)
{
  return type_names[type];
}

gboolean astro_gains_type_parse(const char *name, AstroGainsType *type)
{
  for (guint i = 0; i < ASTRO_N_GAINS_TYPES; i++)
    if (g_strcmp0(name, type_names[i]) == 0) {
      *type = (AstroGainsType)i;
      return TRUE;
    }
  return FALSE;
}

AstroGains *astro_gains_new(const AstroObservation *observation, AstroGainsType type, guint pols,
                            guint groups)
{
  AstroGains *gains = g_new0(AstroGains, 1);
  gains->type = type;
  gains->stations = observation->n_stations;
  gains->pols = pols;
  gains->groups = groups;
  gains->values = type == ASTRO_GAINS_FULL ? pols * pols : pols;
  gains->names = g_strdupv(observation->names);
  gains->basis = g_strdup(observation->basis);
  gains->start_mjd = observation->start_mjd;
  gains->start_ns = observation->start_ns;
  gains->intervals = g_array_new(FALSE, FALSE, sizeof(AstroGainsInterval));
  gains->gains = g_array_new(FALSE, FALSE, sizeof(complex double));
  gains->snr = g_array_new(FALSE, FALSE, sizeof(float));
  gains->delays = g_array_new(FALSE, TRUE, sizeof(double));
  return gains;
}

void astro_gains_free(AstroGains *gains)
{
  g_strfreev(gains->names);
  g_free(gains->basis);
  g_array_unref(gains->intervals);
  g_array_unref(gains->gains);
  g_array_unref(gains->snr);
  g_array_unref(gains->delays);
  g_free(gains);
}

gsize astro_gains_row(const AstroGains *gains)
{
  return (gsize)gains->stations * gains->groups * gains->values;
}

double astro_gains_group_middle(const AstroGains *gains, guint group)
{
  const double low = gains->low + group * gains->step;
  return (low + MIN(low + gains->step, gains->high)) / 2;
}

void astro_gains_add(AstroGains *gains, double begin, double end, const complex double *values,
                     const float *snr, const double *delays)
{
  const guint row = (guint)astro_gains_row(gains);
  const AstroGainsInterval interval = { begin, end };
  g_array_append_val(gains->intervals, interval);
  g_array_append_vals(gains->gains, values, row);
  g_array_append_vals(gains->snr, snr, row);
  if (delays)
    g_array_append_vals(gains->delays, delays, row);
  else
    g_array_set_size(gains->delays, gains->gains->len);
}

static void add_array(GChecksum *sum, const GArray *array)
{
  g_checksum_update(sum, (const guchar *)array->data,
                    (gssize)((gsize)array->len * g_array_get_element_size((GArray *)array)));
}

char *astro_gains_sum(const AstroGains *gains)
{
  g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
  g_autofree char *names = g_strjoinv("\n", gains->names);
  const double band[] = { gains->low, gains->high, gains->step, gains->start_mjd,
                          (double)gains->start_ns };
  g_checksum_update(sum, (const guchar *)names, (gssize)strlen(names));
  g_checksum_update(sum, (const guchar *)band, sizeof band);
  add_array(sum, gains->intervals);
  add_array(sum, gains->gains);
  add_array(sum, gains->snr);
  add_array(sum, gains->delays);
  return g_strdup(g_checksum_get_string(sum));
}

gboolean astro_gains_match(const AstroGains *gains, const AstroObservation *observation, guint pols,
                           gint *stations, GError **error)
{
  guint found = 0;
  if (gains->pols != pols)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the table of gains is for pols=%u, and the stream has pols=%u",
                               gains->pols, pols);
  if (gains->basis && observation->basis && strcmp(gains->basis, observation->basis) != 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "the table of gains is for the %s basis, and the observation has "
                               "the %s basis",
                               gains->basis, observation->basis);
  g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
  for (guint i = 0; i < gains->stations; i++)
    g_hash_table_insert(known, gains->names[i], GUINT_TO_POINTER(i + 1));
  for (guint i = 0; i < observation->n_stations; i++) {
    const guint at = GPOINTER_TO_UINT(g_hash_table_lookup(known, observation->names[i]));
    stations[i] = (gint)at - 1;
    found += at > 0;
  }
  return found > 0 || astro_stream_refuse(
                          error, ASTRO_STREAM_ERROR_CAPS,
                          "the table of gains has stations %s to %s, and none of the "
                          "observation's, %s to %s: expected the table of this array",
                          gains->names[0], gains->names[gains->stations - 1], observation->names[0],
                          observation->names[observation->n_stations - 1]);
}

double astro_gains_time(const AstroGains *gains, const AstroObservation *observation,
                        double seconds)
{
  return seconds + 86400. * (observation->start_mjd - gains->start_mjd) +
         ((double)observation->start_ns - (double)gains->start_ns) * 1e-9;
}
