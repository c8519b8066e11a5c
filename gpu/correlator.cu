/* The correlator's CUDA backend: prepares samples where they need it, runs a kernel over them, and makes
 * visibilities of the sums.
 *
 * Spectra in channel:station:pol:time are multiplied where they lie. Others, short blocks and those with losses are
 * gathered first, and multiplied when enough have come or the integration ends. Where an integration ends with a
 * run and nothing was lost, the kernel writes visibilities itself; else sums wait on the device. */
#include "gpu/correlator.h"

extern "C" {
#include "core/correlator/counts.h"
}

enum {
  LINE = 128,                        /* bytes that rows of prepared samples begin at */
  LEAST_IN_PLACE = 256,              /* steps */
  MOST_GATHERED = 4096,              /* steps */
  LEAST_GATHERED = 64,               /* steps */
  INT32_STEPS = 65535,               /* whose products of bytes an int32 holds */
  INT32_RUN = INT32_STEPS / 64 * 64, /* steps of a run, whole lines */
  /* Steps that are summed in single precision: such that no more than 64 parts are. */
  F16_RUN = 4096,
  SPLIT_RUN = 2048,
  SIMT_RUN = 1024,
  F32_RUN = 2048,
  THREADS = 256,
};
#define GATHERED_BYTES ((gsize)1 << 30) /* wanted at most */

typedef enum { SUMS_INT32, SUMS_INT64, SUMS_DOUBLE } SumKind;

typedef struct {
  const char *name;
  guint capability; /* at least: 10 x major + minor */
  gboolean exact;   /* of that capability alone */
} Level;

static const Level levels[] = { { "wgmma", 90, TRUE }, { "mma", 80, FALSE }, { "simt", 0, FALSE } };
enum { WGMMA, MMA, SIMT };

typedef struct {
  AstroCorrelatorConfig config;
  AstroPlace place;
  gint multiprocessors;
  guint level;
  AstroFormat prepared; /* CI4 is CI8 by then */
  gsize prepared_bytes;
  guint inputs;
  guint64 products; /* of a channel */
  SumKind sum_kind;
  gsize sum_bytes;

  gpointer sums;      /* complex, of sum_kind */
  gpointer carried;   /* complex gint64: what int32 sums held before they could overflow; or NULL */
  gboolean have_sums, have_carried;
  guint64 since;      /* steps in sums */
  AstroCorrelatorCounts counts;

  guint8 *gathered; /* channel:input:step */
  guint64 gathered_steps, capacity, gathered_row;

  guint8 *planes; /* halves of CF32LE */
  guint64 planes_row;
  double *scales;

  gpointer upload; /* validity, then lost samples */
  gsize upload_bytes;
  gint *failed; /* a channel whose sums do not fit, plus 1 */
} Correlator;

/* ---- memory ---- */

static gboolean alloc(Correlator *self, gpointer *face, gsize count, gsize bytes, GError **error)
{
  gsize whole;
  if (!g_size_checked_mul(&whole, count, bytes)) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "correlator: more bytes than can be addressed");
    return FALSE;
  }
  return self->place.device->funcs->alloc(self->place.device, whole, face, error);
}

static gboolean need_upload(Correlator *self, gsize bytes, GError **error)
{
  if (bytes <= self->upload_bytes)
    return TRUE;
  if (self->upload)
    cudaFree(self->upload);
  self->upload = NULL;
  self->upload_bytes = 0;
  if (!alloc(self, &self->upload, bytes, 1, error))
    return FALSE;
  self->upload_bytes = bytes;
  return TRUE;
}

/* Rows are read in whole pieces, so what lies behind their samples is zeros at first. */
static gboolean alloc_rows(Correlator *self, guint8 **rows, gsize n, gsize bytes, GError **error)
{
  return *rows || (alloc(self, (gpointer *)rows, n, bytes, error) &&
                   CUDA_TRY(cudaMemsetAsync(*rows, 0, n * bytes, astro_cuda_stream(self->place.queue))));
}

