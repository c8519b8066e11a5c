/* cuBLAS, if it is installed: its matrix products are limits for our kernels. */
#pragma once

#include "tests/bench/library.h"

typedef struct {
  int (*create)(void **handle);
  int (*destroy)(void *handle);
  int (*set_stream)(void *handle, void *stream);
  int (*gemm)(void *handle, int trans_a, int trans_b, int m, int n, int k, const void *alpha,
              const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
              const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);
} Cublas;

static inline gboolean load_cublas(Cublas *cublas)
{
  static const char *const names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so", NULL };
  const BenchFunction functions[] = {
    { "cublasCreate_v2", (void **)&cublas->create },
    { "cublasDestroy_v2", (void **)&cublas->destroy },
    { "cublasSetStream_v2", (void **)&cublas->set_stream },
    { "cublasGemmEx", (void **)&cublas->gemm },
  };
  return bench_load(names, functions, G_N_ELEMENTS(functions));
}
