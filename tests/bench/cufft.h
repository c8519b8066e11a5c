/* cuFFT, if it is installed: its bare transforms are limits for ours. */
#pragma once

#include "tests/bench/library.h"

typedef struct {
  int (*plan_2d)(int *plan, int rows, int columns, int type);
  int (*set_stream)(int plan, void *stream);
  int (*destroy)(int plan);
  int (*exec)(int plan, void *in, void *out, int direction);
} Cufft;

enum { CUFFT_C2C = 0x29, CUFFT_Z2Z = 0x69, CUFFT_FORWARD = -1 };

static inline gboolean load_cufft(Cufft *cufft)
{
  static const char *const names[] = { "libcufft.so.12", "libcufft.so.11", "libcufft.so", NULL };
  const BenchFunction functions[] = {
    { "cufftPlan2d", (void **)&cufft->plan_2d },
    { "cufftSetStream", (void **)&cufft->set_stream },
    { "cufftDestroy", (void **)&cufft->destroy },
    { "cufftXtExec", (void **)&cufft->exec },
  };
  return bench_load(names, functions, G_N_ELEMENTS(functions));
}
