/* gst-astro run: the pipelines of a graph, one after another, and the folder that they share. */
#include "graphs/sequence.h"
#include "core/ranks/world.h"
#include "graphs/clock.h"
#include "graphs/find.h"
#include "graphs/format.h"
#include "graphs/interrupt.h"
#include "graphs/job.h"
#include "graphs/next.h"
#include "graphs/run.h"
#include "graphs/service.h"
#include <errno.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

/* Files may be Measurement Sets, which are folders. */
static void remove_tree(const char *path)
{
  if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK)) {
    g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
    for (const char *name; folder && (name = g_dir_read_name(folder));) {
      g_autofree char *below = g_build_filename(path, name, NULL);
      remove_tree(below);
    }
  }
  g_remove(path);
}

/* Makes the folder that --keep names, or a temporary one. */
static char *make_folder(const AstroArguments *arguments, char **trouble)
{
  if (!arguments->keep) {
    g_autoptr(GError) error = NULL;
    char *made = g_dir_make_tmp("gst-astro-XXXXXX", &error);
    if (!made)
      *trouble = g_strdup_printf("no folder for the files between rounds: %s", error->message);
    return made;
  }
  if (g_mkdir_with_parents(arguments->keep, 0777) == 0)
    return g_canonicalize_filename(arguments->keep, NULL);
  *trouble = g_strdup_printf("--keep %s: %s", arguments->keep, g_strerror(errno));
  return NULL;
}

/* A mistake in the last pipeline is found before the first has worked for an hour. With one
 * pipeline, running it finds it. */
static char *check_all(const GPtrArray *passes)
{
  char *trouble = NULL;
  g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL);
  for (guint i = 0; passes->len > 1 && !trouble && i < passes->len; i++) {
    const AstroPass *pass = passes->pdata[i];
    if (g_hash_table_add(seen, GUINT_TO_POINTER(pass->pipeline)))
      trouble = astro_pass_check(pass);
  }
  return trouble;
}

static int run_all(const GPtrArray *passes, const char *passing, const AstroArguments *arguments)
{
  int status = EXIT_SUCCESS;
  for (guint i = 0; i < passes->len && status == EXIT_SUCCESS; i++) {
    status = astro_pass_run(passes->pdata[i], passing, arguments);
    if (status != EXIT_SUCCESS || i + 1 == passes->len || !astro_interrupt_presses())
      continue;
    const AstroPass *next = passes->pdata[i + 1];
    g_autofree char *text =
        g_strdup_printf("interrupted: %s and what comes after it was not run", next->label);
    status = astro_refuse(text);
  }
  return status;
}

static void tell_next(const AstroGraph *graph)
{
  g_auto(GStrv) commands = astro_next_commands(graph);
  for (guint i = 0; commands[i]; i++)
    printf("%s  %s\n", i ? "" : "to try next:\n", commands[i]);
}

static int run_passes(const AstroGraph *graph, const char *folder, const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(GPtrArray) passes = astro_passes_of(graph, folder ? folder : "", &error);
  if (!passes)
    return astro_refuse(error->message);
  g_autofree char *trouble = check_all(passes);
  if (trouble)
    return astro_refuse(trouble);
  const int status = run_all(passes, arguments->keep ? NULL : folder, arguments);
  if (status == EXIT_SUCCESS && !arguments->quiet)
    tell_next(graph);
  return status;
}

static int run_graph(const AstroGraph *graph, const char *plugin, const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  if (!astro_graph_check_job(graph, &error))
    return astro_refuse(error->message);
  g_autofree char *trouble = NULL;
  const gboolean needs_folder = astro_passes_need_folder(graph);
  if (arguments->keep && !needs_folder)
    trouble = g_strdup_printf("--keep: %s passes no files between pipelines, so that there is "
                              "nothing to keep",
                              graph->file);
  g_autofree char *folder = needs_folder ? make_folder(arguments, &trouble) : NULL;
  const int status = trouble ? astro_refuse(trouble) : run_passes(graph, folder, arguments);
  if (folder && !arguments->keep)
    remove_tree(folder);
  return status;
}

int astro_run(const AstroArguments *arguments)
{
  AstroArguments own = *arguments;
  astro_job_take_gpu();
  /* The first rank of an MPI job tells how far all are, and can be asked. */
  if (astro_world_find().rank > 0) {
    own.quiet = TRUE;
    own.control = own.control_token = NULL;
  }
  const int status = astro_with_asked_graph(&own, run_graph);
  astro_service_stopping();
  astro_interrupt_unwatch();
  astro_clock_release();
  return status;
}
