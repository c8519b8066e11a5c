/* The delay's CUDA backend: its instances and their memory. */
#include "gpu/delay/delay.h"

/* ---- memory ---- */

gboolean astro_cuda_delay_alloc(Delay *self, gpointer face, gsize count, gsize bytes,
                                GError **error)
{
  return astro_cuda_alloc(&self->place, "delay", face, count, bytes, error);
}

/* ---- the backend ---- */

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Delay *self = (Delay *)instance;
  const AstroDelayArguments *arguments = (const AstroDelayArguments *)argument;

  if (!astro_delay_check_call(&self->config, in, n_in, out, n_out, arguments, error) ||
      !astro_cuda_enter(self->place.device, error))
    return FALSE;
  const guint8 *from = n_in ? (const guint8 *)in->data : NULL;
  guint8 *to = n_out ? (guint8 *)out->data : NULL;
  return self->is_spectra ? astro_cuda_delay_spectra(self, from, to, arguments, error)
                          : astro_cuda_delay_voltages(self, from, to, arguments, error);
}

static gboolean drain(gpointer instance, AstroResult *result, GError **error)
{
  return astro_cuda_drain(&((Delay *)instance)->place, error);
}

static void destroy(gpointer instance)
{
  Delay *self = (Delay *)instance;
  gpointer blocks[] = { self->taps, self->upload.block, self->window, self->spare };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  g_free(self);
}

static gboolean send_taps(Delay *self, GError **error)
{
  const guint n = astro_delay_taps(&self->config.in);
  const gboolean is_complex = n == ASTRO_FRACTION_TAPS;
  const guint row = is_complex ? n : 2 * n;
  const gsize bytes = (DELAY_TAP_STEPS + 1) * row * sizeof(float);
  g_autofree float *taps = (float *)g_malloc(bytes);
  for (guint i = 0; i <= DELAY_TAP_STEPS; i++)
    (is_complex ? astro_fraction_taps
                : astro_fraction_real_taps)((double)i / (double)DELAY_TAP_STEPS, 1, taps + i * row);
  return astro_cuda_delay_alloc(self, &self->taps, bytes, 1, error) &&
         CUDA_TRY(cudaMemcpyAsync(self->taps, taps, bytes, cudaMemcpyHostToDevice,
                                  astro_cuda_stream(self->place.queue)));
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_delay_shape(config, error) || !astro_cuda_enter(place->device, error))
    return NULL;
  Delay *self = g_new0(Delay, 1);
  self->config = *(const AstroDelayConfig *)config;
  self->place = *place;
  const AstroStream *in = &self->config.in;
  self->stations = (guint)astro_stream_extent(in, ASTRO_AXIS_STATION);
  self->pols = (guint)astro_stream_extent(in, ASTRO_AXIS_POL);
  self->channels = (guint)astro_stream_extent(in, ASTRO_AXIS_CHANNEL);
  self->inputs = self->stations * self->pols;
  self->is_spectra = in->quantity == ASTRO_QUANTITY_SPECTRA;
  self->rate = (double)in->rate_n / in->rate_d;
  self->channel_width = in->bandwidth / self->channels;
  self->first_frequency = astro_channel_frequency(in->frequency, in->bandwidth, self->channels, 0);
  if (!self->is_spectra && !send_taps(self, error)) {
    destroy(self);
    return NULL;
  }
  *variant = self->is_spectra                            ? "turn"
             : astro_format_info(in->format)->is_complex ? "interpolate"
                                                         : "interpolate-real";
  return self;
}

const AstroBackend astro_cuda_delay = {
  .stage = "delay",
  .kind = ASTRO_BACKEND_CUDA,
  .config_bytes = sizeof(AstroDelayConfig),
  .shape = astro_delay_shape,
  .create = create,
  .submit = submit,
  .drain = drain,
  .destroy = destroy,
};
