/* Loads libraries that may not be installed, whose speed is a limit or a comparison for ours. */
#pragma once

#include <dlfcn.h>
#include <glib.h>

typedef struct {
  const char *symbol;
  void **function; /* is set to it */
} BenchFunction;

/* Loads the first of the names, which end with NULL. FALSE: none can be loaded, or a function is
 * missing. */
static inline gboolean bench_load(const char *const *names, const BenchFunction *functions, gsize n)
{
  void *library = NULL;
  for (; !library && *names; names++)
    library = dlopen(*names, RTLD_NOW);
  for (gsize i = 0; library && i < n; i++)
    if (!(*functions[i].function = dlsym(library, functions[i].symbol)))
      return FALSE;
  return library != NULL;
}
