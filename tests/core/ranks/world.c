/* Rank and number of ranks by the environment of each launcher, and how an axis is dealt out. */
#include "core/ranks/world.h"
#include "core/kit/share.h"

static const char *const names[] = { "OMPI_COMM_WORLD_RANK",
                                     "OMPI_COMM_WORLD_SIZE",
                                     "PMIX_RANK",
                                     "PMIX_SIZE",
                                     "SLURM_STEP_NUM_TASKS",
                                     "PMI_RANK",
                                     "PMI_SIZE" };

static void check(const char *environment, guint rank, guint ranks)
{
  g_auto(GStrv) all = g_strsplit(environment, " ", -1);
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    g_unsetenv(names[i]);
  for (char **one = all; *one; one++) {
    g_auto(GStrv) parts = g_strsplit(*one, "=", 2);
    if (parts[0])
      g_setenv(parts[0], parts[1], TRUE);
  }
  const AstroWorld world = astro_world_find();
  g_assert_cmpuint(world.rank, ==, rank);
  g_assert_cmpuint(world.ranks, ==, ranks);
}

static void test_environment(void)
{
  check("", 0, 1);
  check("OMPI_COMM_WORLD_RANK=2 OMPI_COMM_WORLD_SIZE=3", 2, 3);
  check("PMIX_RANK=5 SLURM_STEP_NUM_TASKS=8", 5, 8);
  check("PMI_RANK=1 PMI_SIZE=2", 1, 2);
  /* a batch script of Slurm is one process */
  check("SLURM_STEP_NUM_TASKS=8", 0, 1);
  check("OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=3", 0, 1);
  check("OMPI_COMM_WORLD_RANK=-1 OMPI_COMM_WORLD_SIZE=3", 0, 1);
  check("OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=0", 0, 1);
  check("OMPI_COMM_WORLD_RANK=zero OMPI_COMM_WORLD_SIZE=2", 0, 1);
}

/* Each element belongs to one rank, in order, and no rank has two more than another. */
static void test_shares(void)
{
  for (guint ranks = 1; ranks < 9; ranks++)
    for (guint64 n = 0; n < 20; n++) {
      guint64 next = 0;
      for (guint rank = 0; rank < ranks; rank++) {
        const AstroShare share = astro_share_of(n, rank, ranks);
        g_assert_cmpuint(share.first, ==, next);
        g_assert_cmpuint(share.n, >=, n / ranks);
        g_assert_cmpuint(share.n, <=, n / ranks + 1);
        next += share.n;
      }
      g_assert_cmpuint(next, ==, n);
    }
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/ranks/environment", test_environment);
  g_test_add_func("/ranks/shares", test_shares);
  return g_test_run();
}
