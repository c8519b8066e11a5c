/* Names for the elements of a graph. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* Names elements that have no name as GStreamer does in a pipeline that is the first of its
 * process: identity0, identity1. In later ones it counts on, so that one element would have another
 * name in each round, and astro_graph_locate would not find it. Needs gst_init. */
void astro_graph_name_elements(AstroGraph *graph);

G_END_DECLS
