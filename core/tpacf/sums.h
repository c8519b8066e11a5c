/* Statistics made of xi in bins of (s, mu) or (rp, pi): sums over mu or pi, with shares. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_STATISTIC_AUTO, /* w by angle, xi in space */
  ASTRO_STATISTIC_XI,
  ASTRO_STATISTIC_MULTIPOLES, /* xi_0, xi_2 and xi_4 of (s, mu) */
  ASTRO_STATISTIC_WEDGES,     /* means of xi over even ranges of mu */
  ASTRO_STATISTIC_WP,         /* twice the integral of xi over pi */
} AstroStatistic;
#define ASTRO_TYPE_STATISTIC astro_statistic_get_type()
GType astro_statistic_get_type(void);

/* Sum i of a row is the sum over columns of shares[i * n_columns + column] * xi. */
typedef struct {
  guint n_sums, n_columns;
  double *shares;
} AstroTpacfSums;

#define ASTRO_N_MULTIPOLES 3
extern const guint astro_multipoles[ASTRO_N_MULTIPOLES]; /* their ell */

/* Whether the statistic can be made of histograms with that axis (NONE: by angle) of so many
 * columns. */
gboolean astro_statistic_check(AstroStatistic statistic, AstroAxis across, guint n_columns,
                               guint wedges, GError **error);

/* How many sums there are; 0: bins are not summed. */
guint astro_statistic_sums(AstroStatistic statistic, guint wedges);

/* For a statistic that was checked, with columns up to most_across. FALSE: multipoles need mu up to
 * 1. Sums are then to be cleared. */
gboolean astro_sums_init(AstroTpacfSums *sums, AstroStatistic statistic, guint n_columns,
                         double most_across, guint wedges, GError **error);
void astro_sums_clear(AstroTpacfSums *sums);

G_END_DECLS
