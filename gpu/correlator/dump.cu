/* The CUDA correlator's sums: carried before they overflow, and turned into visibilities at the end
 * of an integration. */
#include "gpu/correlator/instance.h"

enum { THREADS = 256 };

static __global__ void __launch_bounds__(THREADS)
    carry(CorrelatorComplex<long long> *carried, const CorrelatorComplex<int> *sums, guint64 n,
          bool add)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n;
       i += (guint64)gridDim.x * THREADS) {
    CorrelatorComplex<long long> sum = { 0, 0 };
    if (add)
      sum = carried[i];
    carried[i] = { sum.re + sums[i].re, sum.im + sums[i].im };
  }
}

gboolean astro_correlator_carry_sums(Correlator *self, GError **error)
{
  guint64 n = self->products * self->n;
  if (!self->state.have_sums)
    return TRUE;
  if (!astro_correlator_need_carried(self, error) ||
      (self->state.have_carried && !astro_correlator_bring(self, &self->carried, error)))
    return FALSE;
  carry<<<(guint)MIN((n + THREADS - 1) / THREADS, (guint64)self->multiprocessors * 32), THREADS, 0,
          astro_cuda_stream(self->place.queue)>>>(
      (CorrelatorComplex<long long> *)self->carried.face,
      (const CorrelatorComplex<int> *)self->sums.face, n, self->state.have_carried);
  self->state = { .have_carried = TRUE };
  return CUDA_TRY(cudaGetLastError()) && astro_correlator_keep(self, &self->carried, error);
}

struct Dump {
  AstroCorrelatorConfig config;
  guint64 products, baselines; /* in a channel's lower triangle */
  CorrelatorSumKind kind;
  gconstpointer sums; /* NULL: nothing */
  const CorrelatorComplex<long long> *carried;
  const guint32 *lost; /* [table][baseline]; NULL: nothing was lost */
  bool lost_by_channel;
  guint64 samples;
  gpointer out;
  gint *failed; /* if set, out is not written: sums are only checked for CI32LE */
};

__device__ inline void add_sums(const Dump &dump, guint64 at, long long *re, long long *im,
                                double *real_re, double *real_im)
{
  if (dump.sums && dump.kind == SUMS_INT32) {
    CorrelatorComplex<int> sum = ((const CorrelatorComplex<int> *)dump.sums)[at];
    *re += sum.re;
    *im += sum.im;
  } else if (dump.sums && dump.kind == SUMS_INT64) {
    CorrelatorComplex<long long> sum = ((const CorrelatorComplex<long long> *)dump.sums)[at];
    *re += sum.re;
    *im += sum.im;
  } else if (dump.sums) {
    CorrelatorComplex<double> sum = ((const CorrelatorComplex<double> *)dump.sums)[at];
    *real_re += sum.re;
    *real_im += sum.im;
  }
  if (dump.carried) {
    *re += dump.carried[at].re;
    *im += dump.carried[at].im;
  }
}

__device__ inline void put(const Dump &dump, guint64 at, long long re, long long im, double real_re,
                           double real_im, guint64 count)
{
  if (dump.config.to == ASTRO_FORMAT_CI32LE) {
    ((int2 *)dump.out)[at] = make_int2((int)re, (int)im);
    return;
  }
  double factor = count ? 1 / (double)count : 0;
  ((float2 *)dump.out)[at] = make_float2((float)(real_re * factor), (float)(real_im * factor));
}

/* Makes visibilities, one product of the lower triangle a thread, in the output's channels. */
static __global__ void __launch_bounds__(THREADS) dump_sums(const __grid_constant__ Dump dump)
{
  const guint pols = dump.config.pols, step = dump.config.channel_step;
  const guint64 groups = dump.config.channels / step, n = dump.products * groups;
  const bool full = dump.config.triangle == ASTRO_TRIANGLE_FULL;

  for (guint64 number = (guint64)blockIdx.x * THREADS + threadIdx.x; number < n;
       number += (guint64)gridDim.x * THREADS) {
    guint64 group = number / dump.products, product = number - group * dump.products;
    guint64 baseline = product / (pols * pols), count = dump.samples * step;
    guint p = product / pols % pols, q = product % pols;
    long long re = 0, im = 0;
    double real_re = 0, real_im = 0;
    for (guint c = 0; c < step; c++) {
      guint64 channel = group * step + c;
      add_sums(dump, channel * dump.products + product, &re, &im, &real_re, &real_im);
      if (dump.lost)
        count -= dump.lost[(dump.lost_by_channel ? channel * dump.baselines : 0) + baseline];
    }
    if (dump.failed) {
      /* The lowest int32 cannot be negated for the conjugate. */
      if (re != (int)re || im > G_MAXINT32 || im < (full ? -G_MAXINT32 : G_MININT32))
        atomicMax(dump.failed, (int)(groups - group)); /* the first group wins */
      continue;
    }
    if (dump.kind != SUMS_DOUBLE) {
      real_re = (double)re;
      real_im = (double)im;
    }
    if (!full) {
      put(dump, number, re, im, real_re, real_im, count);
      continue;
    }
    guint64 i = (guint64)((sqrt(8. * baseline + 1) - 1) / 2);
    while ((i + 1) * (i + 2) / 2 <= baseline)
      i++;
    while (i * (i + 1) / 2 > baseline)
      i--;
    guint64 j = baseline - i * (i + 1) / 2, stations = dump.config.stations;
    guint64 base = group * stations * stations;
    put(dump, ((base + i * stations + j) * pols + p) * pols + q, re, im, real_re, real_im, count);
    if (j < i)
      put(dump, ((base + j * stations + i) * pols + q) * pols + p, re, -im, real_re, -real_im,
          count);
  }
}

