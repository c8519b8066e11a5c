/* Which of several processes of one job this is, as mpirun or srun told it in its environment. A
 * process that was started alone is rank 0 of 1. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  guint rank, ranks;
} AstroWorld;

AstroWorld astro_world_find(void);

G_END_DECLS
