/* Predicted values: from where they were sorted to where they belong, and from there to the
 * correlations of a block. */
#include "gpu/gridder/degrid/degrid.h"

enum { THREADS = 256 };

static guint blocks_of(guint64 n)
{
  return (guint)((n + THREADS - 1) / THREADS);
}

/* ---- from the sorted values ---- */

/* Undoes the conjugate, and turns by the phases that planes left out: that of w at the middle of
 * n - 1, and that of the image's centre in u and v. */
template <typename Value>
static __global__ void __launch_bounds__(THREADS)
    put(const __grid_constant__ DegridValues to, const __grid_constant__ DegridPut put)
{
  const guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x;
  if (i >= put.sorted.n)
    return;
  const guint32 number = put.sorted.numbers[i];
  if (number == G_MAXUINT32) /* beyond the grid */
    return;
  const guint row = number / put.channels, channel = put.first_channel + number % put.channels;
  const guint64 dump = row / to.pairs, pair = row - dump * to.pairs;
  const double *uvw = to.uvw + 3 * (gsize)row;
  const double turns = (uvw[2] * put.n_middle + uvw[0] * put.centre_l + uvw[1] * put.centre_m) *
                       to.wavenumbers[channel];
  double re, im;
  sincospi(2 * (turns - rint(turns)), &im, &re);
  const bool is_folded = to.folded[row];
  const Value *from = (const Value *)put.sorted.values + i * to.products;
  Value *values =
      (Value *)to.values + ((dump * to.channels + channel) * to.pairs + pair) * to.products;
  for (guint p = 0; p < to.products; p++) {
    const Value value = from[p];
    const double y = im * value.x - re * value.y;
    values[p].x = re * value.x + im * value.y;
    values[p].y = is_folded ? -y : y;
  }
}

gboolean astro_degrid_put(const DegridValues *values, const DegridPut *what, cudaStream_t stream,
                          GError **error)
{
  if (values->is_double)
    put<double2><<<blocks_of(what->sorted.n), THREADS, 0, stream>>>(*values, *what);
  else
    put<float2><<<blocks_of(what->sorted.n), THREADS, 0, stream>>>(*values, *what);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- to correlations ---- */

/* A thread makes the correlations of one baseline in one channel. */
template <typename Value, typename Sample>
static __global__ void __launch_bounds__(THREADS)
    take(const __grid_constant__ DegridValues from, const __grid_constant__ DegridTaking t)
{
  const guint64 at = (guint64)blockIdx.x * THREADS + threadIdx.x;
  const guint64 line = at / t.baselines; /* dump * channels + channel */
  if (line >= t.dumps * from.channels)
    return;
  const guint32 pair = t.pair_of[at - line * t.baselines];
  const guint channel = t.model_channels > 1 ? (guint)(line % from.channels) : 0;
  const Value *values = (const Value *)from.values +
                        ((t.first * from.channels + line) * from.pairs + pair) * from.products;
  const double *totals = t.totals + (gsize)channel * from.products;
  double sums[4][2] = {};
  for (guint p = 0; p < from.products; p++) {
    double re, im;
    if (pair == G_MAXUINT32) {
      re = totals[p];
      im = 0;
    } else {
      const Value value = values[p];
      re = value.x;
      im = value.y;
    }
#pragma unroll
    for (int k = 0; k < 4; k++) {
      sums[k][0] += t.factors[k][p][0] * re - t.factors[k][p][1] * im;
      sums[k][1] += t.factors[k][p][0] * im + t.factors[k][p][1] * re;
    }
  }
  const gsize to = at * t.n_correlations;
  const Sample *in = (const Sample *)t.in + to;
  Sample *out = (Sample *)t.out + to;
#pragma unroll
  for (int k = 0; k < 4; k++)
    if (k < t.n_correlations) {
      Sample sample;
      if (t.subtract) {
        const Sample measured = in[k];
        sample.x = measured.x - sums[k][0];
        sample.y = measured.y - sums[k][1];
      } else {
        sample.x = sums[k][0];
        sample.y = sums[k][1];
      }
      out[k] = sample;
    }
}

gboolean astro_degrid_take(const DegridValues *values, const DegridTaking *taking,
                           cudaStream_t stream, GError **error)
{
  static void (*const kernels[2][2])(DegridValues, DegridTaking) = {
    { take<float2, float2>, take<float2, double2> },
    { take<double2, float2>, take<double2, double2> },
  };
  const guint blocks = blocks_of(taking->dumps * values->channels * taking->baselines);
  if (blocks)
    kernels[values->is_double != 0][taking->is_double != 0]<<<blocks, THREADS, 0, stream>>>(
        *values, *taking);
  return CUDA_TRY(cudaGetLastError());
}
