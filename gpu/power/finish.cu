/* Makes integrations of the sums of pieces, and keeps those of an integration that stays open. */
#include "gpu/power/power.h"

enum { MOST = 65535 };

/* A sum of a piece for one station and channel: splits in their order, after what was open. */
__device__ inline double sum_of(const PowerJob &job, const PowerEnding &ending, guint32 piece,
                                guint32 sum, guint64 cell)
{
  const guint64 cells = (guint64)job.stations * job.channels;
  double total = job.first_piece + piece == 0 ? ending.open[sum * cells + cell] : 0;
  for (guint32 split = 0; split < job.splits; split++)
    total += job.parts[(((guint64)piece * job.splits + split) * job.sums + sum) * cells + cell];
  return total;
}

/* A thread makes all products of a station and channel of the output. x: threads; y: pieces. */
static __global__ void __launch_bounds__(POWER_THREADS)
    end_integrations(const __grid_constant__ PowerJob job,
                     const __grid_constant__ PowerEnding ending)
{
  const guint64 outputs = (guint64)ending.stations * ending.channels,
                at = (guint64)blockIdx.x * POWER_THREADS + threadIdx.x;
  if (at >= outputs)
    return;
  const guint32 station = (guint32)(at / ending.channels),
                channel = (guint32)(at % ending.channels);
  for (guint32 piece = blockIdx.y; piece < job.pieces; piece += gridDim.y) {
    const guint64 number = job.first_piece + piece;
    double sums[ASTRO_POWER_SUMS] = {};
    if (number >= ending.ended)
      return;
    for (guint32 s = station * ending.station_step; s < (station + 1) * ending.station_step; s++)
      for (guint32 c = channel * ending.channel_step; c < (channel + 1) * ending.channel_step; c++)
        for (guint32 i = 0; i < job.sums; i++)
          sums[i] += sum_of(job, ending, piece, i, (guint64)s * job.channels + c);
    const guint32 good = ending.counts[number * outputs + at];
    for (guint32 p = 0; p < ending.products; p++) {
      const AstroPowerPlaced &recipe = ending.recipes[p];
      double product = recipe.factor[0] * sums[recipe.which[0]];
      if (recipe.factor[1] != 0) /* a sum that is infinite must not meet a factor of 0 */
        product += recipe.factor[1] * sums[recipe.which[1]];
      ending.out[((number * ending.stations + station) * ending.products + p) * ending.channels +
                 channel] = good ? (float)(product / good) : 0;
    }
  }
}

static __global__ void __launch_bounds__(POWER_THREADS)
    keep_open(const __grid_constant__ PowerJob job, const __grid_constant__ PowerEnding ending)
{
  const guint64 cells = (guint64)job.stations * job.channels,
                at = (guint64)blockIdx.x * POWER_THREADS + threadIdx.x;
  if (at >= cells * job.sums)
    return;
  ending.open[at] = ending.all > ending.ended
                        ? sum_of(job, ending, job.pieces - 1, (guint32)(at / cells), at % cells)
                        : 0;
}

gboolean astro_power_finish(const PowerJob *job, const PowerEnding *ending, cudaStream_t stream,
                            GError **error)
{
  const guint64 outputs = (guint64)ending->stations * ending->channels,
                open = (guint64)job->stations * job->channels * job->sums;
  const dim3 grid((unsigned)((outputs + POWER_THREADS - 1) / POWER_THREADS),
                  MIN(job->pieces, (guint32)MOST));
  if (job->first_piece < ending->ended)
    end_integrations<<<grid, POWER_THREADS, 0, stream>>>(*job, *ending);
  if (job->first_piece + job->pieces == ending->all)
    keep_open<<<(unsigned)((open + POWER_THREADS - 1) / POWER_THREADS), POWER_THREADS, 0, stream>>>(
        *job, *ending);
  return CUDA_TRY(cudaGetLastError());
}
