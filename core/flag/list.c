/* Reads lists of what to flag, and flags it. */
#include "config.h"
#include "core/flag/list.h"

#include "core/kit/lines.h"

#include <string.h>

/* ---- the file ---- */

static void clear_rule(gpointer data)
{
  AstroFlagRule *rule = data;
  g_free(rule->channels);
  g_free(rule->stations);
  g_free(rule->beams);
  g_free(rule->from);
  g_free(rule->to);
}

void astro_flag_list_free(AstroFlagList *list)
{
  g_free(list->name);
  g_array_unref(list->rules);
  g_free(list);
}

/* A side that is empty is open. */
static gboolean read_times(AstroFlagRule *rule, const char *text)
{
  const char *slash = strchr(text, '/');
  if (rule->from || rule->to || !slash || strlen(text) < 2)
    return FALSE;
  rule->from = slash > text ? g_strndup(text, (gsize)(slash - text)) : NULL;
  rule->to = slash[1] ? g_strdup(slash + 1) : NULL;
  return TRUE;
}

static gboolean read_item(AstroFlagRule *rule, const char *item)
{
  const struct {
    const char *key;
    char **text;
  } known[] = { { "channels=", &rule->channels },
                { "stations=", &rule->stations },
                { "beams=", &rule->beams } };
  for (guint i = 0; i < G_N_ELEMENTS(known); i++) {
    const char *value = item + strlen(known[i].key);
    if (!g_str_has_prefix(item, known[i].key) || *known[i].text || !*value)
      continue;
    *known[i].text = g_strdup(value);
    return TRUE;
  }
  return g_str_has_prefix(item, "times=") && read_times(rule, item + strlen("times="));
}

static gboolean read_rules(AstroLines *lines, GArray *rules, GError **error)
{
  char **fields;
  while ((fields = astro_lines_next(lines))) {
    AstroFlagRule rule = { .line = lines->line };
    gboolean ok = TRUE;
    for (guint i = 0; ok && fields[i]; i++)
      if (!(ok = read_item(&rule, fields[i])))
        astro_lines_error(lines, error,
                          "\"%s\", expected channels=LIST, stations=LIST, beams=LIST or "
                          "times=FROM/TO, each at most once",
                          fields[i]);
    g_strfreev(fields);
    g_array_append_val(rules, rule);
    if (!ok)
      return FALSE;
  }
  return TRUE;
}

AstroFlagList *astro_flag_list_read(const char *path, GError **error)
{
  AstroLines lines;
  if (!astro_lines_open(&lines, path, error))
    return NULL;
  AstroFlagList *list = g_new0(AstroFlagList, 1);
  list->name = g_strdup(path);
  list->rules = g_array_new(FALSE, FALSE, sizeof(AstroFlagRule));
  g_array_set_clear_func(list->rules, clear_rule);
  const gboolean ok = read_rules(&lines, list->rules, error);
  astro_lines_clear(&lines);
  if (ok)
    return list;
  astro_flag_list_free(list);
  return NULL;
}

gboolean astro_flag_list_time(const AstroFlagList *list, const AstroFlagRule *rule,
                              const char *text, const AstroObservation *observation,
                              double *seconds, GError **error)
{
  if (astro_number_parse(text, seconds))
    return TRUE;
  g_autoptr(AstroObservation) at = astro_observation_new(0);
  if (!astro_observation_set_start(at, text, NULL))
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX,
                      "%s:%u: time \"%s\", expected UTC as 2026-11-20T12:00:00, or seconds from "
                      "the observation's start",
                      list->name, rule->line, text);
  if (!observation || !observation->has_start)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                      "%s:%u: time \"%s\", and the stream does not say when it was taken: "
                      "expected astroobserve start-time upstream, or seconds from its start",
                      list->name, rule->line, text);
  *seconds = (at->start_mjd - observation->start_mjd) * 86400. +
             ((double)at->start_ns - (double)observation->start_ns) / 1e9;
  return TRUE;
}

/* ---- flags ---- */

void astro_flag_known_rule_clear(AstroFlagKnownRule *rule)
{
  g_free(rule->channels);
  g_free(rule->units);
}

guint8 *astro_flag_mark_units(const AstroStream *stream, const GArray *stations)
{
  const guint64 units = astro_flag_units(stream), n = astro_stream_stations(stream);
  guint8 *marks = g_malloc0(units);
  if (astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE) < 0) {
    for (guint k = 0; k < stations->len; k++)
      marks[g_array_index(stations, guint64, k)] = 1;
    return marks;
  }
  g_autofree guint8 *named = g_malloc0(n);
  for (guint k = 0; k < stations->len; k++)
    named[g_array_index(stations, guint64, k)] = 1;
  for (guint64 i = 0, at = 0; i < n; i++)
    for (guint64 j = 0; j < (stream->is_full_triangle ? n : i + 1) && at < units; j++)
      marks[at++] = named[i] | named[j];
  return marks;
}

void astro_flag_by_rules(const AstroStream *stream, const AstroFlagKnownRule *rules, guint n,
                         double begin, double end, guint8 *flags)
{
  const guint64 units = astro_flag_units(stream);
  const guint channels = astro_flag_channels(stream);
  memset(flags, ASTRO_FLAG_JUDGED, units * channels);
  for (guint r = 0; r < n; r++) {
    if (rules[r].has_times && (begin >= rules[r].to || end <= rules[r].from))
      continue;
    for (guint64 u = 0; u < units; u++)
      for (guint c = 0; c < channels; c++)
        if ((!rules[r].units || rules[r].units[u]) && (!rules[r].channels || rules[r].channels[c]))
          flags[u * channels + c] |= ASTRO_FLAG_BAD;
  }
}
