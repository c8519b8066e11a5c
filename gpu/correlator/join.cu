/* Joins the visibilities of an integration that several devices have made parts of. */
#include "gpu/correlator/instance.h"

extern "C" {
#include "core/correlator/parts.h"
}

enum { THREADS = 256 };

/* Samples behind a part, for all of its visibilities or (counts) one by one. */
struct Behind {
  double samples;
  const guint32 *counts;
};

struct Join {
  gpointer values; /* of the first part, and of both in the end */
  gconstpointer others;
  guint64 n;         /* complex values */
  guint64 per_count; /* of them, those that share a count */
  guint64 per_channel;
  Behind parts[2];
  gint *failed; /* set to the number of channels from one whose sum does not fit on; NULL: all do */
};

static __global__ void __launch_bounds__(THREADS) join_sums(const __grid_constant__ Join join)
{
  int2 *values = (int2 *)join.values;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < join.n;
       i += (guint64)gridDim.x * THREADS) {
    const int2 a = values[i], b = ((const int2 *)join.others)[i];
    const long long re = (long long)a.x + b.x, im = (long long)a.y + b.y;
    values[i] = make_int2((int)re, (int)im);
    if (join.failed && (re != (int)re || im != (int)im))
      atomicMax(join.failed, (int)((join.n - i - 1) / join.per_channel) + 1);
  }
}

__device__ inline double count_of(const Behind &part, guint64 at)
{
  return part.counts ? (double)part.counts[at] : part.samples;
}

/* A part without good samples adds nothing, whatever it holds. */
__device__ inline float mean_of(double a, float x, double b, float y)
{
  const double sum = (a > 0 ? a * (double)x : 0) + (b > 0 ? b * (double)y : 0);
  return a + b > 0 ? (float)(sum / (a + b)) : 0;
}

static __global__ void __launch_bounds__(THREADS) join_means(const __grid_constant__ Join join)
{
  float2 *values = (float2 *)join.values;
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < join.n;
       i += (guint64)gridDim.x * THREADS) {
    const guint64 at = i / join.per_count;
    const double a = count_of(join.parts[0], at), b = count_of(join.parts[1], at);
    const float2 x = values[i], y = ((const float2 *)join.others)[i];
    values[i] = make_float2(mean_of(a, x.x, b, y.x), mean_of(a, x.y, b, y.y));
  }
}

/* Sends the counts of those parts that have some. */
static gboolean send_counts(Correlator *self, Join *join, const AstroCorrelatorPart parts[2],
                            GError **error)
{
  const gsize bytes = join->n / join->per_count * sizeof *parts->counts;
  for (guint i = 0; i < 2; i++) {
    join->parts[i].samples = (double)parts[i].samples;
    if (!parts[i].counts)
      continue;
    guint8 *to = NULL;
    if (!astro_correlator_need_upload(self, 2 * bytes, error))
      return FALSE;
    to = (guint8 *)self->upload + i * bytes;
    if (!CUDA_TRY(cudaMemcpyAsync(to, parts[i].counts, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue))))
      return FALSE;
    join->parts[i].counts = (const guint32 *)to;
  }
  return TRUE;
}

static guint blocks_for(const Correlator *self, const Join *join)
{
  return (guint)MIN((join->n + THREADS - 1) / THREADS, (guint64)self->multiprocessors * 32);
}

/* Sums that could exceed int32 are checked, and the host has to wait. */
static gboolean add_sums(Correlator *self, Join *join, guint64 samples, GError **error)
{
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  const guint channels = self->config.channels / self->config.channel_step;
  const gboolean fit = self->sum_kind == SUMS_INT32 && samples <= CORRELATOR_INT32_STEPS;
  gint failed = 0;
  join->failed = fit ? NULL : self->failed;
  if (join->failed && !CUDA_TRY(cudaMemsetAsync(join->failed, 0, sizeof failed, stream)))
    return FALSE;
  join_sums<<<blocks_for(self, join), THREADS, 0, stream>>>(*join);
  if (!CUDA_TRY(cudaGetLastError()))
    return FALSE;
  if (!join->failed)
    return TRUE;
  if (!CUDA_TRY(
          cudaMemcpyAsync(&failed, join->failed, sizeof failed, cudaMemcpyDeviceToHost, stream)) ||
      !CUDA_TRY(cudaStreamSynchronize(stream)))
    return FALSE;
  return !failed || astro_correlator_refuse_join(channels - (guint)failed, error);
}

gboolean astro_correlator_join_blocks(Correlator *self, const AstroBlock *in, guint n_in,
                                      const AstroBlock *out, guint n_out,
                                      const AstroCorrelatorPart parts[2], GError **error)
{
  const AstroCorrelatorConfig *config = &self->config;
  const guint64 per_count = (guint64)config->pols * config->pols;
  const guint channels = config->channels / config->channel_step;
  if (!astro_correlator_check_join(config, in, n_in, out, n_out, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (self->given)
    return astro_backend_no_memory(error,
                                   "%s has no room for whole blocks of visibilities, which have "
                                   "to be on it where parts are joined",
                                   self->place.device->name);
  const guint64 n = astro_correlator_output_bytes(config) / sizeof(float2);
  Join join = { .values = out->data,
                .others = in->data,
                .n = n,
                .per_count = per_count,
                .per_channel = n / channels };
  if (config->to == ASTRO_FORMAT_CI32LE)
    return add_sums(self, &join, parts[0].samples + parts[1].samples, error);
  if (!send_counts(self, &join, parts, error))
    return FALSE;
  join_means<<<blocks_for(self, &join), THREADS, 0, astro_cuda_stream(self->place.queue)>>>(join);
  return CUDA_TRY(cudaGetLastError());
}
