/* Finds rank and number of ranks in the environment. */
#include "core/ranks/world.h"

/* The most ranks that are believed. */
#define MOST_RANKS (1u << 20)

/* Slurm's own numbers are there in a batch script too, which is one process for all tasks: they
 * count only in a process that PMIx has numbered. */
static const struct {
  const char *rank, *ranks;
} launchers[] = {
  { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
  { "PMIX_RANK", "PMIX_SIZE" },
  { "PMIX_RANK", "SLURM_STEP_NUM_TASKS" },
  { "PMI_RANK", "PMI_SIZE" },
};

static gboolean read_number(const char *name, guint64 most, guint *number)
{
  const char *text = g_getenv(name);
  guint64 value;
  if (!text || !g_ascii_string_to_unsigned(text, 10, 0, most, &value, NULL))
    return FALSE;
  *number = (guint)value;
  return TRUE;
}

AstroWorld astro_world_find(void)
{
  AstroWorld world;
  for (guint i = 0; i < G_N_ELEMENTS(launchers); i++)
    if (read_number(launchers[i].ranks, MOST_RANKS, &world.ranks) && world.ranks > 0 &&
        read_number(launchers[i].rank, world.ranks - 1, &world.rank))
      return world;
  return (AstroWorld){ 0, 1 };
}

guint astro_world_local_rank(void)
{
  static const char *const names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID" };
  guint rank = 0;
  if (astro_world_find().ranks > 1)
    for (guint i = 0; i < G_N_ELEMENTS(names) && !read_number(names[i], MOST_RANKS, &rank); i++)
      continue;
  return rank;
}