static gboolean need_gathered(Correlator *self, GError **error)
{
  return alloc_rows(self, &self->gathered, (gsize)self->config.channels * self->inputs, self->gathered_row, error);
}

static gboolean need_carried(Correlator *self, GError **error)
{
  return self->carried || alloc(self, &self->carried, self->products * self->config.channels, 16, error);
}

static gboolean splits(const Correlator *self)
{
  return self->prepared == ASTRO_FORMAT_CF32LE && self->level != SIMT;
}

static guint64 most_steps(const Correlator *self)
{
  guint64 step = 8 * (guint64)self->config.channels * self->inputs;
  if (self->sum_kind != SUMS_DOUBLE)
    return INT32_RUN;
  if (self->level == SIMT)
    return self->prepared == ASTRO_FORMAT_CF32LE ? F32_RUN : SIMT_RUN;
  return splits(self) ? CLAMP(2 * GATHERED_BYTES / step / 64 * 64, 64, SPLIT_RUN) : F16_RUN;
}

static gboolean need_planes(Correlator *self, GError **error)
{
  gsize lines = (gsize)self->config.channels * self->inputs;
  self->planes_row = most_steps(self) * 4;
  return alloc_rows(self, &self->planes, 2 * lines, self->planes_row, error) &&
         (self->scales || alloc(self, (gpointer *)&self->scales, lines, sizeof(double), error));
}

/* ---- sums ---- */

static __global__ void __launch_bounds__(THREADS)
    carry(CorrelatorComplex<long long> *carried, const CorrelatorComplex<int> *sums, guint64 n, bool add)
{
  for (guint64 i = (guint64)blockIdx.x * THREADS + threadIdx.x; i < n; i += (guint64)gridDim.x * THREADS) {
    CorrelatorComplex<long long> sum = { 0, 0 };
    if (add)
      sum = carried[i];
    carried[i] = { sum.re + sums[i].re, sum.im + sums[i].im };
  }
}

/* Before int32 sums could overflow. */
static gboolean carry_sums(Correlator *self, GError **error)
{
  guint64 n = self->products * self->config.channels;
  if (!self->have_sums)
    return TRUE;
  if (!need_carried(self, error))
    return FALSE;
  carry<<<(guint)MIN((n + THREADS - 1) / THREADS, (guint64)self->multiprocessors * 32), THREADS, 0,
          astro_cuda_stream(self->place.queue)>>>((CorrelatorComplex<long long> *)self->carried,
                                                  (const CorrelatorComplex<int> *)self->sums, n,
                                                  self->have_carried);
  self->have_carried = TRUE;
  self->have_sums = FALSE;
  self->since = 0;
  return CUDA_TRY(cudaGetLastError());
}

struct Dump {
  AstroCorrelatorConfig config;
  guint64 products, baselines; /* of a channel: in the lower triangle */
  SumKind kind;
  gconstpointer sums;    /* NULL: nothing */
  const CorrelatorComplex<long long> *carried;
  const guint32 *lost;   /* [table][baseline]; NULL: nothing was lost */
  bool lost_by_channel;
  guint64 samples;
  gpointer out;
  gint *failed; /* out is not written, sums are tried for CI32LE */
};

__device__ inline void add_sums(const Dump &dump, guint64 at, long long *re, long long *im, double *real_re,
                                double *real_im)
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

__device__ inline void put(const Dump &dump, guint64 at, long long re, long long im, double real_re, double real_im,
                           guint64 count)
{
  if (dump.config.to == ASTRO_FORMAT_CI32LE) {
    ((int2 *)dump.out)[at] = make_int2((int)re, (int)im);
    return;
  }
  double factor = count ? 1 / (double)count : 0;
  ((float2 *)dump.out)[at] = make_float2((float)(real_re * factor), (float)(real_im * factor));
}

