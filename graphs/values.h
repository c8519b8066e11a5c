/* Checks the values of properties before the pipeline is made. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* Refuses values that are invalid or out of a property's range, which GStreamer would ignore with a
 * warning, or wrap; the error gives the line and the values that are expected. Also writes out
 * whole numbers with an exponent, where GStreamer accepts digits alone. Needs gst_init. */
gboolean astro_values_check(AstroGraph *graph, GError **error);

/* The pipeline on one line, after that check. */
char *astro_checked_line(AstroGraph *graph, GError **error);

G_END_DECLS
