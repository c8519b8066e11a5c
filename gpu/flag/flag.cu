/* Flags on the GPU: see flag.h. Verdicts are the host's, as counts of good samples are: submit
 * waits for them at the end of each judged block. */
#include "gpu/flag/flag.h"
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/flag/theory.h"
}

/* Planes that are worked on at a time take so many bytes, or those of one plane. */
#define MOST_ROOM ((gsize)1 << 30)

struct Flag {
  AstroFlagConfig config;
  AstroPlace place;
  AstroFlagPlaces shape; /* of one step */
  guint64 cells;         /* values of it */
  AstroCudaUpload upload;
  guint8 *flags; /* on the device, as all below */
  gsize flags_bytes;

  /* kurtosis */
  AstroFlagLimitTable *table; /* on the host */
  double2 *limits;            /* of spectra, for each number of samples */
  FlagSums sums;

  /* threshold */
  FlagPlanes planes;
};

static cudaStream_t stream_of(const Flag *self)
{
  return astro_cuda_stream(self->place.queue);
}

/* ---- what kernels are told ---- */

static gboolean has_losses(const AstroFlagCounts *counts, const AstroValidityMeta *meta)
{
  for (guint64 i = 0, n = meta ? astro_validity_n_counts(meta) : 0; i < n; i++)
    if (meta->counts[i] < counts->least)
      return TRUE;
  return FALSE;
}

/* Whether kernels look at counts: sums are divided by them, and power is judged by them. */
static gboolean needs_counts(const Flag *self, const AstroFlagCounts *counts,
                             const AstroFlagArguments *arguments)
{
  const AstroFormat format = self->config.in.format;
  return counts->counts &&
         (format == ASTRO_FORMAT_CI32LE || !astro_flag_has_blocks(&self->config) ||
          has_losses(counts, arguments->meta));
}

/* Limits for each count: that of the one before, if it is the same. */
static double2 *limits_of_counts(Flag *self, const AstroValidityMeta *meta, guint64 n)
{
  double2 *limits = g_new0(double2, n);
  for (guint64 i = 0; i < n; i++) {
    if (meta->counts[i] < ASTRO_FLAG_LEAST_SAMPLES)
      continue;
    if (i > 0 && meta->counts[i] == meta->counts[i - 1]) {
      limits[i] = limits[i - 1];
      continue;
    }
    const AstroFlagLimits found = astro_flag_limit_table_find(self->table, meta->counts[i]);
    limits[i] = make_double2(found.low, found.high);
  }
  return limits;
}

/* Describes a block, and sends its counts where they matter; limits: those of power, on the
 * device. */
