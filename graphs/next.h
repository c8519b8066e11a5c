/* Commands to try after a graph: lines of its description that begin with two blanks and gst-astro,
 * in which ${name} stands for a parameter's value. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* The commands as they can be typed in the current folder, ending with NULL. */
char **astro_next_commands(const AstroGraph *graph);

/* The description, with its commands as they can be typed in the current folder. */
char *astro_next_description(const AstroGraph *graph);

G_END_DECLS
