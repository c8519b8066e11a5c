/* The parameters rank and ranks, which every graph may refer to: its place in an MPI job.
 *
 *   @if ranks
 *   ! astroselect stations=${rank}/${ranks}
 *   @end
 *
 * mpirun sets them; ranks is empty in a process that was started alone. What a user types wins, to
 * see what a graph becomes; running it needs the job that it is for. */
#pragma once

#include "graphs/graph.h"

G_BEGIN_DECLS

/* Before a graph is scanned: adds both. */
void astro_graph_add_job(AstroGraph *graph);

/* After it: drops those that the graph does not use, and puts the others behind its own. TRUE. */
gboolean astro_graph_settle_job(AstroGraph *graph);

gboolean astro_parameter_is_of_job(const AstroParameter *parameter);

/* Whether the graph, which is settled, may run in this process: one of several shares the work with
 * the others, and is the one that it takes itself for. */
gboolean astro_graph_check_job(const AstroGraph *graph, GError **error);

/* The GPUs that CUDA shows (CUDA_VISIBLE_DEVICES, or NULL: all n) in another order: that of a rank
 * comes first, so that ranks of a host take them in turn. */
char *astro_job_order_gpus(const char *visible, guint n, guint local_rank);
/* Sets that for this process; before CUDA is loaded. */
void astro_job_take_gpu(void);

/* Lines of what has to be the same on all ranks: graph and parameters. */
char *astro_graph_job_text(const AstroGraph *graph);

G_END_DECLS
