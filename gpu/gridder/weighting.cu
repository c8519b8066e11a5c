/* Uniform and Briggs weights, which depend on how many visibilities fall into the same cell. Sums
 * of weights are integers, so that they do not depend on the order of threads. */
#include "gpu/gridder/prepare.h"

#include <math.h>

enum { THREADS = 256, MOST_BLOCKS = 1024, PARTS = 512 };

struct Density {
  AstroGridRows rows;
  guint from, channels; /* channels of rows whose cells are shared */
  guint size;
  double cell;
  AstroFixed *cells;
  double2 *parts; /* sums and sums of squares of cells, of each part */
  double *slope;  /* of Briggs' weights; NULL: they are uniform */
  const float *weights;
  float *factors;
  void *values;
  AstroCudaTotals *totals;
};

__device__ inline gsize place(const Density &d, double u, double v)
{
  const double most = d.size - 1, middle = d.size / 2;
  const gsize x = (gsize)fmin(fmax(floor(u / d.cell + middle + 0.5), 0.0), most);
  const gsize y = (gsize)fmin(fmax(floor(v / d.cell + middle + 0.5), 0.0), most);
  return y * d.size + x;
}

/* The visibilities of a thread: all of one channel, so that their sum stays in a register. */
struct Share {
  guint64 row, step; /* the first, and between them */
  guint channel;
};

__device__ inline Share share_of(const Density &d)
{
  const guint64 thread = (guint64)blockIdx.x * THREADS + threadIdx.x;
  Share share;
  share.step = (guint64)gridDim.x * THREADS / d.channels;
  share.row = thread / d.channels < share.step ? thread / d.channels : d.rows.rows;
  share.channel = d.from + (guint)(thread % d.channels);
  return share;
}

static __global__ void __launch_bounds__(THREADS) fill_cells(const __grid_constant__ Density d)
{
  const Share share = share_of(d);
  const double per = d.rows.wavenumbers[share.channel];
  for (guint64 row = share.row; row < d.rows.rows; row += share.step) {
    const float weight = d.weights[row * d.rows.channels + share.channel];
    const double u = d.rows.uvw[3 * row] * per, v = d.rows.uvw[3 * row + 1] * per;
    AstroFixed fixed = {};
    if (weight == 0)
      continue;
    fixed.add(weight);
    fixed.add_to(d.cells + place(d, u, v));
    fixed.add_to(d.cells + place(d, -u, -v));
  }
}

/* The sum over the block, in thread 0 and in a fixed order. */
__device__ inline double2 sum_of_block(double2 value)
{
  __shared__ double2 all[THREADS];
  all[threadIdx.x] = value;
  for (guint step = THREADS / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step)
      all[threadIdx.x] = make_double2(all[threadIdx.x].x + all[threadIdx.x + step].x,
                                      all[threadIdx.x].y + all[threadIdx.x + step].y);
  }
  return all[0];
}

static __global__ void __launch_bounds__(THREADS) sum_cells(const __grid_constant__ Density d)
{
  double2 sum = make_double2(0, 0);
  for (gsize at = (gsize)blockIdx.x * THREADS + threadIdx.x; at < (gsize)d.size * d.size;
       at += (gsize)PARTS * THREADS) {
    const double cell = d.cells[at].value();
    sum = make_double2(sum.x + cell, sum.y + cell * cell);
  }
  sum = sum_of_block(sum);
  if (threadIdx.x == 0)
    d.parts[blockIdx.x] = sum;
}

/* Briggs 1995: robust 0 balances against the noise of the mean cell. */
static __global__ void __launch_bounds__(THREADS)
    find_slope(const __grid_constant__ Density d, double noise)
{
  double2 sum = make_double2(0, 0);
  for (guint at = threadIdx.x; at < PARTS; at += THREADS)
    sum = make_double2(sum.x + d.parts[at].x, sum.y + d.parts[at].y);
  sum = sum_of_block(sum);
  if (threadIdx.x == 0)
    *d.slope = sum.y > 0 ? noise * noise * sum.x / sum.y : 0;
}

