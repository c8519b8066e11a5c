/* gst-astro devices: lists the CPU and the GPUs. */
#include "graphs/devices.h"
#include "core/backend/module.h"
#include "core/backend/cpu.h"
#include "core/backend/threads.h"

#include <stdio.h>
#include <stdlib.h>

/* A machine without a GPU is not an error: the list says why there is none. */
int astro_devices(const AstroArguments *arguments)
{
  g_autoptr(GError) error = NULL;
  const AstroModule *module = astro_module_get(&error);
  gint n = module ? module->n_devices(&error) : -1;

  printf("cpu     %u core%s, kernels up to %s\n", astro_threads(), astro_threads() == 1 ? "" : "s",
         astro_cpu_level_name(astro_cpu_level()));
  for (gint i = 0; i < n; i++) {
    g_autofree char *text = module->describe(i);
    printf("cuda %d  %s\n", i, text ? text : "does not answer");
  }
  if (n <= 0)
    printf("cuda    none: %s\n", error ? error->message : "this machine has no CUDA device");
  return EXIT_SUCCESS;
}
