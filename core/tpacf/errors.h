/* Errors of w: by the jackknife over regions, or by the number of pairs. */
#pragma once

#include "core/tpacf/values.h"

G_BEGIN_DECLS

/* The covariance of leave-one-out samples; regions without pairs make no samples. FALSE if there is
 * no memory: with very many bins the covariance is far larger than the histogram. */
gboolean jackknife(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                   AstroTpacfResult *result);
/* The numbers of pairs, and errors by these if there are no regions. */
void set_errors(const AstroTpacfConfig *config, const Sum sums[N_KINDS], AstroTpacfResult *result);

G_END_DECLS
