/* Runs the program on several ranks of this machine. */
#pragma once

#include "tests/elements/ranks.h"
#include "tests/graphs/program.h"

static inline gboolean has_ranks(void)
{
#ifndef HAVE_MPI
  g_test_skip("gst-astro was built without MPI");
  return FALSE;
#endif
  return test_has_ranks();
}

static inline char *command_of(const char *before, const char *arguments)
{
  g_autofree char *quoted = g_shell_quote(program);
  return g_strconcat("cd ", folder, " && ", before, "exec ", quoted, " run ", arguments, NULL);
}

static inline void assert_same(const char *a, const char *b)
{
  g_autofree char *x = in_folder(a), *y = in_folder(b);
  test_assert_same_files(x, y);
}
