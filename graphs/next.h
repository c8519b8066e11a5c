/* What to try after a graph: lines of its description that begin with two blanks and gst-astro are
 * commands, in which ${name} is the value that a parameter has. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* The commands as they can be typed here; up to a NULL. */
char **astro_next_commands(const AstroGraph *graph);

/* The description, with its commands as they can be typed here. */
char *astro_next_description(const AstroGraph *graph);

G_END_DECLS
