/* OpenBLAS with the fastest kernels that it has for this processor.
 *
 * It chooses kernels by the processor's model, and treats one that is newer than itself as the
 * oldest that it knows: cherk then runs at a twentieth of its speed, and any comparison looks good.
 * So its kernels are tried one by one, each in a process of its own, since those with instructions
 * that the processor lacks end it. The fastest are used, and named beside every figure. */
#pragma once

#include "tests/bench/library.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void (*OpenblasCherk)(int order, int uplo, int trans, int n, int k, float alpha,
                              const void *a, int lda, float beta, void *c, int ldc);
enum { OPENBLAS_COLUMN_MAJOR = 102, OPENBLAS_LOWER = 122, OPENBLAS_NO_TRANSPOSE = 111 };

typedef struct {
  OpenblasCherk cherk;
  char *(*config)(void), *(*kernels)(void);
} Openblas;

/* NULL: its own choice, or that of OPENBLAS_CORETYPE in the environment. */
static const char *const openblas_kernels[] = {
  NULL,      "SapphireRapids", "Cooperlake", "SkylakeX", "Zen",
  "Haswell", "NEOVERSEV1",     "NEOVERSEN1", "ARMV8"
};

static inline gboolean openblas_load(Openblas *blas, const char *kernels)
{
  static const char *const names[] = { "libopenblas.so.0", NULL };
  const BenchFunction functions[] = { { "cblas_cherk", (void **)&blas->cherk },
                                      { "openblas_get_config", (void **)&blas->config },
                                      { "openblas_get_corename", (void **)&blas->kernels } };
  if (kernels)
    g_setenv("OPENBLAS_CORETYPE", kernels, TRUE);
  return bench_load(names, functions, G_N_ELEMENTS(functions));
}

typedef struct {
  double rate; /* TOP/s; 0: not available */
  char name[64];
} OpenblasTrial;

/* Measures in a process of its own how fast these kernels are, and by what name OpenBLAS calls
 * those that it used, which are others if it does not know the name. */
static inline OpenblasTrial openblas_measure(const char *kernels)
{
  enum { N = 256, K = 1024, ROUNDS = 5 };
  OpenblasTrial trial = { 0, "" };
  Openblas blas;
  if (!openblas_load(&blas, kernels))
    return trial;
  float *in = g_new(float, 2 * N * K), *out = g_new(float, 2 * N * N);
  for (guint i = 0; i < 2 * N * K; i++)
    in[i] = (float)(i % 17) - 8;
  gint64 least = G_MAXINT64;
  for (guint i = 0; i < ROUNDS; i++) {
    const gint64 start = g_get_monotonic_time();
    blas.cherk(OPENBLAS_COLUMN_MAJOR, OPENBLAS_LOWER, OPENBLAS_NO_TRANSPOSE, N, K, 1, in, N, 0, out,
               N);
    least = MIN(least, g_get_monotonic_time() - start);
  }
  trial.rate = 8.0 * N * (N + 1) / 2 * K / (double)MAX(least, 1) * 1e-6;
  g_strlcpy(trial.name, blas.kernels(), sizeof trial.name);
  g_free(in);
  g_free(out);
  return trial;
}

static inline OpenblasTrial openblas_try(const char *kernels)
{
  OpenblasTrial trial = { 0, "" };
  int ends[2], status;
  if (pipe(ends))
    return trial;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) {
    trial = openblas_measure(kernels);
    _exit(write(ends[1], &trial, sizeof trial) == sizeof trial ? 0 : 1);
  }
  close(ends[1]);
  if (child < 0 || read(ends[0], &trial, sizeof trial) != sizeof trial)
    trial.rate = 0;
  close(ends[0]);
  if (child > 0)
    waitpid(child, &status, 0);
  return trial;
}

/* Has to be called before this process has threads. FALSE: there is no OpenBLAS. `own` is what it
 * would have chosen itself. */
static inline gboolean openblas_open(Openblas *blas, OpenblasTrial *own, OpenblasTrial *best)
{
  const char *kernels = NULL;
  *own = *best = openblas_try(NULL);
  for (guint i = 1; i < G_N_ELEMENTS(openblas_kernels); i++) {
    const OpenblasTrial trial = openblas_try(openblas_kernels[i]);
    if (trial.rate > best->rate) {
      *best = trial;
      kernels = openblas_kernels[i];
    }
  }
  return best->rate > 0 && openblas_load(blas, kernels);
}
