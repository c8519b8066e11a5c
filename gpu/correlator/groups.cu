/* The CUDA correlator's memory. If the device has no room for the sums of all channels and their
 * visibilities, groups of channels take turns: their sums wait on the host, and visibilities are
 * copied to the host. The state of sums (CorrelatorState) is then the same for every group, since
 * all of them go through the same steps. */
#include "gpu/correlator/instance.h"

enum {
  LINE = 128,           /* alignment of rows of prepared samples, in bytes */
  MOST_GATHERED = 4096, /* steps */
  LEAST_GATHERED = 64,  /* steps */
  INT32_RUN = CORRELATOR_INT32_STEPS / 64 * 64, /* steps of a run, whole lines */
  /* Steps summed in single precision: few enough that at most 64 partial sums are added. */
  F16_RUN = 4096,
  SPLIT_RUN = 2048,
  SIMT_RUN = 1024,
  F32_RUN = 2048,
};
/* For steps that are gathered. With more the sums of large arrays are read and written less often:
 * those of 1024 stations and 256 channels, 8.6 GB, every 4096 steps and not every 1024. */
#define GATHERED_BYTES ((gsize)4 << 30)
#define FEWER_GATHERED_BYTES ((gsize)1 << 30) /* where these leave room for all channels */
#define OUT_BLOCKS 4 /* blocks of visibilities that a stage cycles through */

/* ---- memory ---- */

gboolean astro_correlator_alloc(Correlator *self, gpointer *face, gsize count, gsize bytes,
                                GError **error)
{
  return astro_cuda_alloc(&self->place, "correlator", face, count, bytes, error);
}

gboolean astro_correlator_need_upload(Correlator *self, gsize bytes, GError **error)
{
  if (bytes <= self->upload_bytes)
    return TRUE;
  astro_cuda_free(&self->place, &self->upload);
  self->upload_bytes = 0;
  if (!astro_correlator_alloc(self, &self->upload, bytes, 1, error))
    return FALSE;
  self->upload_bytes = bytes;
  return TRUE;
}

/* Rows are read in whole pieces, so memory after their samples has to be zero at first. */
static gboolean alloc_rows(Correlator *self, guint8 **rows, gsize n, gsize bytes, GError **error)
{
  return *rows ||
         (astro_correlator_alloc(self, (gpointer *)rows, n, bytes, error) &&
          CUDA_TRY(cudaMemsetAsync(*rows, 0, n * bytes, astro_cuda_stream(self->place.queue))));
}

gboolean astro_correlator_need_gathered(Correlator *self, GError **error)
{
  return alloc_rows(self, &self->gathered, (gsize)self->config.channels * self->inputs,
                    self->gathered_row, error);
}

gboolean astro_correlator_need_carried(Correlator *self, GError **error)
{
  return self->carried.face ||
         astro_correlator_held_alloc(&self->carried, &self->place, self->config.channels,
                                     self->group, self->products * 16, error);
}

gboolean astro_correlator_splits(const Correlator *self)
{
  return self->prepared == ASTRO_FORMAT_CF32LE && self->level != SIMT;
}

guint64 astro_correlator_most_steps(const Correlator *self)
{
  guint64 step = 8 * (guint64)self->group * self->inputs;
  if (self->sum_kind != SUMS_DOUBLE)
    return INT32_RUN;
  if (self->level == SIMT)
    return self->prepared == ASTRO_FORMAT_CF32LE ? F32_RUN : SIMT_RUN;
  return astro_correlator_splits(self)
             ? CLAMP(2 * self->gathered_bytes / step / 64 * 64, 64, SPLIT_RUN)
             : F16_RUN;
}

gboolean astro_correlator_need_planes(Correlator *self, GError **error)
{
  gsize lines = (gsize)self->group * self->inputs;
  self->planes_row = astro_correlator_most_steps(self) * 4;
  return alloc_rows(self, &self->planes, 2 * lines, self->planes_row, error) &&
         (self->scales ||
          astro_correlator_alloc(self, (gpointer *)&self->scales, lines, sizeof(double), error));
}

/* ---- groups of channels ---- */

void astro_correlator_take_group(Correlator *self, guint first, CorrelatorState state)
{
  self->first = first;
  self->n = MIN(self->group, self->config.channels - first);
  self->state = state;
}

