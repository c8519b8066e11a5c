/* The reference of coherent dedispersion: the sum over the taps, value by value, in double
 * precision. */
#include "config.h"
#include "core/backend/instance.h"
#include "core/dedisperse/check.h"
#include "core/dedisperse/coherent.h"
#include "core/dedisperse/samples.h"

#include <fftw3.h>
#include <string.h>

typedef struct {
  AstroDedisperseConfig config;
  AstroDedisperseFilter filter;
  double complex **taps; /* of each channel */
  GArray *values;        /* float complex [step][station][pol][channel], of the whole stretch */
  GArray *good;          /* guint8, in the same order */
} Reference;

static gsize samples_of_step(const AstroDedisperseConfig *config)
{
  return (gsize)config->stations * config->pols * config->channels;
}

/* A sample of which one polarisation is not there counts as lost in all. */
static gboolean is_there(const Reference *self, gconstpointer in,
                         const AstroDedisperseStrides *strides,
                         const AstroDedisperseArguments *arguments, guint64 t, guint s, guint c)
{
  if (!in || !astro_dedisperse_weight(arguments, t, c, s))
    return FALSE;
  for (guint p = 0; p < self->config.pols; p++)
    if (!astro_dedisperse_is_finite(astro_dedisperse_sample(
            self->config.from, in,
            t * strides->time + s * strides->station + p * strides->pol + c * strides->channel)))
      return FALSE;
  return TRUE;
}

static void take_step(Reference *self, gconstpointer in, guint64 t,
                      const AstroDedisperseArguments *arguments)
{
  const AstroDedisperseConfig *config = &self->config;
  AstroDedisperseStrides strides;
  astro_dedisperse_strides(&strides, config, arguments->steps);
  for (guint s = 0; s < config->stations; s++)
    for (guint p = 0; p < config->pols; p++)
      for (guint c = 0; c < config->channels; c++) {
        const guint8 good = (guint8)is_there(self, in, &strides, arguments, t, s, c);
        const float complex value =
            good ? astro_dedisperse_sample(config->from, in,
                                           t * strides.time + s * strides.station +
                                               p * strides.pol + c * strides.channel)
                 : 0;
        g_array_append_val(self->values, value);
        g_array_append_val(self->good, good);
      }
}

static float complex sum_up(const Reference *self, guint64 value, guint s, guint p, guint c,
                            guint32 *count)
{
  const AstroDedisperseConfig *config = &self->config;
  const guint64 from = value + (guint64)(self->filter.shifts[c] - self->filter.least);
  double complex sum = 0;
  *count = 0;
  for (guint k = 0; k < self->filter.taps; k++) {
    const gsize at =
        (from + k) * samples_of_step(config) + ((gsize)s * config->pols + p) * config->channels + c;
    sum += self->taps[c][k] * (double complex)g_array_index(self->values, float complex, at);
    *count += g_array_index(self->good, guint8, at);
  }
  return (float complex)sum;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroDedisperseConfig *config = &self->config;
  const AstroDedisperseArguments *arguments = argument;
  AstroDedisperseStrides strides;
  if (!astro_dedisperse_coherent_check(config, &self->filter, in, n_in, out, n_out, arguments,
                                       result, error))
    return FALSE;
  const guint64 ready = astro_dedisperse_filter_ready(&self->filter, arguments),
                done = astro_dedisperse_filter_done(&self->filter, arguments);
  if (arguments->before == 0) {
    g_array_set_size(self->values, 0);
    g_array_set_size(self->good, 0);
  }
  for (guint64 t = 0; t < arguments->steps; t++)
    take_step(self, n_in ? in[0].data : NULL, t, arguments);
  astro_dedisperse_strides(&strides, config, ready);
  for (guint64 i = 0; i < ready; i++) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    for (guint s = 0; s < config->stations; s++)
      for (guint p = 0; p < config->pols; p++)
        for (guint c = 0; c < config->channels; c++)
          ((float complex *)out[0].data)[i * strides.time + s * strides.station + p * strides.pol +
                                         c * strides.channel] =
              sum_up(self, done + i, s, p, c,
                     &result->counts[(i * config->stations + s) * config->channels + c]);
  }
  if (result)
    result->complete = FALSE;
  return astro_backend_goes_on(error);
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  for (guint c = 0; c < self->config.channels; c++)
    fftw_free(self->taps[c]);
  g_free(self->taps);
  g_array_unref(self->values);
  g_array_unref(self->good);
  astro_dedisperse_filter_clear(&self->filter);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Reference *self =
      astro_instance_new(&astro_dedisperse_coherent_reference, sizeof(Reference), config, error);
  gboolean has_taps = TRUE;
  if (!self)
    return NULL;
  self->values = g_array_new(FALSE, FALSE, sizeof(float complex));
  self->good = g_array_new(FALSE, FALSE, 1);
  self->taps = g_new0(double complex *, self->config.channels);
  if (!astro_dedisperse_filter_init(&self->filter, &self->config, error)) {
    destroy(self);
    return NULL;
  }
  for (guint c = 0; c < self->config.channels; c++)
    has_taps &= (self->taps[c] = astro_dedisperse_filter_taps(&self->filter, config, c)) != NULL;
  if (!has_taps) {
    astro_backend_no_memory(error, "no memory for filters of %u taps", self->filter.taps);
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = "double";
  return self;
}

const AstroBackend astro_dedisperse_coherent_reference = {
  .stage = "dedisperse",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroDedisperseConfig),
  .shape = astro_dedisperse_coherent_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
