/* Finds graphs and our plugin: in the build tree that the program belongs to, else in the install,
 * wherever its prefix is now. Graphs in $GST_ASTRO_GRAPHS, a list of directories, come first. */
#pragma once

#include "graphs/arguments.h"
#include "graphs/graph.h"

G_BEGIN_DECLS

/* Whether graph is the path of a file, or - for the standard input, rather than a name. */
gboolean astro_is_graph_path(const char *graph);

/* graph: a name, a path (with a / or ending .graph) or - for the standard input. */
AstroGraph *astro_find_graph(const char *graph, GError **error);

/* Calls use, with GStreamer initialised, with the graph that the user named and the user's values
 * in it, and the directory in which our plugin had to be found (NULL: GStreamer knew it). Returns
 * the exit status. */
int astro_with_asked_graph(const AstroArguments *arguments,
                           int (*use)(const AstroGraph *graph, const char *plugin,
                                      const AstroArguments *arguments));

/* Makes our elements known unless they are already. Returns the directory that was needed, or NULL.
 */
char *astro_find_plugin(void);

/* Names of all graphs, sorted. */
char **astro_find_graph_names(void);

/* The path of a file that is installed beside the graphs, such as machines/h100.machine; NULL if
 * there is none. */
char *astro_find_beside_graphs(const char *file);

/* How a shell in the current folder calls this program: its name, or a path. */
char *astro_find_command(void);

G_END_DECLS
