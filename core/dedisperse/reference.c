/* The reference backend: the formula, value by value. All other backends are tested against it. */
#include "config.h"
#include "core/backend/count.h"
#include "core/backend/instance.h"
#include "core/dedisperse/check.h"

typedef struct {
  AstroDedisperseConfig config;
  guint64 reach;
  guint32 *delays;   /* [dm][channel] */
  GArray *values;    /* [step][station][pol][channel], of the steps that are held */
  GArray *weights;   /* [step][station][channel] */
  guint64 all, done; /* steps of the stretch that came, and that went out */
} Reference;

static guint64 values_of_step(const AstroDedisperseConfig *config)
{
  return (guint64)config->stations * config->pols * config->channels;
}

static void take_step(Reference *self, const float *in, guint64 t,
                      const AstroDedisperseArguments *arguments)
{
  const AstroDedisperseConfig *config = &self->config;
  AstroDedisperseStrides strides;
  astro_dedisperse_strides(&strides, config, arguments->steps);
  for (guint s = 0; s < config->stations; s++) {
    for (guint p = 0; p < config->pols; p++)
      for (guint c = 0; c < config->channels; c++) {
        const float value =
            in ? in[t * strides.time + s * strides.station + p * strides.pol + c * strides.channel]
               : 0;
        g_array_append_val(self->values, value);
      }
    for (guint c = 0; c < config->channels; c++) {
      const guint32 weight = in ? astro_dedisperse_weight(arguments, t, c, s) : 0;
      g_array_append_val(self->weights, weight);
    }
  }
  self->all++;
}

/* Samples beyond the end of the stretch are lost. */
static void sum_up(const Reference *self, guint station, guint pol, guint dm, guint32 full,
                   double *mean, guint32 *count)
{
  const AstroDedisperseConfig *config = &self->config;
  const guint32 *delays = self->delays + (gsize)dm * config->channels;
  double sum = 0, weights = 0;
  for (guint c = 0; c < config->channels; c++) {
    const guint64 at = delays[c];
    if (self->done + at >= self->all)
      continue;
    const gsize row = (gsize)at * config->stations + station;
    const guint32 weight = g_array_index(self->weights, guint32, row * config->channels + c);
    if (!weight)
      continue;
    sum += (double)g_array_index(self->values, float,
                                 (row * config->pols + pol) * config->channels + c) *
           weight / full;
    ASTRO_COUNT(1); /* full weights need no multiplication */
    weights += weight;
  }
  ASTRO_COUNT(1);
  *mean = weights > 0 ? sum * full / weights : 0;
  *count = (guint32)weights;
}

static void give_step(Reference *self, guint32 full, float *out, guint32 *counts)
{
  const AstroDedisperseConfig *config = &self->config;
  for (guint s = 0; s < config->stations; s++)
    for (guint d = 0; d < config->n_dms; d++)
      for (guint p = 0; p < config->pols; p++) {
        const gsize at = (gsize)s * config->n_dms + d;
        double mean;
        sum_up(self, s, p, d, full, &mean, &counts[at]);
        out[at * config->pols + p] = (float)mean;
      }
  g_array_remove_range(self->values, 0, (guint)values_of_step(config));
  g_array_remove_range(self->weights, 0, config->stations * config->channels);
  self->done++;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroDedisperseConfig *config = &self->config;
  const AstroDedisperseArguments *arguments = argument;
  if (!astro_dedisperse_check_blocks(config, self->reach, in, n_in, out, n_out, arguments, result,
                                     error))
    return FALSE;
  const guint64 ready = astro_dedisperse_ready(self->reach, arguments);
  const gsize made = (gsize)config->stations * config->n_dms;
  if (arguments->before == 0) {
    g_array_set_size(self->values, 0);
    g_array_set_size(self->weights, 0);
    self->all = self->done = 0;
  }
  for (guint64 t = 0; t < arguments->steps; t++)
    take_step(self, n_in ? in[0].data : NULL, t, arguments);
  for (guint64 i = 0; i < ready; i++) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    give_step(self, arguments->full, (float *)out[0].data + i * made * config->pols,
              result->counts + i * made);
  }
  if (result)
    result->complete = FALSE;
  return astro_backend_goes_on(error);
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  g_array_unref(self->values);
  g_array_unref(self->weights);
  g_free(self->delays);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Reference *self =
      astro_instance_new(&astro_dedisperse_power_reference, sizeof(Reference), config, error);
  if (!self)
    return NULL;
  self->reach = astro_dedisperse_reach(&self->config);
  self->values = g_array_new(FALSE, FALSE, sizeof(float));
  self->weights = g_array_new(FALSE, FALSE, sizeof(guint32));
  self->delays = astro_dedisperse_delays(&self->config);
  if (variant)
    *variant = "double";
  return self;
}

const AstroBackend astro_dedisperse_power_reference = {
  .stage = "dedisperse",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroDedisperseConfig),
  .shape = astro_dedisperse_power_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
