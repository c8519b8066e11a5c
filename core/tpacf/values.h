/* Values of w: shares of pairs in an estimator, and the pairs that it needs. */
#pragma once

#include "core/tpacf/left-out.h"
#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

enum { DD, DR, RD, RR, N_KINDS };

Regions regions_of(const AstroTpacfConfig *config);
gboolean in_space(const AstroTpacfConfig *config);
guint n_rows(const AstroTpacfConfig *config);
guint n_values(const AstroTpacfConfig *config);

/* NaN: undefined in this bin. */
double estimate(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint bin);
/* A bin, or a sum of bins where the configuration has sums. */
double value_of(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint value);

/* Whether there are all kinds of pairs that the estimator needs. */
gboolean check_kinds(const AstroTpacfConfig *config, GError **error);
/* A divisor summed from weights of both signs may be anything: it is refused. */
gboolean check_signs(const AstroTpacfConfig *config, GError **error);
/* A kind that the estimator needs whose pairs are none, or NULL. */
const char *kind_without_pairs(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                               const Sum sums[N_KINDS]);

G_END_DECLS
