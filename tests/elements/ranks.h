/* Runs a shell command on several ranks of this machine. */
#pragma once

#include <glib.h>
#include <sys/wait.h>

#include "tests/tests.h"

/* Whether there is an mpirun that works on this machine, which may be a container without what it
 * needs; if not, the test is skipped. */
static inline gboolean test_has_ranks(void)
{
  static gboolean has_them;
  if (has_them)
    return TRUE;
  g_autofree char *path = g_find_program_in_path("mpirun"), *said = NULL;
  int waited = 0;
  if (!path) {
    g_test_skip("there is no mpirun");
    return FALSE;
  }
  if (g_spawn_command_line_sync("timeout 60 mpirun -n 2 true", NULL, &said, &waited, NULL) &&
      g_spawn_check_wait_status(waited, NULL))
    return has_them = TRUE;
  g_autofree char *why = g_strdup_printf("mpirun does not run anything here: %s", said ? said : "");
  g_test_skip(g_strdelimit(why, "\n", ' '));
  return FALSE;
}

/* Whether ranks can be gst-launch-1.0 with the plugins of this build. */
static inline gboolean test_has_launching_ranks(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  g_test_skip("gst-launch-1.0 is not built with a sanitizer");
  return FALSE;
#else
  g_autofree char *path = g_find_program_in_path("gst-launch-1.0");
  if (!path)
    g_test_skip("there is no gst-launch-1.0");
  return path && test_has_ranks();
#endif
}

/* Tells Open MPI that this is a small machine, maybe a container. */
static inline void test_allow_ranks(void)
{
  g_setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", TRUE);
  g_setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", TRUE);
  g_setenv("OMPI_MCA_rmaps_base_oversubscribe", "1", TRUE);
  g_setenv("OMPI_MCA_mpi_yield_when_idle", "1", TRUE);
  g_setenv("OMPI_MCA_hwloc_base_binding_policy", "none", TRUE);
  g_setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", TRUE);
  g_setenv("OMPI_MCA_plm", "isolated", TRUE);
  /* MPI's own libraries keep much to the end, and are unloaded before a sanitizer could name them
   */
  test_let_children_leak();
  /* the tracer of leaks looks at this process alone */
  g_unsetenv("GST_TRACERS");
  g_unsetenv("GST_DEBUG");
}

/* The command sees n, the number of ranks, and r, its own. Returns what all of them said, and the
 * exit status of mpirun. */
static inline char *test_run_ranks(guint ranks, const char *command, int *status)
{
  g_autofree char *n = g_strdup_printf("%u", ranks);
  g_autofree char *line =
      g_strconcat("n=$OMPI_COMM_WORLD_SIZE r=$OMPI_COMM_WORLD_RANK; ", command, NULL);
  const char *argv[] = { "timeout", "-k", "5", "100", "mpirun", "-n", n, "sh", "-c", line, NULL };
  g_autoptr(GError) error = NULL;
  g_autofree char *out = NULL, *err = NULL;
  int waited;
  g_assert_true(g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &out, &err,
                             &waited, &error));
  g_assert_no_error(error);
  /* mpirun may die of a signal itself, which timeout then does too. */
  *status = WIFEXITED(waited) ? WEXITSTATUS(waited) : 128 + WTERMSIG(waited);
  return g_strconcat(out, err, NULL);
}

/* The same; all of them have to succeed. */
static inline void test_ranks(guint ranks, const char *command)
{
  int status;
  g_autofree char *said = test_run_ranks(ranks, command, &status);
  if (status)
    g_error("%u ranks: \"%s\" failed: %s", ranks, command, said);
}

/* The same; they have to fail, say so, and leave no such file. */
static inline void test_ranks_fail(guint ranks, const char *command, const char *says,
                                   const char *file)
{
  int status;
  g_autofree char *said = test_run_ranks(ranks, command, &status);
  g_autofree char *part = g_strconcat(file, ".part", NULL);
  if (!status || status == 124)
    g_error("%u ranks: \"%s\" %s", ranks, command, status ? "never ended" : "succeeded");
  test_says(said, says);
  g_assert_false(g_file_test(file, G_FILE_TEST_EXISTS));
}

static inline void test_assert_same_files(const char *a, const char *b)
{
  g_autofree char *x = NULL, *y = NULL;
  gsize m, n;
  g_assert_true(g_file_get_contents(a, &x, &m, NULL) && g_file_get_contents(b, &y, &n, NULL));
  g_assert_cmpmem(x, m, y, n);
}
