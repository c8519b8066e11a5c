/* The event that says how a correlation function was made. */
#pragma once

#include "core/stream/correlation-about.h"
#include "core/stream/histogram-summary.h"
#include "core/tpacf/tpacf.h"

G_BEGIN_DECLS

/* kinds: names of the kinds of pairs in the histogram, "dd" and so on. */
GstEvent *astro_about_to_event(const AstroTpacfConfig *config, const AstroTpacfResult *result,
                               const AstroSummary *summary, char **kinds);

G_END_DECLS
