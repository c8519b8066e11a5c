/* Resolves lists of what to flag. */
#include "config.h"
#include "elements/astroflag-rules.h"

#include "core/kit/lines.h"
#include "core/select/select.h"

#include <math.h>

static void clear_rule(gpointer rule)
{
  astro_flag_known_rule_clear(rule);
}

/* A name that is none of the stream's. */
static gboolean check_known(const GArray *indices, const AstroSelectFrom *from, const char *text,
                            GError **error)
{
  for (guint i = 0; i < indices->len; i++)
    if (g_array_index(indices, guint64, i) >= from->extent)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "%s=%s has a name, and the stream has no names of its %s: "
                                 "expected numbers from 0 on",
                                 from->what, text, from->what);
  return TRUE;
}

/* The indices of a text; the error says where it stands. */
static GArray *read_indices(const AstroFlagList *list, const AstroFlagRule *rule, const char *text,
                            const AstroSelectFrom *from, GError **error)
{
  g_autoptr(GArray) indices = astro_select_read_list(text, from, error);
  if (indices && check_known(indices, from, text, error))
    return g_steal_pointer(&indices);
  g_prefix_error(error, "%s:%u: ", list->name, rule->line);
  return NULL;
}

static gboolean has_no(const AstroFlagList *list, const AstroFlagRule *rule, const char *what,
                       const AstroStream *stream, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "%s:%u: %s of a stream of %s that has none", list->name, rule->line,
                             what, astro_quantity_name(stream->quantity));
}

static gboolean know_channels(AstroFlagKnownRule *known, const AstroFlagList *list,
                              const AstroFlagRule *rule, const AstroStream *stream, GError **error)
{
  const guint channels = astro_flag_channels(stream);
  const AstroSelectFrom from = { "channels", channels, NULL };
  if (!rule->channels)
    return TRUE;
  if (astro_layout_find(&stream->layout, ASTRO_AXIS_CHANNEL) < 0)
    return has_no(list, rule, "channels", stream, error);
  g_autoptr(GArray) indices = read_indices(list, rule, rule->channels, &from, error);
  if (!indices)
    return FALSE;
  known->channels = g_malloc0(channels);
  for (guint i = 0; i < indices->len; i++)
    known->channels[g_array_index(indices, guint64, i)] = 1;
  return TRUE;
}

static gboolean know_stations(AstroFlagKnownRule *known, const AstroFlagList *list,
                              const AstroFlagRule *rule, const AstroStream *stream,
                              const AstroObservation *o, GError **error)
{
  const guint64 stations = astro_stream_stations(stream);
  const AstroSelectFrom from = { "stations", stations,
                                 o && o->n_stations == stations ? o->names : NULL };
  if (!rule->stations)
    return TRUE;
  if (astro_layout_find(&stream->layout, ASTRO_AXIS_STATION) < 0 &&
      astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE) < 0)
    return has_no(list, rule, "stations", stream, error);
  g_autoptr(GArray) indices = read_indices(list, rule, rule->stations, &from, error);
  if (indices)
    known->units = astro_flag_mark_units(stream, indices);
  return indices != NULL;
}

static gboolean know_beams(AstroFlagKnownRule *known, const AstroFlagList *list,
                           const AstroFlagRule *rule, const AstroStream *stream, GError **error)
{
  const AstroSelectFrom from = { "beams", astro_stream_extent(stream, ASTRO_AXIS_BEAM), NULL };
  if (!rule->beams)
    return TRUE;
  if (astro_layout_find(&stream->layout, ASTRO_AXIS_BEAM) < 0)
    return has_no(list, rule, "beams", stream, error);
  g_autoptr(GArray) indices = read_indices(list, rule, rule->beams, &from, error);
  if (indices)
    known->units = astro_flag_mark_units(stream, indices);
  return indices != NULL;
}

static gboolean know_times(AstroFlagKnownRule *known, const AstroFlagList *list,
                           const AstroFlagRule *rule, const AstroObservation *observation,
                           GError **error)
{
  known->from = -INFINITY;
  known->to = INFINITY;
  known->has_times = rule->from || rule->to;
  return (!rule->from ||
          astro_flag_list_time(list, rule, rule->from, observation, &known->from, error)) &&
         (!rule->to || astro_flag_list_time(list, rule, rule->to, observation, &known->to, error));
}

GArray *astro_flag_rules_new(const AstroFlagList *list, const AstroStream *stream,
                             const AstroObservation *observation, GError **error)
{
  GArray *rules = g_array_new(FALSE, FALSE, sizeof(AstroFlagKnownRule));
  g_array_set_clear_func(rules, clear_rule);
  for (guint i = 0; i < list->rules->len; i++) {
    const AstroFlagRule *rule = &g_array_index(list->rules, AstroFlagRule, i);
    AstroFlagKnownRule known = { 0 };
    const gboolean ok = know_channels(&known, list, rule, stream, error) &&
                        know_stations(&known, list, rule, stream, observation, error) &&
                        know_beams(&known, list, rule, stream, error) &&
                        know_times(&known, list, rule, observation, error);
    g_array_append_val(rules, known);
    if (ok)
      continue;
    g_array_unref(rules);
    return NULL;
  }
  return rules;
}

gboolean astro_flag_rules_have_times(const GArray *rules)
{
  for (guint i = 0; i < rules->len; i++)
    if (g_array_index(rules, AstroFlagKnownRule, i).has_times)
      return TRUE;
  return FALSE;
}
