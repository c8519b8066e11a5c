/* The correlator's CUDA backend: prepares samples where they need it, runs a kernel over them, and makes
 * visibilities of the sums.
 *
 * Spectra in channel:station:pol:time are multiplied where they lie. Others, short blocks and those with losses are
 * gathered first, and multiplied when enough have come or the integration ends. Where an integration ends with a
 * run and nothing was lost, the kernel writes visibilities itself; else sums wait on the device.
 *
 * Where the device has no room for the sums of all channels and the visibilities made of them, channels take turns in
 * groups: their sums wait on the host, and visibilities are given to the host. What is known of sums (State) is then
 * the same for every group, since all of them go the same way. */
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
#define OUT_BLOCKS 4                    /* of visibilities that a stage goes round with */

typedef enum { SUMS_INT32, SUMS_INT64, SUMS_DOUBLE } SumKind;

typedef struct {
  const char *name;
  const void *(*kernel)(CorrelatorKind kind);
  guint architecture; /* at least, of the kernel's code */
  gboolean exact;     /* that architecture alone */
} Level;

static const Level levels[] = {
  { "wgmma", astro_correlator_wgmma_kernel, 90, TRUE },
  { "mma", astro_correlator_mma_kernel, 80, FALSE },
  { "simt" },
};
enum { WGMMA, MMA, SIMT };

/* Of the sums of a channel. */
typedef struct {
  gboolean have_sums, have_carried;
  guint64 since; /* steps in sums */
} State;

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

  guint group;            /* channels whose sums are on the device together */
  guint first, n;         /* those in work */
  CorrelatorHeld sums;    /* complex, of sum_kind */
  CorrelatorHeld carried; /* complex gint64: what int32 sums held before they could overflow; made at the first need */
  State state;
  gpointer given; /* visibilities of a group on their way to the host; NULL: there is one group */
  AstroCorrelatorCounts counts;

  guint8 *gathered; /* channel:input:step */
  guint64 gathered_steps, capacity, gathered_row;
  gsize gathered_bytes; /* wanted at most */

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
  astro_cuda_free(&self->place, &self->upload);
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
  return self->carried.face || astro_correlator_held_alloc(&self->carried, &self->place, self->config.channels,
                                                           self->group, self->products * 16, error);
}

static gboolean splits(const Correlator *self)
{
  return self->prepared == ASTRO_FORMAT_CF32LE && self->level != SIMT;
}

/* Of a run. */
static guint64 most_steps(const Correlator *self)
{
  guint64 step = 8 * (guint64)self->group * self->inputs;
  if (self->sum_kind != SUMS_DOUBLE)
    return INT32_RUN;
  if (self->level == SIMT)
    return self->prepared == ASTRO_FORMAT_CF32LE ? F32_RUN : SIMT_RUN;
  return splits(self) ? CLAMP(2 * self->gathered_bytes / step / 64 * 64, 64, SPLIT_RUN) : F16_RUN;
}

static gboolean need_planes(Correlator *self, GError **error)
{
  gsize lines = (gsize)self->group * self->inputs;
  self->planes_row = most_steps(self) * 4;
  return alloc_rows(self, &self->planes, 2 * lines, self->planes_row, error) &&
         (self->scales || alloc(self, (gpointer *)&self->scales, lines, sizeof(double), error));
}

/* ---- groups of channels ---- */

static void take_group(Correlator *self, guint first, State state)
{
  self->first = first;
  self->n = MIN(self->group, self->config.channels - first);
  self->state = state;
}

static gboolean bring(Correlator *self, const CorrelatorHeld *held, GError **error)
{
  return astro_correlator_held_bring(held, self->first, self->n, astro_cuda_stream(self->place.queue), error);
}

static gboolean keep(Correlator *self, const CorrelatorHeld *held, GError **error)
{
  return astro_correlator_held_keep(held, self->first, self->n, astro_cuda_stream(self->place.queue), error);
}

