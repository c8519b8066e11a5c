/* Where graphs and our plugin are: in the build tree that the program was built in, else in the
 * install, wherever its prefix lies now. Graphs of $GST_ASTRO_GRAPHS, a list of directories, come
 * first. */
#pragma once

#include "graphs/arguments.h"
#include "graphs/graph.h"

G_BEGIN_DECLS

/* Whether graph is the path of a file, or - for the standard input, and not a name. */
gboolean astro_is_graph_path(const char *graph);

/* graph: a name, a path (with a / or ending .graph) or - for the standard input. */
AstroGraph *astro_find_graph(const char *graph, GError **error);

/* Calls use, within GStreamer, with the graph that the user named, its line with the values that
 * they gave, which were looked at, and the directory that our plugin had to be found in (NULL:
 * GStreamer knew it); the status to exit with. */
int astro_with_asked_line(const AstroArguments *arguments,
                          int (*use)(const AstroGraph *graph, const char *line, const char *plugin,
                                     const AstroArguments *arguments));

/* The names there are, sorted. */
char **astro_find_graph_names(void);

/* How this program is called by a shell that is in this folder: its name, or a path. */
char *astro_find_command(void);

G_END_DECLS
