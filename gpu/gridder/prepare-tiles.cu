/* Prepares dumps of visibilities that lie on the device. A block has a tile of baselines and
 * channels, which it reads along baselines, as they lie in dumps, and writes along channels, as
 * they lie in rows. Baselines without any usable visibility become rows of zeros, so that the host
 * knows how many rows there are. */
#include "gpu/gridder/prepare-tiles.h"

enum { ROWS = 32, CHANNELS = 8, THREADS = ROWS * CHANNELS, ENOUGH_BLOCKS = 2048 };

enum Fate { USED, FLAGGED, NOT_FINITE, OUTSIDE, NONE };

__device__ inline double2 times(double2 a, double2 b)
{
  return make_double2(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);
}

__device__ inline double2 phase_factor(double turns)
{
  double2 turn;
  sincospi(2 * (turns - rint(turns)), &turn.y, &turn.x);
  return turn;
}

/* Station i and j < i of pair i(i - 1)/2 + j. */
__device__ inline void stations_of(guint pair, guint *i, guint *j)
{
  guint larger = (guint)((1 + sqrt(1 + 8.0 * pair)) / 2);
  while ((guint64)larger * (larger - 1) / 2 > pair)
    larger--;
  while ((guint64)larger * (larger + 1) / 2 <= pair)
    larger++;
  *i = larger;
  *j = (guint)(pair - (guint64)larger * (larger - 1) / 2);
}

/* The same to the last bit as on the host, so that both leave out the same visibilities: no fused
 * arithmetic. */
__device__ inline double along(const double axis[3], const double *p)
{
  return __dadd_rn(__dadd_rn(__dmul_rn(axis[0], p[0]), __dmul_rn(axis[1], p[1])),
                   __dmul_rn(axis[2], p[2]));
}

__device__ inline double good_share(const PrepareRun &work, guint channel, guint baseline,
                                    guint pol)
{
  const AstroDumpCounts &c = work.counts;
  return c.counts[channel / c.channel.group * c.channel.stride +
                  baseline / c.baseline.group * c.baseline.stride + c.pol[pol]] /
         c.full;
}

__device__ inline double weigh(const PrepareRun &work, guint channel, guint baseline,
                               const double2 (&correlations)[4], Fate *fate)
{
  double least = work.counts.counts ? INFINITY : 1;
  bool finite = true;
#pragma unroll
  for (guint k = 0; k < 4; k++)
    finite &= !work.used[k] || (isfinite(correlations[k].x) && isfinite(correlations[k].y));
  for (guint p = 0; work.counts.counts && p < work.n_products; p++) {
    double n = 0, inverse = 0;
#pragma unroll
    for (guint k = 0; k < 4; k++)
      if (work.products[p].used[k]) {
        n++;
        inverse += 1 / good_share(work, channel, baseline, k);
      }
    if (n > 0)
      least = fmin(least, n / inverse);
  }
  if (work.wavenumbers[channel] == 0)
    least = 0;
  *fate = least == 0 ? FLAGGED : !finite ? NOT_FINITE : USED;
  return finite ? least : 0;
}

template <typename Value>
__device__ inline Value value_of(const PrepareRun &work, guint product, double2 factor, double2 psf,
                                 const double2 (&correlations)[4])
{
  const AstroProduct &p = work.products[product];
  double2 value = make_double2(0, 0);
  if (p.is_psf) {
    value = psf;
  } else if (factor.x != 0 || factor.y != 0) {
#pragma unroll
    for (guint k = 0; k < 4; k++)
      if (p.used[k]) {
        const double2 part = times(make_double2(p.factors[k][0], p.factors[k][1]), correlations[k]);
        value = make_double2(value.x + part.x, value.y + part.y);
      }
    value = times(value, factor);
  }
  Value rounded;
  rounded.x = value.x;
  rounded.y = value.y;
  return rounded;
}

/* Puts the values of a visibility into its place in the tile, and returns whether it was used or
 * why not. */
template <typename In, typename Value>
__device__ Fate prepare_visibility(const PrepareRun &work, guint channel, guint baseline,
                                   const double uvw[3], Value *to, float *rounded)
{
  const In *from =
      (const In *)work.dump + ((gsize)channel * work.baselines + baseline) * work.correlations;
  const double sign = uvw[2] < 0 ? -1 : 1, per = sign * work.wavenumbers[channel];
  const double u = uvw[0] * per, v = uvw[1] * per, w = uvw[2] * per;
  double2 correlations[4] = {}, to_centre = make_double2(1, 0), source = make_double2(1, 0);
  Fate fate;

#pragma unroll
  for (guint k = 0; k < 4; k++)
    if (k < work.correlations)
      correlations[k] = make_double2(from[k].x, from[k].y);
  float weight = (float)weigh(work, channel, baseline, correlations, &fate);
  if (weight > 0 && !(fabs(u) <= work.reach && fabs(v) <= work.reach)) {
    fate = OUTSIDE;
    weight = 0;
  }
  if (sign < 0) {
#pragma unroll
    for (guint k = 0; k < 4; k++)
      correlations[k].y = -correlations[k].y;
    if (work.correlations == 4) {
      const double2 swapped = correlations[1];
      correlations[1] = correlations[2];
      correlations[2] = swapped;
    }
  }
  if (weight > 0 && (work.centre_l != 0 || work.centre_m != 0)) {
    to_centre = phase_factor(-(u * work.centre_l + v * work.centre_m));
    source = phase_factor(w * work.centre_n_minus_1);
  }
  to_centre = make_double2(weight * to_centre.x, weight * to_centre.y);
  source = make_double2(weight * source.x, weight * source.y);
  for (guint p = 0; p < work.n_products; p++)
    to[p] = value_of<Value>(work, p, to_centre, source, correlations);
  *rounded = weight;
  return fate;
}

