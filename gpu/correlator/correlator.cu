/* The correlator's CUDA backend: prepares samples where necessary, runs a kernel over them, and
 * makes visibilities from the sums.
 *
 * Spectra in channel:station:pol:time are multiplied in place. Others, those with losses, and short
 * parts of a long integration are gathered first, and multiplied once enough have come or the
 * integration ends: nothing waits for that, since visibilities are written then at any rate. If an
 * integration ends with a run and nothing was lost, the kernel writes visibilities itself;
 * otherwise sums stay on the device. */
#include "gpu/correlator/choice.h"
#include "gpu/correlator/instance.h"

enum {
  BRIEF_SUM = 1 << 24, /* the largest sums whose means are made in single precision */
};

typedef struct {
  const char *name;
  const void *(*kernel)(CorrelatorKind kind);
  guint architecture; /* that the kernel's code needs at least */
  gboolean exact;     /* only that architecture */
} Level;

static const Level levels[] = {
  { "three", astro_correlator_three_kernel, 90, TRUE }, /* of CI4 alone */
  { "wgmma", astro_correlator_wgmma_kernel, 90, TRUE },
  { "mma", astro_correlator_mma_kernel, 80, FALSE },
  { "simt" },
};

/* ---- runs ---- */

/* Whether a kernel can write visibilities itself if the run is the last of an integration. */
static gboolean is_plain(const Correlator *self)
{
  return self->config.triangle == ASTRO_TRIANGLE_LOWER && self->config.channel_step == 1 &&
         self->counts.tables == 0 && !self->state.have_carried &&
         (self->sum_kind != SUMS_INT64 || self->config.to == ASTRO_FORMAT_CF32LE);
}

static CorrelatorKind kind_of(const Correlator *self)
{
  if (self->sum_kind == SUMS_INT32)
    return CORRELATOR_S8;
  return astro_correlator_splits(self) ? CORRELATOR_SPLIT : CORRELATOR_F16;
}

/* The kernel of a run. A level that was asked for by name stays. */
static guint level_of(const Correlator *self, guint64 steps)
{
  const gboolean brief = self->level == WGMMA && !self->named && self->sum_kind == SUMS_INT32;
  return brief && steps <= correlator_brief_steps(self->inputs) ? MMA : self->level;
}

/* Largest component of a sum of one step. */
static guint64 step_sum(const Correlator *self)
{
  return self->config.from == ASTRO_FORMAT_CI4 ? 2 * 8 * 8 : 2 * 128 * 128;
}

