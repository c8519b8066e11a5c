/* Correlation functions of what points carry, a row for each bin: means of products over pairs,
 * with errors by the jackknife or, without regions, from the scatter of shapes alone. */
#pragma once

#include "core/stream/pair-fields.h"
#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

typedef struct {
  AstroPairFields fields;
  guint n_bins, n_regions;
  gboolean has_random; /* pairs of random points are there, whose means are subtracted */
} AstroFieldsTable;

/* A histogram: sums and counts [kind][plane][region][region][bin], pairs without the bins. */
typedef struct {
  const double *edges, *sums, *pairs;
  const guint64 *counts; /* in the first planes */
} AstroFieldsSums;

/* "r_nom:low:high:meanr:xip:xim:xip_im:xim_im:sigma_xip:sigma_xim:weight:npairs", with regions also
 * cov0 and so on; of two functions cov_xip_xip0, cov_xip_xim0, cov_xim_xim0. */
char *astro_fields_table_columns(const AstroFieldsTable *table);
gsize astro_fields_table_values(const AstroFieldsTable *table);

/* Columns follow one another in out. Bins without pairs are NaN; result says how many, and has no
 * values of its own. */
gboolean astro_fields_table_write(const AstroFieldsTable *table, const AstroFieldsSums *sums,
                                  AstroTpacfResult *result, double *out, GError **error);

G_END_DECLS