/* Checks that the group's sums fit in CI32LE. */
static gboolean check_sums(Correlator *self, Dump dump, guint blocks, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  gint failed = 0;
  dump.failed = self->failed;
  if (!CUDA_TRY(cudaMemsetAsync(self->failed, 0, sizeof failed, stream)))
    return FALSE;
  dump_sums<<<blocks, THREADS, 0, stream>>>(dump);
  if (!CUDA_TRY(cudaGetLastError()) ||
      !CUDA_TRY(
          cudaMemcpyAsync(&failed, self->failed, sizeof failed, cudaMemcpyDeviceToHost, stream)) ||
      !CUDA_TRY(cudaStreamSynchronize(stream)))
    return FALSE;
  return !failed || astro_correlator_refuse_sum(
                        &self->config, &self->counts,
                        self->first + self->n - (guint)failed * self->config.channel_step, error);
}

static gboolean send_lost(Correlator *self, Dump *dump, GError **error)
{
  const AstroCorrelatorCounts *counts = &self->counts;
  guint tables = counts->tables > 1 ? self->n : counts->tables;
  guint64 first = counts->tables > 1 ? self->first * counts->baselines : 0;
  gsize bytes = tables * counts->baselines * sizeof *counts->lost;

  if (!tables)
    return TRUE;
  if (!astro_correlator_need_upload(self, bytes, error) ||
      !CUDA_TRY(cudaMemcpyAsync(self->upload, counts->lost + first, bytes, cudaMemcpyHostToDevice,
                                astro_cuda_stream(self->place.queue))))
    return FALSE;
  dump->lost = (const guint32 *)self->upload;
  return TRUE;
}

/* Writes the group's visibilities, or only checks that their sums fit. */
static gboolean dump_group(Correlator *self, gpointer out, gboolean check, GError **error)
{
  guint64 n = self->products * (self->n / self->config.channel_step);
  guint blocks = (guint)MIN((n + THREADS - 1) / THREADS, (guint64)self->multiprocessors * 32);
  Dump dump = {
    .config = self->config,
    .products = self->products,
    .baselines = self->counts.baselines,
    .kind = self->sum_kind,
    .sums = self->state.have_sums ? self->sums.face : NULL,
    .carried =
        self->state.have_carried ? (const CorrelatorComplex<long long> *)self->carried.face : NULL,
    .lost_by_channel = self->counts.tables > 1,
    .samples = self->counts.samples,
    .out = astro_correlator_target(self, out),
  };
  dump.config.channels = self->n;
  if ((dump.sums && !astro_correlator_bring(self, &self->sums, error)) ||
      (dump.carried && !astro_correlator_bring(self, &self->carried, error)))
    return FALSE;
  if (check)
    return check_sums(self, dump, blocks, error);
  if (!send_lost(self, &dump, error))
    return FALSE;
  dump_sums<<<blocks, THREADS, 0, astro_cuda_stream(self->place.queue)>>>(dump);
  return CUDA_TRY(cudaGetLastError()) && astro_correlator_give(self, out, error);
}

static gboolean dump_groups(Correlator *self, gpointer out, gboolean check, GError **error)
{
  for (guint first = 0; first < self->config.channels; first += self->group) {
    astro_correlator_take_group(self, first, self->state);
    if (!dump_group(self, out, check, error))
      return FALSE;
  }
  return TRUE;
}

/* Sums that could exceed int32 are checked before anything is written, and the host has to wait. */
gboolean astro_correlator_dump_all(Correlator *self, gpointer out, GError **error)
{
  gboolean fit = self->config.to != ASTRO_FORMAT_CI32LE ||
                 (self->sum_kind == SUMS_INT32 && !self->state.have_carried &&
                  self->counts.samples * self->config.channel_step <= CORRELATOR_INT32_STEPS);
  return (fit || dump_groups(self, out, TRUE, error)) && dump_groups(self, out, FALSE, error);
}