gboolean astro_correlator_bring(Correlator *self, const CorrelatorHeld *held, GError **error)
{
  return astro_correlator_held_bring(held, self->first, self->n,
                                     astro_cuda_stream(self->place.queue), error);
}

gboolean astro_correlator_keep(Correlator *self, const CorrelatorHeld *held, GError **error)
{
  return astro_correlator_held_keep(held, self->first, self->n,
                                    astro_cuda_stream(self->place.queue), error);
}

gpointer astro_correlator_target(const Correlator *self, gpointer out)
{
  return out && self->given ? self->given : out;
}

gboolean astro_correlator_give(Correlator *self, gpointer out, GError **error)
{
  gsize channel = astro_correlator_output_bytes(&self->config) /
                  (self->config.channels / self->config.channel_step);
  guint step = self->config.channel_step;
  return !self->given ||
         CUDA_TRY(cudaMemcpyAsync((guint8 *)out + self->first / step * channel, self->given,
                                  self->n / step * channel, cudaMemcpyDeviceToHost,
                                  astro_cuda_stream(self->place.queue)));
}

/* ---- available memory ---- */

/* Bytes on the device that a channel needs while its group is being processed. */
static guint64 channel_bytes(const Correlator *self)
{
  gboolean carries =
      self->sum_kind == SUMS_INT32 && self->config.integration > CORRELATOR_INT32_STEPS;
  guint64 bytes = self->products * (self->sum_bytes + (carries ? 16 : 0));
  bytes += self->counts.baselines * sizeof *self->counts.lost;
  return astro_correlator_splits(self)
             ? bytes + self->inputs * (2 * 4 * LEAST_GATHERED + sizeof(double))
             : bytes;
}

/* Gathers as many steps as fit in so many bytes; returns those of what all groups share. */
static guint64 set_gathered(Correlator *self, gsize bytes)
{
  const gsize step_bytes = (gsize)self->inputs * self->config.channels * self->prepared_bytes;
  self->gathered_bytes = bytes;
  self->capacity = CLAMP(bytes / step_bytes / 64 * 64, LEAST_GATHERED, MOST_GATHERED);
  self->gathered_row = (self->capacity * self->prepared_bytes + LINE - 1) / LINE * LINE;
  return self->gathered_row * self->inputs * self->config.channels +
         (astro_correlator_splits(self) ? 2 * bytes : 0);
}

/* All channels at once if there is room for that and for blocks of spectra; otherwise as many as
 * fit in half of the memory. */
gboolean astro_correlator_pick_group(Correlator *self, GError **error)
{
  const AstroCorrelatorConfig *config = &self->config;
  const gsize most[] = { astro_correlator_splits(self) ? FEWER_GATHERED_BYTES : GATHERED_BYTES,
                         FEWER_GATHERED_BYTES };
  AstroDeviceMemory memory;
  guint64 channel = channel_bytes(self), out = astro_correlator_output_bytes(config), shared = 0;

  if (!self->place.device->funcs->memory(self->place.device, &memory, error))
    return FALSE;
  self->group = config->channels;
  for (guint i = 0; i < G_N_ELEMENTS(most); i++) {
    shared = set_gathered(self, MIN(most[i], memory.free / 8));
    if (shared + (double)channel * config->channels + (double)OUT_BLOCKS * out <=
        memory.free / 8 * 7)
      return TRUE;
  }
  guint64 room = memory.free / 2 > shared ? memory.free / 2 - shared : 0;
  guint steps = config->channels / config->channel_step;
  guint64 fit = room / (channel * config->channel_step + out / steps);
  self->group = (guint)CLAMP(fit, 1, steps) * config->channel_step;
  return TRUE;
}

gboolean astro_correlator_alloc_sums(Correlator *self, GError **error)
{
  guint step = self->config.channel_step;
  gsize out = astro_correlator_output_bytes(&self->config) / (self->config.channels / step);
  if (astro_correlator_held_alloc(&self->sums, &self->place, self->config.channels, self->group,
                                  self->products * self->sum_bytes, error) &&
      (self->group == self->config.channels ||
       astro_correlator_alloc(self, &self->given, self->group / step, out, error)))
    return TRUE;
  g_prefix_error(error, "correlator, sums of %u of %u channels: ", self->group,
                 self->config.channels);
  return FALSE;
}
