/* Tables of correlation functions in space. */
#include "core/tpacf/space-table.h"

#include <string.h>

static gboolean is_summed(const AstroSpaceTable *t)
{
  return astro_statistic_sums(t->statistic, t->wedges) > 0;
}

static gboolean has_covariance(const AstroSpaceTable *t)
{
  return is_summed(t) && t->n_regions > 1;
}

/* Ranges of mu or pi that a value may be of: every column, every wedge, or none. */
static guint n_ranges(const AstroSpaceTable *t)
{
  return !is_summed(t) ? t->n_columns : t->statistic == ASTRO_STATISTIC_WEDGES ? t->wedges : 0;
}

guint astro_space_table_rows(const AstroSpaceTable *t)
{
  const guint sums = astro_statistic_sums(t->statistic, t->wedges);
  return t->n_rows * (sums ? sums : t->n_columns);
}

char *astro_space_table_columns(const AstroSpaceTable *t, const char *kinds)
{
  const char *s = t->across == ASTRO_AXIS_MU ? "s" : "rp", *across = astro_axis_name(t->across);
  GString *names = g_string_new(NULL);
  g_string_append_printf(names, "%s:%s_low:%s_high", s, s, s);
  if (n_ranges(t) > 0)
    g_string_append_printf(names, ":%s:%s_low:%s_high", across, across, across);
  if (t->statistic == ASTRO_STATISTIC_MULTIPOLES)
    g_string_append(names, ":ell");
  g_string_append(names, t->statistic == ASTRO_STATISTIC_WP ? ":wp:error" : ":xi:error");
  if (!is_summed(t))
    g_string_append_printf(names, ":%s", kinds);
  for (guint k = 0; has_covariance(t) && k < astro_space_table_rows(t); k++)
    g_string_append_printf(names, ":cov%u", k);
  return g_string_free(names, FALSE);
}

gsize astro_space_table_values(const AstroSpaceTable *t)
{
  const gsize rows = astro_space_table_rows(t);
  return rows * (3 + (n_ranges(t) > 0 ? 3 : 0) + (t->statistic == ASTRO_STATISTIC_MULTIPOLES) + 2 +
                 (is_summed(t) ? 0 : t->n_kinds) + (has_covariance(t) ? rows : 0));
}

/* Which row of bins and which column, or sum, a value is of: sums come one after the other, but the
 * columns of a row together. */
static void place_of(const AstroSpaceTable *t, guint value, guint *row, guint *part)
{
  *row = is_summed(t) ? value % t->n_rows : value / t->n_columns;
  *part = is_summed(t) ? value / t->n_rows : value % t->n_columns;
}

static double *write_range(double *out, guint rows, guint value, double low, double high)
{
  out[value] = (low + high) / 2;
  out[rows + value] = low;
  out[2 * (gsize)rows + value] = high;
  return out + 3 * (gsize)rows;
}

static void write_value(const AstroSpaceTable *t, const double *edges, double most_across,
                        const AstroTpacfResult *result, guint value, double *out)
{
  const guint rows = astro_space_table_rows(t), ranges = n_ranges(t);
  guint row, part;
  place_of(t, value, &row, &part);
  double *at = write_range(out, rows, value, edges[row], edges[row + 1]);
  if (ranges > 0)
    at = write_range(at, rows, value, most_across * part / ranges,
                     most_across * (part + 1) / ranges);
  if (t->statistic == ASTRO_STATISTIC_MULTIPOLES) {
    at[value] = astro_multipoles[part];
    at += rows;
  }
  at[value] = result->w[value];
  at[rows + value] = result->error[value];
}

static void write_pairs(const AstroSpaceTable *t, const double *pairs, double *out)
{
  const gsize bins = (gsize)t->n_rows * t->n_columns, cells = (gsize)t->n_regions * t->n_regions;
  memset(out, 0, t->n_kinds * bins * sizeof *out);
  for (guint kind = 0; kind < t->n_kinds; kind++)
    for (gsize cell = 0; cell < cells; cell++)
      for (gsize k = 0; k < bins; k++)
        out[kind * bins + k] += pairs[(kind * cells + cell) * bins + k];
}

void astro_space_table_write(const AstroSpaceTable *t, const double *edges, double most_across,
                             const AstroTpacfResult *result, const double *pairs, double *out)
{
  const gsize rows = astro_space_table_rows(t);
  for (guint value = 0; value < rows; value++)
    write_value(t, edges, most_across, result, value, out);
  double *last = out + astro_space_table_values(t);
  if (has_covariance(t))
    memcpy(last - rows * rows, result->covariance, rows * rows * sizeof *out);
  else if (!is_summed(t))
    write_pairs(t, pairs, last - t->n_kinds * rows);
}
