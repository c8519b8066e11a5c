/* The work of gridding and degridding, for plans. */
#pragma once

#include "core/backend/work.h"

G_BEGIN_DECLS

double astro_gridder_pairs(guint baselines); /* pairs of different stations among them */

/* AstroTellWork. */
gboolean astro_gridder_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);
gboolean astro_degridder_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