static gboolean launch(Correlator *self, CorrelatorRun *run, GError **error)
{
  cudaStream_t stream = astro_cuda_stream(self->place.queue);
  CorrelatorKind kind = kind_of(self);

  if (astro_correlator_splits(self)) {
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
  if (self->level == THREE)
    return astro_correlator_three(run, self->multiprocessors, stream, error);
  return level_of(self, run->in.steps) == WGMMA
             ? astro_correlator_wgmma(kind, run, self->multiprocessors, stream, error)
             : astro_correlator_mma(kind, run, stream, error);
}

/* Adds prepared samples to the sums of a group's channels. */
static gboolean correlate_group(Correlator *self, CorrelatorOperand in, guint64 steps, gpointer out,
                                gboolean *written, GError **error)
{
  guint64 most = astro_correlator_most_steps(self);
  CorrelatorState *state = &self->state;

  in.data += self->first * in.channel;
  for (guint64 done = 0; done < steps; done += in.steps) {
    in.steps = (guint32)MIN(steps - done, most);
    if (self->sum_kind == SUMS_INT32 && state->since + in.steps > CORRELATOR_INT32_STEPS &&
        !astro_correlator_carry_sums(self, error))
      return FALSE;
    gboolean last = out && done + in.steps == steps && is_plain(self);
    const double factor = 1 / (double)self->counts.samples;
    CorrelatorRun run = {
      .in = in,
      .inputs = self->inputs,
      .channels = self->n,
      .planes = 1,
      .sink = { .sums = self->sums.face,
                .out = last ? out : NULL,
                .add = state->have_sums,
                .means = self->config.to == ASTRO_FORMAT_CF32LE,
                .factor = factor,
                .brief = self->sum_kind == SUMS_INT32 && in.steps * step_sum(self) <= BRIEF_SUM,
                .high = (float)factor,
                .low = (float)(factor - (float)factor),
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

/* Adds prepared samples. out: visibilities, if the integration ends with these samples; *written is
 * set if they were written. */
static gboolean correlate(Correlator *self, CorrelatorOperand in, guint64 steps, gpointer out,
                          gboolean *written, GError **error)
{
  const CorrelatorState before = self->state;

  for (guint first = 0; first < self->config.channels && steps > 0; first += self->group) {
    astro_correlator_take_group(self, first, before);
    if ((before.have_sums && !astro_correlator_bring(self, &self->sums, error)) ||
        !correlate_group(self, in, steps, astro_correlator_target(self, out), written, error) ||
        !(*written ? astro_correlator_give(self, out, error)
                   : astro_correlator_keep(self, &self->sums, error)))
      return FALSE;
  }
  return TRUE;
}

static gboolean correlate_gathered(Correlator *self, gpointer out, gboolean *written,
                                   GError **error)
{
  CorrelatorOperand in = { self->gathered, self->gathered_row, self->gathered_row * self->inputs };
  guint64 steps = self->gathered_steps;
  self->gathered_steps = 0;
  return correlate(self, in, steps, out, written, error);
}

/* Sends the part of the validity that the steps need; *valid: that of the first of them. */
static gboolean send_validity(Correlator *self, const AstroCorrelatorArguments *arguments,
                              const guint8 **valid, GError **error)
{
  gsize bytes = (arguments->count - 1) * arguments->valid_time +
                (self->config.channels - 1) * arguments->valid_channel +
                (self->config.stations - 1) * arguments->valid_station + 1;
  *valid = NULL;
  if (!astro_correlator_need_upload(self, bytes, error) ||
      !CUDA_TRY(cudaMemcpyAsync(self->upload,
                                arguments->valid + arguments->first * arguments->valid_time, bytes,
                                cudaMemcpyHostToDevice, astro_cuda_stream(self->place.queue))))
    return FALSE;
  *valid = (const guint8 *)self->upload;
  return TRUE;
}

static gboolean add_gathered(Correlator *self, const guint8 *in,
                             const AstroCorrelatorStrides *strides,
                             const AstroCorrelatorArguments *arguments, gboolean loss,
                             GError **error)
{
  const guint8 *valid = NULL;
  gboolean written;

  if (!astro_correlator_need_gathered(self, error) ||
      (loss && !send_validity(self, arguments, &valid, error)))
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

/* Whether samples can be multiplied in place: inputs side by side, time contiguous, and aligned to
 * 16 bytes for the copy engine. */
static gboolean lies_well(const Correlator *self, const AstroCorrelatorStrides *s,
                          gconstpointer first)
{
  const AstroCorrelatorConfig *config = &self->config;
  guint64 row = config->pols == 2 ? s->pol : s->station;
  if (config->from != self->prepared || s->time != self->prepared_bytes || row >= (guint64)1 << 40)
    return FALSE;
  if (config->pols == 2 && config->stations > 1 && s->station != 2 * s->pol)
    return FALSE;
  return (guintptr)first % 16 == 0 && row % 16 == 0 && s->channel % 16 == 0 && row && s->channel;
}

/* Whether samples that lie well are better multiplied where they are. At the end of an integration
 * they are, if nothing was gathered before. Otherwise all sums are read and written, 8 N^2 bytes a
 * channel for N inputs, which a run has to be worth; gathering takes 4 N bytes a step. */
static gboolean pays_in_place(const Correlator *self, guint64 steps, gboolean ends)
{
  return (ends && self->gathered_steps == 0) || steps >= MIN(self->capacity, 2 * self->inputs);
}

static gboolean add(Correlator *self, const guint8 *in, const AstroCorrelatorArguments *arguments,
                    gboolean loss, gpointer out, gboolean *written, GError **error)
{
  AstroCorrelatorStrides strides;
  astro_correlator_strides(&strides, &self->config, arguments->steps);
  const guint8 *first = in + arguments->first * strides.time;
  if (loss || !lies_well(self, &strides, first) ||
      !pays_in_place(self, arguments->count, out != NULL))
    return add_gathered(self, in, &strides, arguments, loss, error);
  CorrelatorOperand operand = { first, self->config.pols == 2 ? strides.pol : strides.station,
                                strides.channel };
  return correlate_gathered(self, NULL, written, error) &&
         correlate(self, operand, arguments->count, out, written, error);
}

static void forget(Correlator *self)
{
  self->state = {};
  self->gathered_steps = 0;
  astro_correlator_counts_reset(&self->counts);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(&((Correlator *)instance)->place, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Correlator *self = (Correlator *)instance;
  const AstroCorrelatorArguments *arguments = (const AstroCorrelatorArguments *)argument;
  const AstroCorrelatorTold told = { result, arguments->n_counts };
  gpointer to = arguments->dump && n_out ? out[0].data : NULL;
  gboolean loss, written = FALSE;

  if (arguments->parts)
    return astro_correlator_join_blocks(self, in, n_in, out, n_out, arguments->parts, error);
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
                            (written || astro_correlator_dump_all(self, to, error)));
  if (ok)
    astro_correlator_counts_tell(&self->counts, &self->config, &told);
  forget(self);
  return ok &&
         (!self->given || drain(self, NULL, error)); /* the host reads its visibilities at once */
}

/* ---- the backend ---- */

static void destroy(gpointer instance)
{
  Correlator *self = (Correlator *)instance;
  gpointer blocks[] = { self->given,  self->gathered, self->planes,
                        self->scales, self->upload,   self->failed };
  if (self->given)
    drain(self, NULL, NULL); /* copies to the host may still be running */
  astro_correlator_held_free(&self->sums, &self->place);
  astro_correlator_held_free(&self->carried, &self->place);
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  astro_correlator_counts_free(&self->counts);
  g_free(self);
}

static void set_prepared(Correlator *self, AstroFormat format)
{
  self->prepared = format;
  self->prepared_bytes = astro_format_info(format)->bytes;
}

/* Picks the first level whose code is there. ASTRO_CUDA names the one to begin with, for tests. */
static gboolean pick_level(Correlator *self, GError **error)
{
  const char *wanted = g_getenv("ASTRO_CUDA");
  guint first = SIMT, found;
  while (first > 0 && g_strcmp0(levels[first].name, wanted) != 0)
    first--; /* a name of another stage is ignored */
  const gboolean three = self->config.from == ASTRO_FORMAT_CI4 &&
                         (g_strcmp0(levels[THREE].name, wanted) == 0 ||
                          correlator_pays_three(self->inputs, self->config.integration));
  first = MAX(first, three ? THREE : WGMMA);
  self->named = g_strcmp0(levels[first].name, wanted) == 0;
  for (self->level = first; self->level < SIMT; self->level++) {
    const Level *level = &levels[self->level];
    if (!astro_cuda_architecture(level->kernel(kind_of(self)), &found, error))
      return FALSE;
    if (level->exact ? found == level->architecture : found >= level->architecture)
      break;
  }
  switch (self->level) {
  case THREE:
    set_prepared(self, ASTRO_FORMAT_CI4);
    return astro_correlator_three_init(error);
  case WGMMA:
    return astro_correlator_wgmma_init(kind_of(self), error) &&
           astro_correlator_mma_init(kind_of(self), error);
  case MMA:
    return astro_correlator_mma_init(kind_of(self), error);
  default:
    return self->prepared != ASTRO_FORMAT_CF32LE || astro_correlator_f32_init(error);
  }
}

static const char *variant_name(const Correlator *self)
{
  static const char *const names[][SIMT + 1] = {
    { "wgmma-int4x3", "wgmma-int8", "mma-int8", "simt-int8" },
    { NULL, "simt-int16", "simt-int16", "simt-int16" },
    { NULL, "wgmma-f16", "mma-f16", "simt-f16" },
    { NULL, "wgmma-f16x3", "mma-f16x3", "simt-f32" },
  };
  guint row = self->sum_kind == SUMS_INT32            ? 0
              : self->sum_kind == SUMS_INT64          ? 1
              : self->prepared == ASTRO_FORMAT_CF16LE ? 2
                                                      : 3;
  return names[row][self->level];
}

static gboolean host_out(gpointer instance)
{
  return ((Correlator *)instance)->given != NULL;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_correlator_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Correlator *self = g_new0(Correlator, 1);
  self->config = *(const AstroCorrelatorConfig *)config;
  self->place = *place;
  set_prepared(self, self->config.from == ASTRO_FORMAT_CI4 ? ASTRO_FORMAT_CI8 : self->config.from);
  self->inputs = self->config.stations * self->config.pols;
  self->products = astro_correlator_channel_sums(&self->config);
  self->sum_kind = self->prepared == ASTRO_FORMAT_CI8      ? SUMS_INT32
                   : self->prepared == ASTRO_FORMAT_CI16LE ? SUMS_INT64
                                                           : SUMS_DOUBLE;
  self->sum_bytes = self->sum_kind == SUMS_INT32 ? 8 : 16;
  astro_correlator_counts_init(&self->counts, &self->config);
  if (!CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                       place->device->index)) ||
      !pick_level(self, error) || !astro_correlator_pick_group(self, error) ||
      !astro_correlator_alloc_sums(self, error) ||
      !astro_correlator_alloc(self, (gpointer *)&self->failed, 1, sizeof *self->failed, error) ||
      (astro_correlator_splits(self) && !astro_correlator_need_planes(self, error))) {
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