/* Where a group's visibilities are written, and from where they go to the output. */
static gpointer target(const Correlator *self, gpointer out)
{
  return out && self->given ? self->given : out;
}

static gboolean give(Correlator *self, gpointer out, GError **error)
{
  gsize channel = astro_correlator_output_bytes(&self->config) /
                  (self->config.channels / self->config.channel_step);
  guint step = self->config.channel_step;
  return !self->given ||
         CUDA_TRY(cudaMemcpyAsync((guint8 *)out + self->first / step * channel, self->given,
                                  self->n / step * channel, cudaMemcpyDeviceToHost,
                                  astro_cuda_stream(self->place.queue)));
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
  guint64 n = self->products * self->n;
  if (!self->state.have_sums)
    return TRUE;
  if (!need_carried(self, error) || (self->state.have_carried && !bring(self, &self->carried, error)))
    return FALSE;
  carry<<<(guint)MIN((n + THREADS - 1) / THREADS, (guint64)self->multiprocessors * 32), THREADS, 0,
          astro_cuda_stream(self->place.queue)>>>((CorrelatorComplex<long long> *)self->carried.face,
                                                  (const CorrelatorComplex<int> *)self->sums.face, n,
                                                  self->state.have_carried);
  self->state = { .have_carried = TRUE };
  return CUDA_TRY(cudaGetLastError()) && keep(self, &self->carried, error);
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
  self->state = {};
  self->gathered_steps = 0;
  astro_correlator_counts_reset(&self->counts);
}

/* Whether the group's sums fit CI32LE. */
static gboolean check_sums(Correlator *self, Dump dump, guint blocks, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  gint failed = 0;
  dump.failed = self->failed;
  if (!CUDA_TRY(cudaMemsetAsync(self->failed, 0, sizeof failed, stream)))
    return FALSE;
  dump_sums<<<blocks, THREADS, 0, stream>>>(dump);
  if (!CUDA_TRY(cudaGetLastError()) ||
      !CUDA_TRY(cudaMemcpyAsync(&failed, self->failed, sizeof failed, cudaMemcpyDeviceToHost, stream)) ||
      !CUDA_TRY(cudaStreamSynchronize(stream)))
    return FALSE;
  return !failed ||
         astro_correlator_refuse_sum(&self->config, &self->counts,
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
  if (!need_upload(self, bytes, error) ||
      !CUDA_TRY(cudaMemcpyAsync(self->upload, counts->lost + first, bytes, cudaMemcpyHostToDevice,
                                astro_cuda_stream(self->place.queue))))
    return FALSE;
  dump->lost = (const guint32 *)self->upload;
  return TRUE;
}

/* Gives the group's visibilities, or only checks that their sums fit. */
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
    .carried = self->state.have_carried ? (const CorrelatorComplex<long long> *)self->carried.face : NULL,
    .lost_by_channel = self->counts.tables > 1,
    .samples = self->counts.samples,
    .out = target(self, out),
  };
  dump.config.channels = self->n;
  if ((dump.sums && !bring(self, &self->sums, error)) || (dump.carried && !bring(self, &self->carried, error)))
    return FALSE;
  if (check)
    return check_sums(self, dump, blocks, error);
  if (!send_lost(self, &dump, error))
    return FALSE;
  dump_sums<<<blocks, THREADS, 0, astro_cuda_stream(self->place.queue)>>>(dump);
  return CUDA_TRY(cudaGetLastError()) && give(self, out, error);
}

static gboolean dump_groups(Correlator *self, gpointer out, gboolean check, GError **error)
{
  for (guint first = 0; first < self->config.channels; first += self->group) {
    take_group(self, first, self->state);
    if (!dump_group(self, out, check, error))
      return FALSE;
  }
  return TRUE;
}

