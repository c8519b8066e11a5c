/* Counts of pairs in space on the CPU. */
#pragma once

#include "core/histogram/count.h"

G_BEGIN_DECLS

/* Adds all pairs to the count, by all threads. alone: the pairs are within one catalogue. FALSE:
 * there is no memory for the sums of weights. */
gboolean space_count(Count *count, gboolean alone, GError **error);

G_END_DECLS
