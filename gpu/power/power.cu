/* Power on the GPU: see power.h. Good samples are counted by the CPU, as submit returns counts at
 * once. */
#include "gpu/power/power.h"
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/power/counts.h"
}

/* Sums of pieces take so many bytes, or those of one piece. */
#define MOST_PARTS ((guint64)256 << 20)

struct Power {
  AstroPowerConfig config;
  AstroPowerKind kind;
  gboolean squares;
  guint32 n_sums;
  AstroPlace place;
  AstroCudaUpload upload;
  AstroPowerCounts counts;
  double *open;  /* sums of it, on the device */
  double *parts; /* on the device */
  gsize parts_bytes;
};

static gsize cells_of(const Power *self)
{
  return (gsize)self->config.stations * self->config.channels;
}

/* ---- what kernels are told ---- */

static void describe_ending(const Power *self, const AstroPowerArguments *arguments,
                            PowerEnding *ending)
{
  const AstroPowerConfig *config = &self->config;
  ending->channels = config->channels / config->channel_step;
  ending->channel_step = config->channel_step;
  ending->stations = astro_power_stations(config);
  ending->station_step = config->sum_stations ? config->stations : 1;
  ending->products = config->products.n;
  astro_power_place(config, arguments->is_circular, ending->recipes);
  ending->open = self->open;
  ending->ended = astro_power_ended(arguments);
  ending->all = astro_power_pieces(arguments);
}

static void describe_job(const Power *self, const AstroPowerArguments *arguments, PowerJob *job)
{
  AstroPowerStrides strides;
  astro_power_strides(&strides, &self->config, arguments->steps);
  job->strides = { strides.time, strides.channel, strides.station, strides.pol };
  job->steps = arguments->steps;
  job->integration = arguments->integration;
  job->phase = arguments->phase;
  job->stations = self->config.stations;
  job->channels = self->config.channels;
  job->valid_time = arguments->valid_time;
  job->valid_channel = arguments->valid_channel;
  job->valid_station = arguments->valid_station;
  job->sums = self->n_sums;
}

/* Sends what kernels read besides samples. */
static gboolean send(Power *self, const AstroPowerArguments *arguments, const guint32 *counts,
                     PowerJob *job, PowerEnding *ending, GError **error)
{
  const gsize flags = job->in ? astro_power_valid_bytes(&self->config, arguments) : 0;
  AstroCudaPiece pieces[] = {
    { counts, ending->ended * astro_power_counts(&self->config) * sizeof(guint32) },
    { arguments->valid, flags },
  };
  if (!astro_cuda_upload(&self->upload, &self->place, "power", pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  ending->counts = (const guint32 *)pieces[0].device;
  job->valid = flags ? (const guint8 *)pieces[1].device : NULL;
  return TRUE;
}

/* ---- a block ---- */

static gboolean room_for_parts(Power *self, gsize bytes, GError **error)
{
  if (self->parts_bytes >= bytes)
    return TRUE;
  self->parts_bytes = 0;
  astro_cuda_free(&self->place, &self->parts);
  if (!astro_cuda_alloc(&self->place, "power", &self->parts, bytes, 1, error))
    return FALSE;
  self->parts_bytes = bytes;
  return TRUE;
}

static gboolean run(Power *self, const AstroPowerArguments *arguments, PowerJob *job,
                    const PowerEnding *ending, GError **error)
{
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  job->splits = job->in ? astro_power_splits(&self->config, arguments, ending->all) : 0;
  const gsize piece_bytes = (gsize)job->splits * self->n_sums * cells_of(self) * sizeof(double);
  const guint64 group =
      MIN(ending->all, MAX(piece_bytes ? MOST_PARTS / piece_bytes : G_MAXUINT32, (guint64)1));
  if (!room_for_parts(self, group * piece_bytes, error))
    return FALSE;
  job->parts = self->parts;
  for (job->first_piece = 0; job->first_piece < ending->all; job->first_piece += group) {
    job->pieces = (guint32)MIN(group, ending->all - job->first_piece);
    if ((job->splits &&
         !astro_power_add(job, self->config.from, self->kind, self->squares, stream, error)) ||
        !astro_power_finish(job, ending, stream, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Power *self = (Power *)instance;
  const AstroPowerArguments *arguments = (const AstroPowerArguments *)argument;
  PowerJob job = {};
  PowerEnding ending = {};
  if (!astro_power_check_blocks(&self->config, in, n_in, out, n_out, arguments, result, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->begin &&
      !CUDA_TRY(cudaMemsetAsync(self->open, 0, cells_of(self) * self->n_sums * sizeof(double),
                                astro_cuda_stream(self->place.queue))))
    return FALSE;
  job.in = n_in && arguments->steps ? (const guint8 *)in[0].data : NULL;
  ending.out = n_out ? (float *)out[0].data : NULL;
  describe_ending(self, arguments, &ending);
  describe_job(self, arguments, &job);
  astro_power_count(&self->counts, &self->config, arguments, job.in != NULL,
                    ending.ended ? result->counts : NULL);
  return send(self, arguments, ending.ended ? result->counts : NULL, &job, &ending, error) &&
         run(self, arguments, &job, &ending, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  const Power *self = (const Power *)instance;
  return astro_cuda_drain(&self->place, error);
}

static void destroy(gpointer instance)
{
  Power *self = (Power *)instance;
  astro_cuda_free(&self->place, &self->upload.block);
  astro_cuda_free(&self->place, &self->open);
  astro_cuda_free(&self->place, &self->parts);
  astro_power_counts_clear(&self->counts);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_power_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Power *self = g_new0(Power, 1);
  AstroPowerSum kept[ASTRO_POWER_SUMS];
  self->config = *(const AstroPowerConfig *)config;
  self->kind = astro_power_kind(&self->config);
  self->squares = astro_power_has_squares(&self->config);
  self->n_sums = astro_power_kept(self->kind, self->squares, kept);
  self->place = *place;
  if (!astro_power_counts_init(&self->counts, &self->config, error) ||
      !astro_cuda_alloc(place, "power", &self->open, cells_of(self) * self->n_sums, sizeof(double),
                        error) ||
      !CUDA_TRY(cudaMemsetAsync(self->open, 0, cells_of(self) * self->n_sums * sizeof(double),
                                astro_cuda_stream(place->queue)))) {
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = "double";
  return self;
}

const AstroBackend astro_cuda_power = {
  .stage = "power",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroPowerConfig),
  .shape = astro_power_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