/* Sums that could be beyond int32 are tried before anything is written: the host has to know. */
static gboolean dump_all(Correlator *self, gpointer out, GError **error)
{
  gboolean fit = self->config.to != ASTRO_FORMAT_CI32LE ||
                 (self->sum_kind == SUMS_INT32 && !self->state.have_carried &&
                  self->counts.samples * self->config.channel_step <= INT32_STEPS);
  return (fit || dump_groups(self, out, TRUE, error)) && dump_groups(self, out, FALSE, error);
}

/* ---- runs ---- */

/* Whether a kernel can write visibilities itself when the run is the last of an integration. */
static gboolean is_plain(const Correlator *self)
{
  return self->config.triangle == ASTRO_TRIANGLE_LOWER && self->config.channel_step == 1 &&
         self->counts.tables == 0 && !self->state.have_carried &&
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
    guint64 row = self->planes_row, plane = row * self->inputs * self->n;
    if (!astro_correlator_split(&run->in, self->planes, row, plane, self->scales, self->inputs,
                                self->n, stream, error))
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

/* Adds a group's channels of prepared samples. */
static gboolean correlate_group(Correlator *self, CorrelatorOperand in, guint64 steps, gpointer out,
                                gboolean *written, GError **error)
{
  guint64 most = most_steps(self);
  State *state = &self->state;

  in.data += self->first * in.channel;
  for (guint64 done = 0; done < steps; done += in.steps) {
    in.steps = (guint32)MIN(steps - done, most);
    if (self->sum_kind == SUMS_INT32 && state->since + in.steps > INT32_STEPS && !carry_sums(self, error))
      return FALSE;
    gboolean last = out && done + in.steps == steps && is_plain(self);
    CorrelatorRun run = {
      .in = in,
      .inputs = self->inputs,
      .channels = self->n,
      .planes = 1,
      .sink = { .sums = self->sums.face,
                .out = last ? out : NULL,
                .add = state->have_sums,
                .means = self->config.to == ASTRO_FORMAT_CF32LE,
                .factor = 1 / (double)self->counts.samples,
                .products = self->products,
                .stations = self->config.stations,
                .pols = self->config.pols },
    };
    run.in.data = in.data + done * self->prepared_bytes;
    if (!launch(self, &run, error))
      return FALSE;
    state->have_sums = !last;
    state->since = last ? 0 : state->since + in.steps;
    *written = last;
  }
  return TRUE;
}

/* Adds prepared samples. out: the integration ends with them, and visibilities go there; *written says so. */
static gboolean correlate(Correlator *self, CorrelatorOperand in, guint64 steps, gpointer out, gboolean *written,
                          GError **error)
{
  const State before = self->state;

  for (guint first = 0; first < self->config.channels && steps > 0; first += self->group) {
    take_group(self, first, before);
    if ((before.have_sums && !bring(self, &self->sums, error)) ||
        !correlate_group(self, in, steps, target(self, out), written, error) ||
        !(*written ? give(self, out, error) : keep(self, &self->sums, error)))
      return FALSE;
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
      .count = MIN(arguments->count - done, self->capacity - self->gathered_steps),
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

static gboolean drain(gpointer instance, GError **error)
{
  Correlator *self = (Correlator *)instance;
  return astro_cuda_enter(self->place.device, error) &&
         CUDA_TRY(cudaStreamSynchronize(astro_cuda_stream(self->place.queue)));
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
  return ok && (!self->given || drain(self, error)); /* the host reads what it was given at once */
}

/* ---- the backend ---- */

static void destroy(gpointer instance)
{
  Correlator *self = (Correlator *)instance;
  gpointer blocks[] = { self->given, self->gathered, self->planes, self->scales, self->upload, self->failed };
  if (self->given)
    drain(self, NULL); /* what is held on the host is still being copied */
  astro_correlator_held_free(&self->sums, &self->place);
  astro_correlator_held_free(&self->carried, &self->place);
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  astro_correlator_counts_free(&self->counts);
  g_free(self);
}

/* The first whose code is there; ASTRO_CUDA names one to begin with, so that each can be tried. */
static gboolean pick_level(Correlator *self, GError **error)
{
  const char *wanted = g_getenv("ASTRO_CUDA");
  guint first = SIMT, found;
  while (first > 0 && g_strcmp0(levels[first].name, wanted) != 0)
    first--; /* no other stage's name */
  for (self->level = first; self->level < SIMT; self->level++) {
    const Level *level = &levels[self->level];
    if (!astro_cuda_architecture(level->kernel(kind_of(self)), &found, error))
      return FALSE;
    if (level->exact ? found == level->architecture : found >= level->architecture)
      break;
  }
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

/* ---- memory that there is ---- */

/* Bytes on the device that a channel needs while its group is in work. */
static guint64 channel_bytes(const Correlator *self)
{
  gboolean carries = self->sum_kind == SUMS_INT32 && self->config.integration > INT32_STEPS;
  guint64 bytes = self->products * (self->sum_bytes + (carries ? 16 : 0));
  bytes += self->counts.baselines * sizeof *self->counts.lost;
  return splits(self) ? bytes + self->inputs * (2 * 4 * LEAST_GATHERED + sizeof(double)) : bytes;
}

/* All channels at once where there is room for that and blocks of spectra beside it, else as many as half of the
 * memory holds. */
static gboolean pick_group(Correlator *self, GError **error)
{
  const AstroCorrelatorConfig *config = &self->config;
  AstroDeviceMemory memory;
  guint64 channel = channel_bytes(self), out = astro_correlator_output_bytes(config);
  gsize step_bytes = (gsize)self->inputs * config->channels * self->prepared_bytes;

  if (!self->place.device->funcs->memory(self->place.device, &memory, error))
    return FALSE;
  self->gathered_bytes = MIN(GATHERED_BYTES, memory.free / 8);
  self->capacity = CLAMP(self->gathered_bytes / step_bytes / 64 * 64, LEAST_GATHERED, MOST_GATHERED);
  self->gathered_row = (self->capacity * self->prepared_bytes + LINE - 1) / LINE * LINE;
  guint64 shared = self->gathered_row * self->inputs * config->channels + (splits(self) ? 2 * self->gathered_bytes : 0);
  self->group = config->channels;
  if (shared + (double)channel * config->channels + (double)OUT_BLOCKS * out <= memory.free / 8 * 7)
    return TRUE;
  guint64 room = memory.free / 2 > shared ? memory.free / 2 - shared : 0;
  guint steps = config->channels / config->channel_step;
  guint64 fit = room / (channel * config->channel_step + out / steps);
  self->group = (guint)CLAMP(fit, 1, steps) * config->channel_step;
  return TRUE;
}

static gboolean alloc_sums(Correlator *self, GError **error)
{
  guint step = self->config.channel_step;
  gsize out = astro_correlator_output_bytes(&self->config) / (self->config.channels / step);
  if (astro_correlator_held_alloc(&self->sums, &self->place, self->config.channels, self->group,
                                  self->products * self->sum_bytes, error) &&
      (self->group == self->config.channels || alloc(self, &self->given, self->group / step, out, error)))
    return TRUE;
  g_prefix_error(error, "correlator, sums of %u of %u channels: ", self->group, self->config.channels);
  return FALSE;
}

static gboolean host_out(gpointer instance)
{
  return ((Correlator *)instance)->given != NULL;
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
  astro_correlator_counts_init(&self->counts, &self->config);
  if (!CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       place->device->index)) ||
      !pick_level(self, error) || !pick_group(self, error) || !alloc_sums(self, error) ||
      !alloc(self, (gpointer *)&self->failed, 1, sizeof *self->failed, error) ||
      (splits(self) && !need_planes(self, error))) {
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = variant_name(self);
  if (variant && self->group < self->config.channels) {
    g_autofree char *name = g_strdup_printf("%s, %u channels at a time", *variant, self->group);
    *variant = g_intern_string(name);
  }
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
  .host_out = host_out,
};
