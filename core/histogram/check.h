/* The checks that all backends of the histogram make. */
#pragma once

#include "core/histogram/histogram.h"

G_BEGIN_DECLS

/* AstroBackend.shape of every backend: whether the edges rise and the regions are not too many. */
gboolean astro_histogram_shape(gconstpointer config, GError **error);

/* Whether submit was given one or two catalogues, in as many regions as the configuration says, and
 * blocks that hold the counts and, where there are weights, their sums. */
gboolean astro_histogram_check(const AstroHistogramConfig *config, const AstroBlock *in, guint n_in,
                               const AstroBlock *out, guint n_out, GError **error);

G_END_DECLS