template <typename Value>
static __global__ void __launch_bounds__(THREADS) change_weights(const __grid_constant__ Density d)
{
  const Share share = share_of(d);
  const double per = d.rows.wavenumbers[share.channel];
  AstroFixed sum = {};
  for (guint64 row = share.row; row < d.rows.rows; row += share.step) {
    const guint64 at = row * d.rows.channels + share.channel;
    const float weight = d.weights[at];
    if (weight == 0)
      continue;
    const double there =
        d.cells[place(d, d.rows.uvw[3 * row] * per, d.rows.uvw[3 * row + 1] * per)].value();
    const float factor = (float)(d.slope ? 1 / (1 + there * *d.slope) : 1 / there);
    const double ratio = (double)factor / d.factors[at];
    Value *values = (Value *)d.values + at * d.rows.products;
    for (guint p = 0; p < d.rows.products; p++) {
      values[p].x *= (decltype(values->x))ratio;
      values[p].y *= (decltype(values->x))ratio;
    }
    d.factors[at] = factor;
    sum.add((double)weight * factor);
  }
  sum.add_to(&d.totals[share.channel].weights);
}

static gboolean weigh_channels(const AstroCudaWeights *weights, const Density *d,
                               cudaStream_t stream, GError **error)
{
  const guint64 n = d->rows.rows * d->channels;
  const guint least = (d->channels + THREADS - 1) / THREADS; /* a thread for each channel */
  const guint blocks = (guint)MAX(MIN((n + THREADS - 1) / THREADS, (guint64)MOST_BLOCKS), least);
  if (!CUDA_TRY(cudaMemsetAsync(d->cells, 0, sizeof *d->cells * d->size * d->size, stream)))
    return FALSE;
  fill_cells<<<blocks, THREADS, 0, stream>>>(*d);
  if (d->slope) {
    sum_cells<<<PARTS, THREADS, 0, stream>>>(*d);
    find_slope<<<1, THREADS, 0, stream>>>(*d, 5 * pow(10, -weights->robust));
  }
  if (d->rows.is_double)
    change_weights<double2><<<blocks, THREADS, 0, stream>>>(*d);
  else
    change_weights<float2><<<blocks, THREADS, 0, stream>>>(*d);
  return CUDA_TRY(cudaGetLastError());
}

gboolean astro_cuda_weights_apply(const AstroCudaWeights *weights, const AstroGridRows *rows,
                                  const AstroPlace *place, GError **error)
{
  const guint size = astro_grid_wanted(weights->grid);
  const gsize cells = (gsize)size * size;
  cudaStream_t stream = astro_cuda_stream(place->queue);
  gpointer memory = NULL;
  Density d = {};
  if (weights->weighting == ASTRO_WEIGHTING_NATURAL || rows->rows == 0)
    return TRUE;
  if (!place->device->funcs->alloc(
          place->device, (cells + 1) * sizeof *d.cells + PARTS * sizeof *d.parts, &memory, error)) {
    g_prefix_error(error, "weights of %u x %u cells: ", size, size);
    return FALSE;
  }
  d.rows = *rows;
  d.channels = weights->per_channel ? 1 : rows->channels;
  d.size = size;
  d.cell = 1 / (d.size * weights->grid->pixel);
  d.cells = (AstroFixed *)memory;
  d.parts = (double2 *)(d.cells + cells);
  d.slope = weights->weighting == ASTRO_WEIGHTING_BRIGGS ? (double *)(d.parts + PARTS) : NULL;
  d.weights = weights->weights;
  d.factors = weights->factors;
  d.values = weights->values;
  d.totals = weights->totals;
  gboolean ok = CUDA_TRY(cudaMemset2DAsync(&d.totals->weights, sizeof *d.totals, 0,
                                           sizeof d.totals->weights, weights->n_totals, stream));
  for (d.from = 0; ok && d.from < rows->channels; d.from += d.channels)
    ok = weigh_channels(weights, &d, stream, error);
  place->device->funcs->free(place->device, memory); /* waits for the kernels */
  return ok;
}
