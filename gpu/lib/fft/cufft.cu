/* cuFFT is loaded rather than linked: the module also works without it. */
#include "gpu/lib/fft/parts.h"

#include <dlfcn.h>

#define LIBRARY "libcufft.so.12"

static gpointer open_library(void)
{
  static const char *const folders[] = { CUDA_TOOLKIT "/lib64", CUDA_TOOLKIT "/lib",
                                         "/usr/local/cuda/lib64", "/usr/local/cuda/lib" };
  const char *named = g_getenv("ASTRO_CUFFT");
  gpointer library = dlopen(named && *named ? named : LIBRARY, RTLD_NOW | RTLD_LOCAL);

  for (guint i = 0; !library && !(named && *named) && i < G_N_ELEMENTS(folders); i++) {
    g_autofree char *path = g_build_filename(folders[i], LIBRARY, NULL);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  }
  return library;
}

static gboolean find_functions(gpointer library, AstroCufft *cufft)
{
  const struct {
    const char *name;
    void *to;
  } functions[] = {
    { "cufftCreate", &cufft->create },
    { "cufftDestroy", &cufft->destroy },
    { "cufftSetAutoAllocation", &cufft->set_auto_allocation },
    { "cufftMakePlanMany64", &cufft->make_plan },
    { "cufftSetStream", &cufft->set_stream },
    { "cufftSetWorkArea", &cufft->set_work_area },
    { "cufftXtExec", &cufft->exec },
  };
  for (guint i = 0; i < G_N_ELEMENTS(functions); i++)
    if (!(*(void **)functions[i].to = dlsym(library, functions[i].name)))
      return FALSE;
  return TRUE;
}

const AstroCufft *astro_cufft_get(GError **error)
{
  static gsize tried = 0;
  static AstroCufft cufft;
  static gboolean found;

  if (g_once_init_enter(&tried)) {
    gpointer library = open_library();
    found = library && find_functions(library, &cufft);
    g_once_init_leave(&tried, 1);
  }
  if (found)
    return &cufft;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_UNAVAILABLE,
              "cuFFT (" LIBRARY ", or what ASTRO_CUFFT names) cannot be loaded");
  return NULL;
}

gboolean astro_cufft_ok(int status, const char *call, GError **error)
{
  static const char *const causes[] = { NULL,
                                        "invalid plan",
                                        "allocation failed",
                                        "invalid type",
                                        "invalid value",
                                        "internal error",
                                        "execution failed",
                                        "setup failed",
                                        "a size that it cannot transform",
                                        "unaligned data" };
  if (status == 0)
    return TRUE;
  cudaGetLastError();
  if (error && !*error)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_DEVICE, "cuFFT: %s: %s (%d)", call,
                status < (int)G_N_ELEMENTS(causes) ? causes[status] : "not supported", status);
  return FALSE;
}