/* Counts what became of a warp's visibilities, which are of one channel. */
__device__ inline void count(AstroCudaTotals *totals, Fate fate, float weight)
{
  const guint used = __popc(__ballot_sync(~0u, fate == USED)),
              outside = __popc(__ballot_sync(~0u, fate == OUTSIDE));
  const guint flagged = __popc(__ballot_sync(~0u, fate == FLAGGED));
  const guint not_finite = __popc(__ballot_sync(~0u, fate == NOT_FINITE));
  AstroFixed sum = {};
  sum.add(weight);
  for (guint step = 16; step > 0; step /= 2) {
    sum.high += __shfl_down_sync(~0u, sum.high, step);
    sum.low += __shfl_down_sync(~0u, sum.low, step);
  }
  if (threadIdx.x % ROWS != 0)
    return;
  sum.add_to(&totals->weights);
  if (used)
    atomicAdd(&totals->used, (unsigned long long)used);
  if (outside)
    atomicAdd(&totals->outside, (unsigned long long)outside);
  if (flagged)
    atomicAdd(&totals->flagged, (unsigned long long)flagged);
  if (not_finite)
    atomicAdd(&totals->not_finite, (unsigned long long)not_finite);
}

template <typename In, typename Value>
static __global__ void __launch_bounds__(THREADS)
    prepare_tiles(const __grid_constant__ PrepareRun work)
{
  __shared__ Value values[ROWS][CHANNELS * ASTRO_MAX_PRODUCTS + 1];
  __shared__ float weights[ROWS][CHANNELS + 1];
  const guint lane = threadIdx.x % ROWS, warp = threadIdx.x / ROWS, first_row = blockIdx.x * ROWS;
  const guint row = first_row + lane, rows = min((guint)ROWS, work.pairs - first_row);
  guint i, j;
  double uvw[3];

  stations_of(min(row, work.pairs - 1), &i, &j);
#pragma unroll
  for (guint k = 0; k < 3; k++)
    uvw[k] = work.given ? work.given[3 * ((gsize)i * (i + 1) / 2 + j) + k]
                        : __dadd_rn(along(work.axes[k], work.positions + 3 * i),
                                    -along(work.axes[k], work.positions + 3 * j));
  if (blockIdx.y == 0 && warp < 3 && row < work.pairs) {
    const double mine = warp == 0 ? uvw[0] : warp == 1 ? uvw[1] : uvw[2];
    work.uvw[3 * (gsize)row + warp] = uvw[2] < 0 ? -mine : mine;
  }
  for (guint first = blockIdx.y * CHANNELS; first < work.channels; first += gridDim.y * CHANNELS) {
    const guint channels = min((guint)CHANNELS, work.channels - first), channel = first + warp;
    if (warp < channels) {
      Fate fate = NONE;
      float weight = 0;
      if (row < work.pairs)
        fate = prepare_visibility<In>(work, channel, i * (i + 1) / 2 + j, uvw,
                                      &values[lane][warp * work.n_products], &weight);
      weights[lane][warp] = weight;
      count(work.totals + channel, fate, weight);
    }
    __syncthreads();
    const guint wide = channels * work.n_products;
    for (guint at = threadIdx.x; at < rows * wide; at += THREADS)
      ((Value *)
           work.values)[((gsize)(first_row + at / wide) * work.channels + first) * work.n_products +
                        at % wide] = values[at / wide][at % wide];
    for (guint at = threadIdx.x; work.weights && at < rows * channels; at += THREADS) {
      const gsize to = (gsize)(first_row + at / channels) * work.channels + first + at % channels;
      work.weights[to] = weights[at / channels][at % channels];
      if (work.factors)
        work.factors[to] = 1;
    }
    __syncthreads();
  }
}

gboolean astro_prepare_tiles(const PrepareRun *run, gboolean from_double, gboolean to_double,
                             cudaStream_t stream, GError **error)
{
  /* A block computes (u,v,w) once for all its tiles. */
  const guint tiles = (run->channels + CHANNELS - 1) / CHANNELS,
              along = (run->pairs + ROWS - 1) / ROWS;
  const dim3 blocks(along, CLAMP(ENOUGH_BLOCKS / along, 1, MIN(tiles, G_MAXUINT16)));
  if (to_double && from_double)
    prepare_tiles<double2, double2><<<blocks, THREADS, 0, stream>>>(*run);
  else if (to_double)
    prepare_tiles<float2, double2><<<blocks, THREADS, 0, stream>>>(*run);
  else if (from_double)
    prepare_tiles<double2, float2><<<blocks, THREADS, 0, stream>>>(*run);
  else
    prepare_tiles<float2, float2><<<blocks, THREADS, 0, stream>>>(*run);
  return CUDA_TRY(cudaGetLastError());
}
