/* Benchmarks between ranks of this machine: the program starts itself by mpirun, and rank 0 says
 * what was measured. */
#pragma once

#include <stdio.h>

#include "tests/elements/ranks.h"

#define RANKS 2

static inline void ranks_tell(int rank, double bytes, double seconds)
{
  if (rank == 0)
    printf("%.6g\n", bytes / seconds / 1e9);
}

/* Runs the program on all ranks with these arguments: GB/s that a rank sends to the other. also:
 * what else they say; NULL: nobody asks. */
static inline double ranks_measure(const char *program, const char *what, gsize bytes, char **also)
{
  int status;
  g_autofree char *quoted = g_shell_quote(program);
  g_autofree char *command = g_strdup_printf("exec %s %s %" G_GSIZE_FORMAT, quoted, what, bytes);
  g_autofree char *said = test_run_ranks(RANKS, command, &status);
  if (status)
    g_error("%s", said);
  char *rest;
  const double measured = g_ascii_strtod(said, &rest);
  if (also)
    *also = g_strdup(rest);
  return measured;
}
