/* Adds up neighbouring channels of prepared visibilities, in double and in the host's order, so
 * that both have the same rows. A thread makes one sum; neighbouring threads read neighbouring
 * products, and a row's channels lie together, so that what one thread leaves of a line of memory
 * the next ones take. */
#include "gpu/gridder/prepare-tiles.h"

enum { THREADS = 256 };

template <typename Real>
static __global__ void __launch_bounds__(THREADS)
    sum_values(const __grid_constant__ PrepareSums sums)
{
  const guint parts = 2 * sums.products;
  const gsize at = (gsize)blockIdx.x * THREADS + threadIdx.x;
  if (at >= (gsize)sums.rows * sums.groups * parts)
    return;
  const guint part = (guint)(at % parts), g = (guint)(at / parts % sums.groups);
  const gsize row = at / parts / sums.groups;
  const guint from = g * sums.group, to = min(from + sums.group, sums.channels);
  const Real *values = (const Real *)sums.values + row * sums.channels * parts + part;
  double sum = 0;
  for (guint c = from; c < to; c++)
    sum += values[(gsize)c * parts];
  ((Real *)sums.to)[at] = (Real)sum;
}

static __global__ void __launch_bounds__(THREADS)
    sum_weights(const __grid_constant__ PrepareSums sums)
{
  const gsize at = (gsize)blockIdx.x * THREADS + threadIdx.x;
  if (at >= (gsize)sums.rows * sums.groups)
    return;
  const guint from = (guint)(at % sums.groups) * sums.group;
  const guint to = min(from + sums.group, sums.channels);
  double sum = 0;
  for (guint c = from; c < to; c++)
    sum += sums.weights[at / sums.groups * sums.channels + c];
  sums.to_weights[at] = (float)sum;
  sums.to_factors[at] = 1;
}

static guint blocks_for(gsize n)
{
  return (guint)((n + THREADS - 1) / THREADS);
}

gboolean astro_prepare_sums(const PrepareSums *sums, gboolean is_double, cudaStream_t stream,
                            GError **error)
{
  const gsize n = (gsize)sums->rows * sums->groups;
  const guint blocks = blocks_for(n * 2 * sums->products);
  if (is_double)
    sum_values<double><<<blocks, THREADS, 0, stream>>>(*sums);
  else
    sum_values<float><<<blocks, THREADS, 0, stream>>>(*sums);
  if (sums->weights)
    sum_weights<<<blocks_for(n), THREADS, 0, stream>>>(*sums);
  return CUDA_TRY(cudaGetLastError());
}
