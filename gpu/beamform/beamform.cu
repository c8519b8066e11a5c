/* The beamformer on the GPU: see beamform.h. */
#include "gpu/beamform/beamform.h"
#include "gpu/runtime/clipped.h"
#include "gpu/runtime/upload.h"

extern "C" {
#include "core/beamform/losses.h"
}

/* Weights of so many bytes are made at a time, or those of one interval and channel. */
#define MOST_WEIGHTS (64 << 20)

struct Beamform {
  AstroBeamformConfig config;
  AstroBeamformSize size;
  AstroPlace place;
  AstroCudaUpload upload;
  AstroCudaClipped clipped;
  guint8 *weights; /* norms and words of BeamformWeights */
  gsize weights_bytes;
};

static BeamformStrides strides_of(const AstroStream *stream, guint64 steps, AstroAxis row)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  return { astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME),
           astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL),
           astro_layout_stride_of(&shape, strides, row),
           astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL) };
}

/* Sends what the kernel reads besides samples. */
static gboolean send(Beamform *self, const AstroBeamformArguments *arguments,
                     const AstroBeamformGood *good, BeamformJob *job, GError **error)
{
  const AstroBeamformStations *stations = arguments->stations;
  const gsize n = stations->n,
              intervals =
                  astro_beamform_intervals(arguments->first, arguments->steps, arguments->interval);
  const gsize rows = good->channel ? self->size.channels * n : n;
  AstroCudaPiece pieces[] = {
    { stations->seconds, 3 * n * sizeof(double) },
    { arguments->offsets, 3 * intervals * self->size.beams * sizeof(double) },
    { stations->weights, stations->weights ? n * self->size.channels * sizeof(float2) : 0 },
    { stations->index, n * sizeof(guint32) },
    { good->map, good->map ? rows * arguments->steps : 0 },
  };
  if (!astro_cuda_upload(&self->upload, &self->place, "beamform", pieces, G_N_ELEMENTS(pieces),
                         error))
    return FALSE;
  job->seconds = (const double *)pieces[0].device;
  job->offsets = (const double *)pieces[1].device;
  job->weights = stations->weights ? (const float2 *)pieces[2].device : NULL;
  job->index = (const guint32 *)pieces[3].device;
  job->good = good->map ? (const guint8 *)pieces[4].device : NULL;
  job->good_channel = good->channel;
  job->good_station = good->station;
  return TRUE;
}

static void describe(const Beamform *self, const AstroBeamformArguments *arguments,
                     BeamformJob *job)
{
  const AstroStream *in = &self->config.in;
  job->from = in->format;
  job->to = self->config.out.format;
  job->in_strides = strides_of(in, arguments->steps, ASTRO_AXIS_STATION);
  job->out_strides = strides_of(&self->config.out, arguments->steps, ASTRO_AXIS_BEAM);
  job->first = arguments->first;
  job->steps = arguments->steps;
  job->interval = arguments->interval;
  job->channels = self->size.channels;
  job->pols = self->size.pols;
  job->beams = self->size.beams;
  job->stations = arguments->stations->n;
  job->first_frequency =
      astro_channel_frequency(in->frequency, in->bandwidth, self->size.channels, 0);
  job->channel_width = in->bandwidth / self->size.channels;
  job->scale = (float)arguments->stations->scale;
  job->clipped = self->clipped.counter;
}

static gboolean room_for_weights(Beamform *self, gsize items, gsize item_bytes,
                                 BeamformWeights *made, GError **error)
{
  const gsize norms = (items * sizeof(float) + 255) / 256 * 256, bytes = norms + items * item_bytes;
  if (self->weights_bytes < bytes) {
    self->weights_bytes = 0;
    astro_cuda_free(&self->place, &self->weights);
    if (!astro_cuda_alloc(&self->place, "beamform", &self->weights, bytes, 1, error))
      return FALSE;
    self->weights_bytes = bytes;
  }
  made->norms = (float *)self->weights;
  made->words = (uint2 *)(self->weights + norms);
  return TRUE;
}

/* Makes weights and beams of all channels of a few intervals at a time, or of a few channels of one
 * interval, so that memory for weights is bounded. */
static gboolean launch(Beamform *self, const AstroBeamformArguments *arguments, BeamformJob *job,
                       GError **error)
{
  const cudaStream_t stream = astro_cuda_stream(self->place.queue);
  const guint64 intervals =
      astro_beamform_intervals(arguments->first, arguments->steps, arguments->interval);
  BeamformWeights *made = &job->made;
  describe(self, arguments, job);
  made->parts = astro_beamform_parts(job->from);
  made->beam_tiles = (job->beams + BEAMFORM_TILE - 1) / BEAMFORM_TILE;
  made->station_tiles = (job->stations + BEAMFORM_TILE - 1) / BEAMFORM_TILE;
  const gsize item_bytes =
      (gsize)made->beam_tiles * made->station_tiles * made->parts * BEAMFORM_LANES * sizeof(uint2);
  const guint64 most = MAX((gsize)MOST_WEIGHTS / item_bytes, (gsize)1);
  const guint64 step = MIN(MAX(most / job->channels, 1), intervals),
                wide = MIN(most, job->channels);
  if (!room_for_weights(self, step * wide, item_bytes, made, error))
    return FALSE;
  for (guint64 i = 0; i < intervals; i += step)
    for (guint64 c = 0; c < job->channels; c += wide) {
      made->first_interval = (guint32)i;
      made->intervals = (guint32)MIN(step, intervals - i);
      made->first_channel = (guint32)c;
      made->channels = (guint32)MIN(wide, job->channels - c);
      if (!astro_beamform_weigh(job, stream, error) || !astro_beamform_multiply(job, stream, error))
        return FALSE;
    }
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  Beamform *self = (Beamform *)instance;
  const AstroBeamformArguments *arguments = (const AstroBeamformArguments *)data;
  AstroBeamformGood good;
  BeamformJob job = {};
  if (!astro_beamform_check(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  if (arguments->steps == 0)
    return TRUE;
  if (!astro_beamform_good_init(&good, &self->config, arguments, 0, error))
    return FALSE;
  job.in = (const guint8 *)in->data;
  job.out = (guint8 *)out->data;
  const gboolean ok =
      send(self, arguments, &good, &job, error) && launch(self, arguments, &job, error);
  astro_beamform_good_clear(&good);
  return ok;
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  Beamform *self = (Beamform *)instance;
  return astro_cuda_clipped_drain(&self->clipped, &self->place, result, error);
}

static void destroy(gpointer instance)
{
  Beamform *self = (Beamform *)instance;
  astro_cuda_free(&self->place, &self->upload.block);
  astro_cuda_free(&self->place, &self->clipped.counter);
  astro_cuda_free(&self->place, &self->weights);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_beamform_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Beamform *self = g_new0(Beamform, 1);
  self->config = *(const AstroBeamformConfig *)config;
  self->size = astro_beamform_size(&self->config);
  self->place = *place;
  if (!astro_cuda_clipped_init(&self->clipped, place, error)) {
    destroy(self);
    return NULL;
  }
  *variant = "mma";
  return self;
}

const AstroBackend astro_cuda_beamform = {
  .stage = "beamform",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroBeamformConfig),
  .shape = astro_beamform_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
