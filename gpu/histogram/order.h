/* Points ordered on the device. */
#pragma once

#include "gpu/histogram/copies.h"

/* Brings the columns of points up, orders the points along the sky into a copy that has room for
 * them, and fetches its cells. */
gboolean histogram_order(HistogramCopies *copies, HistogramCopy *copy, const AstroPoints *points,
                         GError **error);
