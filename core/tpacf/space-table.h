/* Tables of correlation functions in space, a row for every value. */
#pragma once

#include "core/tpacf/sums.h"
#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

typedef struct {
  AstroStatistic statistic;
  AstroAxis across; /* mu or pi */
  guint n_rows, n_columns, wedges;
  guint n_regions; /* 1: no jackknife */
  guint n_kinds;
} AstroSpaceTable;

/* "s:s_low:s_high:mu:mu_low:mu_high:xi:error:dd:dr:rr" and the like; kinds: "dd:dr:rr". Sums have
 * no counts of pairs, and with regions their covariance instead: cov0, cov1 and so on. */
char *astro_space_table_columns(const AstroSpaceTable *table, const char *kinds);
guint astro_space_table_rows(const AstroSpaceTable *table);
/* How many numbers it holds. */
gsize astro_space_table_values(const AstroSpaceTable *table);

/* pairs: the histogram, [kind][region][region][row][column]. out: by columns. */
void astro_space_table_write(const AstroSpaceTable *table, const double *edges, double most_across,
                             const AstroTpacfResult *result, const double *pairs, double *out);

G_END_DECLS
