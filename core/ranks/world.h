/* Which of several processes of one job this is, as mpirun or srun told it in its environment. A
 * process that was started alone is rank 0 of 1. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint rank, ranks;
} AstroWorld;

AstroWorld astro_world_find(void);

/* The number of this process among those of its host, from 0. */
guint astro_world_local_rank(void);

/* A GstContext of a pipeline whose field "text" has a line for each thing that has to be the same
 * on all ranks, as graph and parameters of gst-astro. */
#define ASTRO_JOB_CONTEXT "astro-job"

G_END_DECLS
