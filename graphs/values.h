/* Values of properties, looked at before there is a pipeline. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* Numbers beyond a property's range, which GStreamer leaves out with a warning or wraps, and values
 * that are none: the line and what was expected. Whole numbers that are written with an exponent
 * stand in the graph by their digits then, where GStreamer takes these alone. Needs gst_init. */
gboolean astro_values_check(AstroGraph *graph, GError **error);

G_END_DECLS
