/* Columns of w(theta), counts and covariance. */
#include "core/tpacf/angular-table.h"

#include <string.h>

#define FIXED_COLUMNS "theta:low:high:w:error"
enum { THETA, LOW, HIGH, W, ERROR, N_FIXED };

char *astro_angular_table_columns(const AstroAngularTable *table, const char *kinds)
{
  GString *columns = g_string_new(FIXED_COLUMNS);
  if (kinds)
    g_string_append_printf(columns, ":%s", kinds);
  for (guint k = 0; k < table->n_bins && table->n_regions > 1; k++)
    g_string_append_printf(columns, ":cov%u", k);
  return g_string_free(columns, FALSE);
}

gsize astro_angular_table_values(const AstroAngularTable *table)
{
  const gsize covariance = table->n_regions > 1 ? table->n_bins : 0;
  return (N_FIXED + table->n_kinds + covariance) * table->n_bins;
}

/* Counts of all regions with each other. */
static double sum_regions(const AstroAngularTable *table, const double *counts, guint kind,
                          gsize bin)
{
  const gsize cells = (gsize)table->n_regions * table->n_regions;
  double sum = 0;
  for (gsize cell = 0; cell < cells; cell++)
    sum += counts[(kind * cells + cell) * table->n_bins + bin];
  return sum;
}

void astro_angular_table_write(const AstroAngularTable *table, const double *edges,
                               const AstroTpacfResult *result, const double *counts, double *out)
{
  const gsize bins = table->n_bins;
  for (gsize k = 0; k < bins; k++) {
    out[THETA * bins + k] = result->theta[k];
    out[LOW * bins + k] = edges[k];
    out[HIGH * bins + k] = edges[k + 1];
    out[W * bins + k] = result->w[k];
    out[ERROR * bins + k] = result->error[k];
  }
  out += N_FIXED * bins;
  for (guint kind = 0; kind < table->n_kinds; kind++, out += bins)
    for (gsize k = 0; k < bins; k++)
      out[k] = sum_regions(table, counts, kind, k);
  if (result->covariance)
    memcpy(out, result->covariance, bins * bins * sizeof(double));
}
