/* The table of w(theta): a row for each bin. */
#pragma once

#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

typedef struct {
  guint n_bins, n_regions; /* n_regions: 1 for none */
  guint n_kinds;           /* of pairs, each with a column of counts */
} AstroAngularTable;

/* "theta:low:high:w:error:dd:dr:rr:cov0:cov1"; kinds: "dd:dr:rr", or NULL for none. */
char *astro_angular_table_columns(const AstroAngularTable *table, const char *kinds);
gsize astro_angular_table_values(const AstroAngularTable *table);

/* Columns follow one another in out. counts: of all kinds, [kind][region][region][bin]. */
void astro_angular_table_write(const AstroAngularTable *table, const double *edges,
                               const AstroTpacfResult *result, const double *counts, double *out);

G_END_DECLS
