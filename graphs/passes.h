/* The pipelines of a graph in the order in which they run. A graph without rounds has one. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* Most times that a round may be repeated. */
#define ASTRO_ROUNDS_MOST 1000

/* One pipeline in one round. */
typedef struct {
  AstroGraph *graph; /* the tokens of this pipeline alone; its line is that of this round */
  char *label;       /* such as "solve, round 2 of 5"; NULL: the graph has no rounds */
  guint pipeline;    /* its number in the file, from 1; the same in every round */
} AstroPass;

/* The passes of a graph that is settled, at least one. folder is what ${folder} stands for. */
GPtrArray *astro_passes_of(const AstroGraph *graph, const char *folder, GError **error);

/* Whether the graph refers to ${folder}. */
gboolean astro_passes_need_folder(const AstroGraph *graph);

G_END_DECLS
