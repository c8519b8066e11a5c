/* Starts programs, and sends them signals once they handle these. */
#pragma once

#include "tests/graphs/program.h"

static inline GPid start_with(const char *graph, int *err, GSpawnChildSetupFunc setup)
{
  char *argv[] = { program, "run", (char *)graph, NULL };
  GPid pid;
  g_assert_true(g_spawn_async_with_pipes(folder, argv, NULL, G_SPAWN_DO_NOT_REAP_CHILD, setup, NULL,
                                         &pid, NULL, NULL, err, NULL));
  return pid;
}

static inline GPid start(const char *graph, int *err)
{
  return start_with(graph, err, end_with_parent);
}

/* Whether the process handles signals yet. In a build tree it begins as libtool's shell script, and
 * the shell may have handlers of its own. */
static inline gboolean handles_interrupt(GPid pid)
{
  g_autofree char *link = g_strdup_printf("/proc/%d/exe", pid);
  g_autofree char *path = g_strdup_printf("/proc/%d/status", pid), *text = NULL;
  g_autofree char *running = g_file_read_link(link, NULL);
  if (!running || !g_str_has_suffix(running, "gst-astro") ||
      !g_file_get_contents(path, &text, NULL, NULL))
    return FALSE;
  const char *caught = strstr(text, "SigCgt:");
  guint64 set = caught ? g_ascii_strtoull(caught + strlen("SigCgt:"), NULL, 16) : 0;
  return set & 1 << (SIGINT - 1) && set & 1 << (SIGTERM - 1);
}
