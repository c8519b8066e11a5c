/* What grids and histograms that are added say of themselves: sums of weights, numbers of pairs. */
#pragma once

#include "elements/base/astromerge.h"

G_BEGIN_DECLS

/* What pieces of grids say, added to out; or an error that names the pad whose planes are others.
 * pads: names of the inputs. */
gboolean astro_add_grids(const AstroMergeBlock *block, char *const *pads, GstBuffer *out,
                         GError **error);
/* A new event of what pieces of histograms say, NULL in *event where none says anything; or an
 * error. */
gboolean astro_add_summaries(const AstroMergeBlock *block, char *const *pads, GstEvent **event,
                             GError **error);

G_END_DECLS
