/* The metadata of grids and histograms that are added: sums of weights, numbers of pairs. */
#pragma once

#include "elements/base/astromerge.h"

G_BEGIN_DECLS

/* Adds up the metadata of the block's grids on out. Fails, naming the pad, where their w-planes
 * differ. pads: names of the inputs. */
gboolean astro_add_grids(const AstroMergeBlock *block, char *const *pads, GstBuffer *out,
                         GError **error);
/* Adds up the summaries of the block's histograms in a new event; *event is NULL where none of them
 * has a summary. */
gboolean astro_add_summaries(const AstroMergeBlock *block, char *const *pads, GstEvent **event,
                             GError **error);

G_END_DECLS
