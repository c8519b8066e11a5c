/* The dispersion measures of an observation, in memory and in its event. */
#include "config.h"
#include "core/stream/dms-event.h"

#define FIELD "dms"
#define FREQUENCY "dm-frequency"
#define HIGHEST 1e18 /* Hz */

gboolean astro_observation_set_dms(AstroObservation *observation, const double *dms, guint n,
                                   double frequency, GError **error)
{
  for (guint i = 0; i < n; i++) {
    if (!(dms[i] >= 0 && dms[i] <= ASTRO_OBSERVATION_MAX_DM))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "dispersion measure %u is %g, expected 0 to %g pc/cm^3", i, dms[i],
                                 ASTRO_OBSERVATION_MAX_DM);
    if (i > 0 && dms[i] <= dms[i - 1])
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "dispersion measure %u is %.10g pc/cm^3, not above %.10g before "
                                 "it: expected them to rise",
                                 i, dms[i], dms[i - 1]);
  }
  if (n > 0 && !(frequency > 0 && frequency <= HIGHEST))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "dispersion is taken out relative to %g Hz, expected a frequency, "
                               "above 0 and at most %g Hz",
                               frequency, HIGHEST);
  double *copy = g_memdup2(dms, n * sizeof *dms);
  g_free(observation->dms);
  observation->dms = copy;
  observation->n_dms = n;
  observation->dm_frequency = n > 0 ? frequency : 0;
  return TRUE;
}

/* ---- in the event ---- */

void astro_dms_to_structure(const AstroObservation *observation, GstStructure *s)
{
  GValue array = G_VALUE_INIT, one = G_VALUE_INIT;
  if (observation->n_dms == 0)
    return;
  g_value_init(&array, GST_TYPE_ARRAY);
  g_value_init(&one, G_TYPE_DOUBLE);
  for (guint i = 0; i < observation->n_dms; i++) {
    g_value_set_double(&one, observation->dms[i]);
    gst_value_array_append_value(&array, &one);
  }
  gst_structure_take_value(s, FIELD, &array);
  gst_structure_set(s, FREQUENCY, G_TYPE_DOUBLE, observation->dm_frequency, NULL);
}

static gboolean refuse(const char *field, const char *expected, gboolean is_there, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "observation event: field \"%s\" is %s, expected %s", field,
                             is_there ? "of another type" : "missing", expected);
}

gboolean astro_dms_from_structure(AstroObservation *observation, const GstStructure *s,
                                  GError **error)
{
  const GValue *array = gst_structure_get_value(s, FIELD),
               *frequency = gst_structure_get_value(s, FREQUENCY);
  if (!array && !frequency)
    return TRUE;
  if (!array || !GST_VALUE_HOLDS_ARRAY(array))
    return refuse(FIELD, "an array of doubles", array != NULL, error);
  if (!frequency || !G_VALUE_HOLDS_DOUBLE(frequency))
    return refuse(FREQUENCY, "a double, Hz", frequency != NULL, error);
  const guint n = gst_value_array_get_size(array);
  g_autofree double *dms = g_new(double, n);
  for (guint i = 0; i < n; i++) {
    const GValue *one = gst_value_array_get_value(array, i);
    if (!G_VALUE_HOLDS_DOUBLE(one))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "observation event: %s[%u] is not a double", FIELD, i);
    dms[i] = g_value_get_double(one);
  }
  return astro_observation_set_dms(observation, dms, n, g_value_get_double(frequency), error);
}
