/* Libraries that may not be there: what they do is a limit or a peer that ours is held to. */
#pragma once

#include <dlfcn.h>
#include <glib.h>

typedef struct {
  const char *symbol;
  void **function; /* gets it */
} BenchFunction;

/* The first of the names, up to a NULL, that can be loaded. FALSE: none can, or a function is not
 * in it. */
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
