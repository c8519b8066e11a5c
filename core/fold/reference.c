/* The reference backend: the formula, sample by sample. All other backends are tested against it.
 */
#include "config.h"
#include "core/backend/count.h"
#include "core/fold/check.h"

#include <string.h>

typedef struct {
  AstroFoldConfig config;
  double *sums;  /* [station][channel][pol][bin] */
  guint32 *good; /* [station][channel][bin] */
} Reference;

static void clear(Reference *self)
{
  const gsize n = astro_fold_counts(&self->config);
  memset(self->sums, 0, n * self->config.pols * sizeof *self->sums);
  memset(self->good, 0, n * sizeof *self->good);
}

static void add_sample(Reference *self, const AstroFoldArguments *arguments, const float *in,
                       const AstroFoldStrides *strides, guint64 t, guint s, guint c)
{
  const AstroFoldConfig *config = &self->config;
  const guint32 phase = arguments->phases[t] - arguments->lags[c];
  const guint bin = (guint)(((guint64)phase * config->bins) >> 32);
  const gsize series = (gsize)s * config->channels + c;
  if (!astro_fold_is_valid(arguments, t, c, s))
    return;
  self->good[series * config->bins + bin]++;
  ASTRO_COUNT(config->pols);
  for (guint p = 0; p < config->pols; p++)
    self->sums[(series * config->pols + p) * config->bins + bin] += (double)
        in[t * strides->time + s * strides->station + c * strides->channel + p * strides->pol];
}

static void write_profile(const Reference *self, float *out, guint32 *counts)
{
  const AstroFoldConfig *config = &self->config;
  for (gsize series = 0; series < (gsize)config->stations * config->channels; series++)
    for (guint b = 0; b < config->bins; b++) {
      const guint32 good = self->good[series * config->bins + b];
      counts[series * config->bins + b] = good;
      for (guint p = 0; p < config->pols; p++) {
        const gsize at = (series * config->pols + p) * config->bins + b;
        ASTRO_COUNT(1);
        out[at] = good ? (float)(self->sums[at] / good) : 0;
      }
    }
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroFoldArguments *arguments = argument;
  AstroFoldStrides strides;
  if (!astro_fold_check_blocks(&self->config, in, n_in, out, n_out, arguments, result, error))
    return FALSE;
  astro_fold_strides(&strides, &self->config, arguments->steps);
  if (arguments->begin)
    clear(self);
  for (guint64 t = arguments->from; n_in && t < arguments->to; t++) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    for (guint s = 0; s < self->config.stations; s++)
      for (guint c = 0; c < self->config.channels; c++)
        add_sample(self, arguments, in[0].data, &strides, t, s, c);
  }
  if (arguments->end) {
    write_profile(self, out[0].data, result->counts);
    clear(self);
  }
  return TRUE;
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  g_free(self->sums);
  g_free(self->good);
  g_free(self);
}

static gpointer create(gconstpointer configuration, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_fold_shape(configuration, error))
    return NULL;
  Reference *self = g_new0(Reference, 1);
  self->config = *(const AstroFoldConfig *)configuration;
  const gsize n = astro_fold_counts(&self->config);
  self->sums = g_try_new0(double, n * self->config.pols);
  self->good = g_try_new0(guint32, n);
  if (self->sums && self->good)
    return self;
  destroy(self);
  astro_backend_no_memory(error, "no memory for profiles of %" G_GSIZE_FORMAT " values", n);
  return NULL;
}

const AstroBackend astro_fold_reference = {
  .stage = "fold",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroFoldConfig),
  .shape = astro_fold_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