/* A product of the lower triangle a thread, channel by channel of the output. */
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
      /* The least int32 has no conjugate. */
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
      put(dump, ((base + j * stations + i) * pols + q) * pols + p, re, -im, real_re, -real_im, count);
  }
}

static void forget(Correlator *self)
{
  self->have_sums = self->have_carried = FALSE;
  self->since = 0;
  self->gathered_steps = 0;
  astro_correlator_counts_reset(&self->counts);
}

/* Sums that could be beyond int32 are tried before anything is written: the host has to know. */
static gboolean check_sums(Correlator *self, Dump dump, guint blocks, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  gint failed = 0;
  if (self->config.to != ASTRO_FORMAT_CI32LE ||
      (self->sum_kind == SUMS_INT32 && !self->have_carried &&
       self->counts.samples * self->config.channel_step <= INT32_STEPS))
    return TRUE;
  dump.failed = self->failed;
  if (!CUDA_TRY(cudaMemsetAsync(self->failed, 0, sizeof failed, stream)))
    return FALSE;
  dump_sums<<<blocks, THREADS, 0, stream>>>(dump);
  if (!CUDA_TRY(cudaGetLastError()) ||
      !CUDA_TRY(cudaMemcpyAsync(&failed, self->failed, sizeof failed, cudaMemcpyDeviceToHost, stream)) ||
      !CUDA_TRY(cudaStreamSynchronize(stream)))
    return FALSE;
  if (failed)
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
                "a sum of channel %u over %" G_GUINT64_FORMAT
                " time steps does not fit CI32LE: use CF32LE or a shorter integration",
                self->config.channels - (guint)failed * self->config.channel_step, self->counts.samples);
  return !failed;
}

static gboolean dump_all(Correlator *self, gpointer out, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  const AstroCorrelatorCounts *counts = &self->counts;
  gsize lost_bytes = counts->tables * counts->baselines * sizeof *counts->lost;
  guint64 n = self->products * (self->config.channels / self->config.channel_step);
  guint blocks = (guint)MIN((n + THREADS - 1) / THREADS, (guint64)self->multiprocessors * 32);
  Dump dump = {
    .config = self->config,
    .products = self->products,
    .baselines = counts->baselines,
    .kind = self->sum_kind,
    .sums = self->have_sums ? self->sums : NULL,
    .carried = self->have_carried ? (const CorrelatorComplex<long long> *)self->carried : NULL,
    .lost_by_channel = counts->tables > 1,
    .samples = counts->samples,
    .out = out,
  };
  if (counts->tables) {
    if (!need_upload(self, lost_bytes, error) ||
        !CUDA_TRY(cudaMemcpyAsync(self->upload, counts->lost, lost_bytes, cudaMemcpyHostToDevice, stream)))
      return FALSE;
    dump.lost = (const guint32 *)self->upload;
  }
  if (!check_sums(self, dump, blocks, error))
    return FALSE;
  dump_sums<<<blocks, THREADS, 0, stream>>>(dump);
  return CUDA_TRY(cudaGetLastError());
}

/* ---- runs ---- */

/* Whether a kernel can write visibilities itself when the run is the last of an integration. */
static gboolean is_plain(const Correlator *self)
{
  return self->config.triangle == ASTRO_TRIANGLE_LOWER && self->config.channel_step == 1 &&
         self->counts.tables == 0 && !self->have_carried &&
         (self->sum_kind != SUMS_INT64 || self->config.to == ASTRO_FORMAT_CF32LE);
}

static CorrelatorKind kind_of(const Correlator *self)
{
  return self->sum_kind == SUMS_INT32 ? CORRELATOR_S8 : splits(self) ? CORRELATOR_SPLIT : CORRELATOR_F16;
}

