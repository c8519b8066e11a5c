/* cuFFT, where it is: its bare transforms are limits that ours are held to. */
#pragma once

#include <dlfcn.h>
#include <glib.h>

typedef struct {
  int (*plan_2d)(int *plan, int rows, int columns, int type);
  int (*set_stream)(int plan, void *stream);
  int (*destroy)(int plan);
  int (*exec)(int plan, void *in, void *out, int direction);
} Cufft;

enum { CUFFT_C2C = 0x29, CUFFT_Z2Z = 0x69, CUFFT_FORWARD = -1 };

static inline gboolean load_cufft(Cufft *cufft)
{
  static const char *const names[] = { "libcufft.so.12", "libcufft.so.11", "libcufft.so" };
  void *library = NULL;
  for (guint i = 0; !library && i < G_N_ELEMENTS(names); i++)
    library = dlopen(names[i], RTLD_NOW);
  if (!library)
    return FALSE;
  *(void **)&cufft->plan_2d = dlsym(library, "cufftPlan2d");
  *(void **)&cufft->set_stream = dlsym(library, "cufftSetStream");
  *(void **)&cufft->destroy = dlsym(library, "cufftDestroy");
  *(void **)&cufft->exec = dlsym(library, "cufftXtExec");
  return cufft->plan_2d && cufft->set_stream && cufft->destroy && cufft->exec;
}