static gboolean describe(Flag *self, const AstroBlock *in, const AstroFlagArguments *arguments,
                         FlagBlock *block, const double2 **limits, GError **error)
{
  const AstroFlagConfig *config = &self->config;
  const gboolean has_time = astro_layout_find(&config->in.layout, ASTRO_AXIS_TIME) >= 0;
  block->in = (const guint8 *)in->data;
  block->shape = self->shape;
  block->first = arguments->first;
  block->steps = arguments->steps;
  block->row = arguments->phase;
  block->cells = self->cells;
  astro_flag_places(&block->places, config, arguments->block_steps);
  astro_flag_counts(&block->counts, config, arguments->block_steps, arguments->meta,
                    &block->places);
  block->run = has_time ? block->places.time : self->cells;
  if (!needs_counts(self, &block->counts, arguments)) {
    block->counts.counts = NULL;
    return TRUE;
  }
  const guint64 n = astro_validity_n_counts(arguments->meta);
  g_autofree double2 *of_power =
      astro_flag_has_blocks(config) ? NULL : limits_of_counts(self, arguments->meta, n);
  AstroCudaPiece pieces[] = {
    { of_power, of_power ? n * sizeof *of_power : 0 },
    { arguments->meta->counts, n * sizeof(guint32) },
  };
  if (!astro_cuda_upload(&self->upload, &self->place, "flag", pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  *limits = (const double2 *)pieces[0].device;
  block->counts.counts = (const guint32 *)pieces[1].device;
  return TRUE;
}

/* ---- a block ---- */

static gboolean forget(Flag *self, GError **error)
{
  const cudaStream_t stream = stream_of(self);
  const FlagSums *sums = &self->sums;
  const FlagPlanes *planes = &self->planes;
  const gsize n = self->cells;
  return (!sums->sums ||
          (CUDA_TRY(cudaMemsetAsync(sums->sums, 0, n * sizeof *sums->sums, stream)) &&
           CUDA_TRY(cudaMemsetAsync(sums->squares, 0, n * sizeof *sums->squares, stream)) &&
           CUDA_TRY(cudaMemsetAsync(sums->good, 0, n * sizeof *sums->good, stream)))) &&
         /* All bits set is a NaN. */
         (!planes->amplitudes ||
          CUDA_TRY(cudaMemsetAsync(planes->amplitudes, 0xff,
                                   n * planes->block * sizeof *planes->amplitudes, stream)));
}

static gboolean room_for_flags(Flag *self, gsize bytes, GError **error)
{
  if (self->flags_bytes >= bytes)
    return TRUE;
  self->flags_bytes = 0;
  astro_cuda_free(&self->place, &self->flags);
  if (!astro_cuda_alloc(&self->place, "flag", &self->flags, bytes, 1, error))
    return FALSE;
  self->flags_bytes = bytes;
  return TRUE;
}

/* Adds the steps to those of the judged block. */
static gboolean add(Flag *self, const FlagBlock *block, GError **error)
{
  const AstroFormat format = self->config.in.format;
  return block->steps == 0 ||
         (self->sums.sums ? astro_flag_add(block, format, &self->sums, stream_of(self), error)
                          : astro_flag_take(block, format, &self->planes, stream_of(self), error));
}

/* block: the steps of power that are judged. */
static gboolean judge(Flag *self, const FlagBlock *block, const double2 *limits, guint64 rows,
                      guint8 *flags, GError **error)
{
  const cudaStream_t stream = stream_of(self);
  const gsize bytes = rows * self->shape.units * self->shape.channels;
  gboolean ok;
  if (bytes == 0)
    return TRUE;
  if (!room_for_flags(self, bytes, error))
    return FALSE;
  if (self->sums.sums) {
    ok = astro_flag_judge_sums(&self->shape, &self->sums, self->limits,
                               astro_flag_coarse_power(self->config.in.format), self->flags, stream,
                               error);
  } else if (self->planes.amplitudes) {
    self->planes.rows = (guint32)rows;
    self->planes.flags = self->flags;
    ok = astro_flag_judge_planes(&self->planes, stream, error);
  } else {
    ok = astro_flag_judge_means(block, limits, self->flags, stream, error);
  }
  return ok &&
         CUDA_TRY(cudaMemcpyAsync(flags, self->flags, bytes, cudaMemcpyDeviceToHost, stream)) &&
         CUDA_TRY(cudaStreamSynchronize(stream)) && forget(self, error);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Flag *self = (Flag *)instance;
  const AstroFlagConfig *config = &self->config;
  const AstroFlagArguments *arguments = (const AstroFlagArguments *)data;
  FlagBlock block = {};
  const double2 *limits = NULL;
  if (!astro_flag_check_blocks(config, in, n_in, n_out, arguments, result, error) ||
      !astro_cuda_enter(self->place.device, error) || (arguments->begin && !forget(self, error)) ||
      (n_in && !describe(self, in, arguments, &block, &limits, error)) ||
      (n_in && astro_flag_has_blocks(config) && !add(self, &block, error)))
    return FALSE;
  if (!arguments->end || (!n_in && !astro_flag_has_blocks(config)))
    return TRUE;
  return judge(self, &block, limits, astro_flag_rows(config, arguments),
               ((AstroFlagVerdict *)result->own)->flags, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  const Flag *self = (const Flag *)instance;
  return astro_cuda_drain(&self->place, error);
}

/* ---- the backend ---- */

static gboolean shape(gconstpointer configuration, GError **error)
{
  const AstroFlagConfig *config = (const AstroFlagConfig *)configuration;
  if (!astro_flag_shape(config, error))
    return FALSE;
  if (config->method == ASTRO_FLAG_LIST)
    return astro_backend_refuse(error, "method=list computes nothing that a GPU could do: take "
                                       "backend=auto or backend=cpu");
  const guint64 values = (guint64)config->block * astro_flag_channels(&config->in);
  return config->method != ASTRO_FLAG_THRESHOLD || values <= G_MAXINT32 ||
         astro_backend_refuse(error,
                              "method=threshold with block=%u of %u channels, expected at most %d "
                              "values together on a GPU: take a shorter block, or backend=cpu",
                              config->block, astro_flag_channels(&config->in), G_MAXINT32);
}

static void destroy(gpointer instance)
{
  Flag *self = (Flag *)instance;
  astro_cuda_free(&self->place, &self->upload.block);
  astro_cuda_free(&self->place, &self->flags);
  astro_cuda_free(&self->place, &self->limits);
  astro_cuda_free(&self->place, &self->sums.sums);
  astro_cuda_free(&self->place, &self->sums.squares);
  astro_cuda_free(&self->place, &self->sums.good);
  astro_cuda_free(&self->place, &self->planes.amplitudes);
  astro_cuda_free(&self->place, &self->planes.thresholds);
  astro_cuda_free(&self->place, &self->planes.room);
  astro_cuda_free(&self->place, &self->planes.found);
  g_clear_pointer(&self->table, astro_flag_limit_table_free);
  g_free(self);
}

static gboolean room_for_sums(Flag *self, GError **error)
{
  const guint block = self->config.block;
  g_autofree double2 *limits = g_new0(double2, block + 1);
  for (guint m = ASTRO_FLAG_LEAST_SAMPLES; m <= block; m++) {
    const AstroFlagLimits found = astro_flag_limit_table_find(self->table, m);
    limits[m] = make_double2(found.low, found.high);
  }
  return astro_cuda_alloc(&self->place, "flag", &self->limits, block + 1, sizeof *limits, error) &&
         CUDA_TRY(cudaMemcpy(self->limits, limits, (block + 1) * sizeof *limits,
                             cudaMemcpyHostToDevice)) &&
         astro_cuda_alloc(&self->place, "flag", &self->sums.sums, self->cells, sizeof(double),
                          error) &&
         astro_cuda_alloc(&self->place, "flag", &self->sums.squares, self->cells, sizeof(double),
                          error) &&
         astro_cuda_alloc(&self->place, "flag", &self->sums.good, self->cells, sizeof(guint32),
                          error);
}

static gboolean room_for_planes(Flag *self, GError **error)
{
  const AstroFlagConfig *config = &self->config;
  FlagPlanes *planes = &self->planes;
  g_autofree AstroFlagThresholds *thresholds = g_new0(AstroFlagThresholds, 1);
  gpointer there = NULL;
  planes->block = config->block;
  planes->channels = self->shape.channels;
  planes->parts = self->shape.parts;
  planes->units = self->shape.units;
  for (guint32 part = 0; part < planes->parts; part++)
    planes->is_power[part] = self->shape.is_power[part];
  const gsize values = (gsize)planes->block * planes->channels,
              room = astro_flag_room_bytes(values);
  if (!astro_flag_groups(self->place.device, &planes->groups, error))
    return FALSE;
  planes->groups = (guint32)MIN((guint64)planes->groups, planes->units * planes->parts);
  planes->groups = (guint32)MIN((gsize)planes->groups, MAX(MOST_ROOM / room, (gsize)1));
  astro_flag_thresholds(thresholds, config->threshold, config->longest);
  if (!astro_cuda_alloc(&self->place, "flag", &there, 1, sizeof *thresholds, error))
    return FALSE;
  planes->thresholds = (const AstroFlagThresholds *)there;
  return CUDA_TRY(cudaMemcpy(there, thresholds, sizeof *thresholds, cudaMemcpyHostToDevice)) &&
         astro_cuda_alloc(&self->place, "flag", &planes->amplitudes, self->cells,
                          planes->block * sizeof(float), error) &&
         astro_cuda_alloc(&self->place, "flag", &planes->found, self->cells, planes->block,
                          error) &&
         astro_cuda_alloc(&self->place, "flag", &planes->room, planes->groups, room, error);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Flag *self = g_new0(Flag, 1);
  self->config = *(const AstroFlagConfig *)config;
  self->place = *place;
  astro_flag_places(&self->shape, &self->config, 1);
  self->cells = self->shape.units * self->shape.parts * self->shape.channels;
  if (self->config.method == ASTRO_FLAG_KURTOSIS)
    self->table = astro_flag_limit_table_new(self->config.false_alarm);
  if ((astro_flag_has_blocks(&self->config) &&
       !(self->table ? room_for_sums : room_for_planes)(self, error)) ||
      !forget(self, error)) {
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = self->table ? "double" : "planes";
  return self;
}

const AstroBackend astro_cuda_flag = {
  .stage = "flag",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroFlagConfig),
  .shape = shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
