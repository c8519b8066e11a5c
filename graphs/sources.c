#include "graphs/sources.h"

static double number(const GstStructure *source, const char *field)
{
  double value = 0;
  gst_structure_get_double(source, field, &value);
  return value;
}

/* Beside what is true, where that is known. */
static char *line_of(guint index, const GstStructure *source, const char *unit)
{
  GString *line = g_string_new(NULL);
  g_string_append_printf(line, "source %u:", index);
  if (gst_structure_has_field(source, "true-l"))
    g_string_append_printf(line, " true l %.6f, m %.6f, %.4g Jy;", number(source, "true-l"),
                           number(source, "true-m"), number(source, "true-flux"));
  if (!gst_structure_has_field(source, "l")) {
    g_string_append(line, " not found");
    return g_string_free(line, FALSE);
  }
  g_string_append_printf(line, " found l %.6f, m %.6f, %.4g %s", number(source, "l"),
                         number(source, "m"), number(source, "flux"), unit);
  if (gst_structure_has_field(source, "offset"))
    g_string_append_printf(line, ", %.3f pixel apart", number(source, "offset"));
  else if (gst_structure_has_field(source, "ra"))
    g_string_append_printf(line, ", ra %.5f, dec %.5f degrees", number(source, "ra"),
                           number(source, "dec"));
  return g_string_free(line, FALSE);
}

GPtrArray *astro_sources_lines(const GstStructure *message)
{
  GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);
  const GValue *sources = gst_structure_get_value(message, "sources");
  const char *product = gst_structure_get_string(message, "product");
  const char *unit = gst_structure_get_string(message, "unit");
  guint channel = 0, n = gst_value_array_get_size(sources);
  gst_structure_get_uint(message, "channel", &channel);
  g_ptr_array_add(lines, g_strdup_printf("image %s, channel %u: %u sources, noise %.3g %s",
                                         product ? product : "?", channel, n,
                                         number(message, "rms"), unit));
  for (guint i = 0; i < n; i++)
    g_ptr_array_add(
        lines,
        line_of(i + 1, gst_value_get_structure(gst_value_array_get_value(sources, i)), unit));
  return lines;
}
