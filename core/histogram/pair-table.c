/* Weights of pairs by a table of angles. */
#include "core/histogram/pair-weights.h"

#include "core/kit/fail.h"

#include <string.h>

static gboolean refuse(const char *name, guint line, const char *text, GError **error)
{
  return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "%s: line %u is \"%.60s\", expected an angle in degrees, from 0 to 180 and "
                    "above the one before it, and a finite weight",
                    name, line, text);
}

static gboolean read_two(const char *text, double *angle, double *weight)
{
  char *end;
  *angle = g_ascii_strtod(text, &end);
  const gboolean has_angle = end != text;
  const char *at = end + strspn(end, ", \t");
  *weight = g_ascii_strtod(at, &end);
  return has_angle && end != at && end[strspn(end, ", \t\r")] == 0;
}

static gboolean read_lines(PairTable *table, char **lines, const char *name, GError **error)
{
  double before = -1;
  for (guint k = 0; lines[k]; k++) {
    double angle, weight;
    lines[k][strcspn(lines[k], "#")] = 0;
    g_strstrip(lines[k]);
    if (!*lines[k])
      continue;
    if (!read_two(lines[k], &angle, &weight) || !(angle > before && angle <= 180) ||
        !isfinite(weight))
      return refuse(name, k + 1, lines[k], error);
    table->squares[table->n] = astro_chord_square(60 * angle);
    table->weights[table->n++] = weight;
    before = angle;
  }
  return table->n >= 2 ||
         astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS,
                    "%s: %u lines of an angle and a weight, expected 2 or more", name, table->n);
}

PairTable *pair_table_parse(const char *text, const char *name, GError **error)
{
  g_autoptr(PairTable) table = g_new0(PairTable, 1);
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  const guint n = g_strv_length(lines);
  table->squares = g_new(double, n + 1);
  table->weights = g_new(double, n + 1);
  return read_lines(table, lines, name, error) ? g_steal_pointer(&table) : NULL;
}

PairTable *pair_table_read(const char *path, GError **error)
{
  g_autofree char *text = NULL;
  return g_file_get_contents(path, &text, NULL, error) ? pair_table_parse(text, path, error) : NULL;
}

void pair_table_free(PairTable *table)
{
  if (!table)
    return;
  g_free(table->squares);
  g_free(table->weights);
  g_free(table);
}