static gboolean launch(Correlator *self, CorrelatorRun *run, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  CorrelatorKind kind = kind_of(self);

  if (splits(self)) {
    guint64 row = self->planes_row, plane = row * self->inputs * self->config.channels;
    if (!astro_correlator_split(&run->in, self->planes, row, plane, self->scales, self->inputs,
                                self->config.channels, stream, error))
      return FALSE;
    run->in = { self->planes, row, row * self->inputs, run->in.steps };
    run->planes = 2;
    run->plane = plane;
    run->sink.scales = self->scales;
  }
  if (self->level == SIMT && self->prepared == ASTRO_FORMAT_CF32LE)
    return astro_correlator_f32(run, stream, error);
  if (self->sum_kind == SUMS_INT64 || self->level == SIMT)
    return astro_correlator_simt(self->prepared, run, stream, error);
  return self->level == WGMMA ? astro_correlator_wgmma(kind, run, self->multiprocessors, stream, error)
                              : astro_correlator_mma(kind, run, stream, error);
}

/* Adds prepared samples. out: the integration ends with them, and visibilities go there; *written says so. */
static gboolean correlate(Correlator *self, CorrelatorOperand in, guint64 steps, gpointer out, gboolean *written,
                          GError **error)
{
  guint64 most = most_steps(self);

  for (guint64 done = 0; done < steps; done += in.steps) {
    in.steps = (guint32)MIN(steps - done, most);
    if (self->sum_kind == SUMS_INT32 && self->since + in.steps > INT32_STEPS && !carry_sums(self, error))
      return FALSE;
    gboolean last = out && done + in.steps == steps && is_plain(self);
    CorrelatorRun run = {
      .in = in,
      .inputs = self->inputs,
      .channels = self->config.channels,
      .planes = 1,
      .sink = { .sums = self->sums,
                .out = last ? out : NULL,
                .add = self->have_sums,
                .means = self->config.to == ASTRO_FORMAT_CF32LE,
                .factor = 1 / (double)self->counts.samples,
                .products = self->products,
                .stations = self->config.stations,
                .pols = self->config.pols },
    };
    run.in.data = in.data + done * self->prepared_bytes;
    if (!launch(self, &run, error))
      return FALSE;
    self->have_sums = !last;
    self->since = last ? 0 : self->since + in.steps;
    *written = last;
  }
  return TRUE;
}

static gboolean correlate_gathered(Correlator *self, gpointer out, gboolean *written, GError **error)
{
  CorrelatorOperand in = { self->gathered, self->gathered_row, self->gathered_row * self->inputs };
  guint64 steps = self->gathered_steps;
  self->gathered_steps = 0;
  return correlate(self, in, steps, out, written, error);
}

/* Sends up the part of the validity that the steps need; *valid: that of the first of them. */
static gboolean send_validity(Correlator *self, const AstroCorrelatorArguments *arguments, const guint8 **valid,
                              GError **error)
{
  gsize bytes = (arguments->count - 1) * arguments->valid_time +
                (self->config.channels - 1) * arguments->valid_channel +
                (self->config.stations - 1) * arguments->valid_station + 1;
  *valid = NULL;
  if (!need_upload(self, bytes, error) ||
      !CUDA_TRY(cudaMemcpyAsync(self->upload, arguments->valid + arguments->first * arguments->valid_time, bytes,
                                cudaMemcpyHostToDevice, astro_cuda_stream(self->place.queue))))
    return FALSE;
  *valid = (const guint8 *)self->upload;
  return TRUE;
}

