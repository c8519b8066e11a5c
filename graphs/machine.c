/* gst-astro machine: measures what this machine can do, for gst-astro plan. */
#include "graphs/machine.h"
#include "core/machine/measure.h"
#include "graphs/find.h"
#include "graphs/format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENDING ".machine"

static AstroMachine *measure(const char *folder)
{
  g_autofree char *trouble = NULL;
  AstroMachine *machine = astro_machine_measure(folder);
  astro_machine_measure_gpu(machine, &trouble);
  if (trouble)
    fprintf(stderr, "gst-astro: the GPU is left out: %s\n", trouble);
  return machine;
}

AstroMachine *astro_machine_find(const char *name, GError **error)
{
  if (!name)
    return measure(NULL);
  if (strchr(name, '/') || g_str_has_suffix(name, ENDING) || g_file_test(name, G_FILE_TEST_EXISTS))
    return astro_machine_read(name, error);
  g_autofree char *file = g_strconcat("machines/", name, ENDING, NULL);
  g_autofree char *path = astro_find_beside_graphs(file);
  if (path)
    return astro_machine_read(path, error);
  astro_fail(
      error, ASTRO_MACHINE_ERROR, ASTRO_MACHINE_ERROR_FILE,
      "no machine %s, expected h100, h200, server-64, or a file that gst-astro machine wrote",
      name);
  return NULL;
}

int astro_machine(const AstroArguments *arguments)
{
  g_autoptr(AstroMachine) machine = measure(".");
  g_autofree char *text = astro_machine_to_text(machine);
  fputs(text, stdout);
  return EXIT_SUCCESS;
}
