/* Formats numbers and messages for people. */
#include "core/ranks/world.h"
#include "graphs/format.h"
#include "graphs/service.h"
#include <stdio.h>
#include <stdlib.h>

char *astro_format_bytes(double bytes)
{
  static const char *const units[] = { "kB", "MB", "GB", "TB", "PB" };
  if (bytes < 1000)
    return g_strdup_printf("%.0f B", bytes);
  guint unit = 0;
  for (bytes /= 1000; bytes >= 999.5 && unit + 1 < G_N_ELEMENTS(units); unit++)
    bytes /= 1000;
  return g_strdup_printf("%.*f %s", bytes < 10 ? 2 : bytes < 100 ? 1 : 0, bytes, units[unit]);
}

char *astro_format_rate(double bytes, double seconds)
{
  if (bytes <= 0 || seconds <= 0)
    return g_strdup("-");
  g_autofree char *amount = astro_format_bytes(bytes / seconds);
  return g_strconcat(amount, "/s", NULL);
}

char *astro_format_seconds(double seconds)
{
  return g_strdup_printf("%.*f s", seconds < 10 ? 3 : 1, seconds);
}

char *astro_format_clock(double seconds)
{
  guint64 whole = CLAMP(seconds, 0, 1e12) + 0.5;
  return g_strdup_printf("%" G_GUINT64_FORMAT ":%02u:%02u", whole / 3600, (guint)(whole / 60 % 60),
                         (guint)(whole % 60));
}

static gboolean append_field(GQuark field, const GValue *value, gpointer out)
{
  GString *text = out;
  g_autofree char *shown = G_VALUE_HOLDS_STRING(value) ? g_value_dup_string(value)
                           : G_VALUE_HOLDS_DOUBLE(value)
                               ? g_strdup_printf("%.9g", g_value_get_double(value))
                               : gst_value_serialize(value);
  g_string_append_printf(text, "%s%s %s", text->len ? ", " : "", g_quark_to_string(field),
                         shown ? shown : "?");
  return TRUE;
}

char *astro_format_fields(const GstStructure *structure)
{
  GString *text = g_string_new(NULL);
  gst_structure_foreach(structure, append_field, text);
  return g_string_free(text, FALSE);
}

char *astro_format_line(const char *text)
{
  g_autofree char *valid = g_utf8_make_valid(text, -1);
  GString *line = g_string_new(NULL);
  for (const char *c = valid; *c; c++) {
    if (!g_ascii_isspace(*c) && !g_ascii_iscntrl(*c))
      g_string_append_c(line, *c);
    else if (line->len && line->str[line->len - 1] != ' ')
      g_string_append_c(line, ' ');
  }
  return g_strchomp(g_string_free(line, FALSE));
}

char *astro_format_word(const char *value)
{
  return value[strcspn(value, " \t\"'\\$`;|&<>(){}*?!#~")] ? g_shell_quote(value) : g_strdup(value);
}

int astro_refuse(const char *message)
{
  g_autofree char *line = astro_format_line(message);
  /* The first rank says it where all refuse the same, and its end is that of the job. */
  if (astro_world_find().rank > 0)
    g_usleep(2 * G_USEC_PER_SEC);
  fprintf(stderr, "%s%s\n", astro_service_prefix(ASTRO_LINE_ERROR), line);
  return EXIT_FAILURE;
}