static gboolean add_gathered(Correlator *self, const guint8 *in, const AstroCorrelatorStrides *strides,
                             const AstroCorrelatorArguments *arguments, gboolean loss, GError **error)
{
  const guint8 *valid = NULL;
  gboolean written;

  if (!need_gathered(self, error) || (loss && !send_validity(self, arguments, &valid, error)))
    return FALSE;
  for (guint64 done = 0; done < arguments->count;) {
    if (self->gathered_steps == self->capacity && !correlate_gathered(self, NULL, &written, error))
      return FALSE;
    AstroCudaGather gather = {
      .from = in + (arguments->first + done) * strides->time,
      .time = strides->time,
      .channel = strides->channel,
      .station = strides->station,
      .pol = strides->pol,
      .to = self->gathered + self->gathered_steps * self->prepared_bytes,
      .to_row = self->gathered_row,
      .to_channel = self->gathered_row * self->inputs,
      .count = (guint32)MIN(arguments->count - done, self->capacity - self->gathered_steps),
      .channels = self->config.channels,
      .stations = self->config.stations,
      .pols = self->config.pols,
      .format = self->config.from,
      .to_format = self->prepared,
      .valid = valid ? valid + done * arguments->valid_time : NULL,
      .valid_time = arguments->valid_time,
      .valid_channel = arguments->valid_channel,
      .valid_station = arguments->valid_station,
    };
    if (!astro_cuda_gather(&gather, astro_cuda_stream(self->place.queue), error))
      return FALSE;
    done += gather.count;
    self->gathered_steps += gather.count;
  }
  return TRUE;
}

/* Whether samples can be multiplied where they lie: inputs side by side, time contiguous, and for the copy engine
 * 16 bytes aligned. */
static gboolean lies_well(const Correlator *self, const AstroCorrelatorStrides *s, gconstpointer first)
{
  const AstroCorrelatorConfig *config = &self->config;
  guint64 row = config->pols == 2 ? s->pol : s->station;
  if (config->from != self->prepared || s->time != self->prepared_bytes || row >= (guint64)1 << 40)
    return FALSE;
  if (config->pols == 2 && config->stations > 1 && s->station != 2 * s->pol)
    return FALSE;
  return (guintptr)first % 16 == 0 && row % 16 == 0 && s->channel % 16 == 0 && row && s->channel;
}

static gboolean add(Correlator *self, const guint8 *in, AstroCorrelatorArguments *arguments, gboolean loss,
                    gpointer out, gboolean *written, GError **error)
{
  AstroCorrelatorStrides strides;
  astro_correlator_strides(&strides, &self->config, arguments->steps);
  const guint8 *first = in + arguments->first * strides.time;
  if (loss || arguments->count < LEAST_IN_PLACE || !lies_well(self, &strides, first))
    return add_gathered(self, in, &strides, arguments, loss, error);
  CorrelatorOperand operand = { first, self->config.pols == 2 ? strides.pol : strides.station, strides.channel };
  return correlate_gathered(self, NULL, written, error) &&
         correlate(self, operand, arguments->count, out, written, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out, guint n_out,
                       gpointer argument, GError **error)
{
  Correlator *self = (Correlator *)instance;
  AstroCorrelatorArguments *arguments = (AstroCorrelatorArguments *)argument;
  gpointer to = arguments->dump && n_out ? out[0].data : NULL;
  gboolean loss, written = FALSE;

  if (!astro_correlator_check_blocks(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->begin)
    forget(self);
  if (!astro_correlator_counts_add(&self->counts, arguments, &loss, error))
    return FALSE;
  if (arguments->count > 0 &&
      !add(self, (const guint8 *)in[0].data, arguments, loss, to, &written, error))
    return FALSE;
  if (!arguments->dump)
    return TRUE;
  gboolean ok = written || (correlate_gathered(self, to, &written, error) &&
                            (written || dump_all(self, to, error)));
  if (ok && arguments->counts)
    astro_correlator_counts_write(&self->counts, &self->config, arguments->counts);
  arguments->samples = self->counts.samples * self->config.channel_step;
  arguments->complete = self->counts.tables == 0;
  forget(self);
  return ok;
}

/* ---- the backend ---- */

static gboolean drain(gpointer instance, GError **error)
{
  Correlator *self = (Correlator *)instance;
  return astro_cuda_enter(self->place.device, error) &&
         CUDA_TRY(cudaStreamSynchronize(astro_cuda_stream(self->place.queue)));
}

static void destroy(gpointer instance)
{
  Correlator *self = (Correlator *)instance;
  gpointer blocks[] = { self->sums,   self->carried, self->gathered, self->planes,
                        self->scales, self->upload,  self->failed };
  if (astro_cuda_enter(self->place.device, NULL))
    for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
      if (blocks[i])
        astro_cuda_ok(cudaFree(blocks[i]), "cudaFree", NULL);
  astro_correlator_counts_free(&self->counts);
  g_free(self);
}

/* The first that the device has; ASTRO_CUDA names one to begin with, so that each can be tried. */
static gboolean pick_level(Correlator *self, GError **error)
{
  const char *wanted = g_getenv("ASTRO_CUDA");
  gint major, minor;
  guint first = 0;
  if (!CUDA_TRY(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, self->place.device->index)) ||
      !CUDA_TRY(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, self->place.device->index)))
    return FALSE;
  guint capability = (guint)(10 * major + minor);
  while (wanted && first < SIMT && !g_str_equal(levels[first].name, wanted))
    first++;
  self->level = first;
  while (levels[self->level].exact ? capability != levels[self->level].capability
                                   : capability < levels[self->level].capability)
    self->level++;
  switch (self->level) {
  case WGMMA:
    return astro_correlator_wgmma_init(kind_of(self), error);
  case MMA:
    return astro_correlator_mma_init(kind_of(self), error);
  default:
    return self->prepared != ASTRO_FORMAT_CF32LE || astro_correlator_f32_init(error);
  }
}

