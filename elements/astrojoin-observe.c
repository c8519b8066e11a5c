/* Joins the observations of streams: their stations or their beams. */
#include "config.h"
#include "elements/astrojoin-caps.h"

#include <string.h>

/* ---- stations ---- */

static gboolean add_station(GHashTable *known, const AstroMergeInput *input, guint station,
                            GError **error)
{
  const char *name = input->observation->names[station];
  const char *pad = g_hash_table_lookup(known, name);
  if (pad)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: station %s is also on pad %s: expected each "
                               "station once",
                               input->pad, name, pad);
  g_hash_table_insert(known, (gpointer)name, (gpointer)input->pad);
  return TRUE;
}

static gboolean check_number(const AstroMergeInput *input, guint64 found, guint64 expected,
                             const char *of, GError **error)
{
  return found == expected ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: the observation has %" G_GUINT64_FORMAT
                             " %s and the caps have %" G_GUINT64_FORMAT ", expected equal numbers",
                             input->pad, found, of, expected);
}

static gboolean join_arrays(const AstroMergeInput *inputs, guint n, AstroObservation *observation,
                            GError **error)
{
  g_autoptr(GHashTable) known = g_hash_table_new(g_str_hash, g_str_equal);
  guint stations = 0, at = 0;
  for (guint i = 0; i < n; i++) {
    const AstroObservation *o = inputs[i].observation;
    if (!check_number(&inputs[i], o->n_stations, astro_stream_stations(inputs[i].stream),
                      "stations", error))
      return FALSE;
    stations += o->n_stations;
  }
  g_autoptr(AstroObservation) all = astro_observation_new(stations);
  g_free(all->telescope);
  all->telescope = g_strdup(observation->telescope);
  for (guint i = 0; i < n; i++) {
    const AstroObservation *o = inputs[i].observation;
    for (guint k = 0; k < o->n_stations; k++, at++) {
      if (!add_station(known, &inputs[i], k, error))
        return FALSE;
      g_free(all->names[at]);
      all->names[at] = g_strdup(o->names[k]);
      memcpy(&all->positions[3 * at], &o->positions[3 * k], 3 * sizeof(double));
    }
  }
  astro_observation_swap_array(observation, all);
  return TRUE;
}

/* ---- beams ---- */

/* Beams that differ may have the same name, as two beamformers number theirs from 0 each. */
static gboolean add_beam(AstroObservation *all, const AstroMergeInput *input, const AstroBeam *beam,
                         GError **error)
{
  const gint before = astro_observation_find_beam(all, beam->name);
  if (before >= 0 && astro_beam_is_alike(&all->beams[before], beam)) {
    g_autofree char *text = astro_beam_describe(beam);
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "pad %s: beam %s, is there already: expected each beam once",
                               input->pad, text);
  }
  return astro_observation_add_beam(all, beam->name, beam->kind, beam->frame, beam->x, beam->y,
                                    error);
}

static gboolean join_beams(const AstroMergeInput *inputs, guint n, AstroObservation *observation,
                           GError **error)
{
  gboolean any = FALSE;
  for (guint i = 0; i < n; i++)
    any |= inputs[i].observation->n_beams > 0;
  astro_observation_clear_beams(observation);
  for (guint i = 0; any && i < n; i++) {
    const AstroObservation *o = inputs[i].observation;
    if (!check_number(&inputs[i], o->n_beams,
                      astro_stream_extent(inputs[i].stream, ASTRO_AXIS_BEAM), "beams", error))
      return FALSE;
    for (guint k = 0; k < o->n_beams; k++)
      if (!add_beam(observation, &inputs[i], &o->beams[k], error))
        return FALSE;
  }
  return TRUE;
}

/* Nights that were gridded apart may have had different stations. */
static gboolean is_of_stations(const AstroMergeInput *input)
{
  return input->stream->quantity != ASTRO_QUANTITY_UVGRID &&
         input->stream->quantity != ASTRO_QUANTITY_IMAGE;
}

gboolean astro_join_observe(const AstroMergeInput *inputs, guint n, AstroAxis axis,
                            AstroObservation *observation, GError **error)
{
  if (!observation)
    return TRUE;
  if (axis != ASTRO_AXIS_STATION && is_of_stations(&inputs[0]) &&
      !astro_merge_check_stations(inputs, n, error))
    return FALSE;
  if (axis != ASTRO_AXIS_BEAM && !astro_merge_check_beams(inputs, n, error))
    return FALSE;
  return axis == ASTRO_AXIS_STATION ? join_arrays(inputs, n, observation, error)
         : axis == ASTRO_AXIS_BEAM  ? join_beams(inputs, n, observation, error)
                                    : TRUE;
}