static const char *variant_name(const Correlator *self)
{
  static const char *const names[][3] = {
    { "wgmma-int8", "mma-int8", "simt-int8" },
    { "simt-int16", "simt-int16", "simt-int16" },
    { "wgmma-f16", "mma-f16", "simt-f16" },
    { "wgmma-f16x3", "mma-f16x3", "simt-f32" },
  };
  guint row = self->sum_kind == SUMS_INT32                ? 0
              : self->sum_kind == SUMS_INT64              ? 1
              : self->prepared == ASTRO_FORMAT_CF16LE ? 2
                                                          : 3;
  return names[row][self->level];
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant, GError **error)
{
  if (!astro_correlator_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Correlator *self = g_new0(Correlator, 1);
  self->config = *(const AstroCorrelatorConfig *)config;
  self->place = *place;
  self->prepared = self->config.from == ASTRO_FORMAT_CI4 ? ASTRO_FORMAT_CI8 : self->config.from;
  self->prepared_bytes = astro_format_info(self->prepared)->bytes;
  self->inputs = self->config.stations * self->config.pols;
  self->products = astro_correlator_channel_sums(&self->config);
  self->sum_kind = self->prepared == ASTRO_FORMAT_CI8       ? SUMS_INT32
                   : self->prepared == ASTRO_FORMAT_CI16LE ? SUMS_INT64
                                                           : SUMS_DOUBLE;
  self->sum_bytes = self->sum_kind == SUMS_INT32 ? 8 : 16;
  gsize step_bytes = (gsize)self->inputs * self->config.channels * self->prepared_bytes;
  self->capacity = CLAMP(GATHERED_BYTES / step_bytes / 64 * 64, LEAST_GATHERED, MOST_GATHERED);
  self->gathered_row = (self->capacity * self->prepared_bytes + LINE - 1) / LINE * LINE;
  astro_correlator_counts_init(&self->counts, &self->config);
  if (!CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       place->device->index)) ||
      !pick_level(self, error) ||
      !alloc(self, &self->sums, self->products * self->config.channels, self->sum_bytes, error) ||
      !alloc(self, (gpointer *)&self->failed, 1, sizeof *self->failed, error) ||
      (splits(self) && !need_planes(self, error))) {
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = variant_name(self);
  return self;
}

const AstroBackend astro_cuda_correlator = {
  .stage = "correlator",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroCorrelatorConfig),
  .shape = astro_correlator_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
