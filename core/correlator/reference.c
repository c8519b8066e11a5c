/* The reference backend: the formula, sample by sample. All other backends are tested against it.
 */
#include "core/backend/count.h"
#include "core/lib/formats/half.h"
#include "core/correlator/kernels.h"
#include "core/correlator/parts.h"

typedef struct {
  double re, im;
} Sample;

typedef struct {
  AstroCorrelatorConfig config;
  AstroCorrelatorSums sums;
  AstroCorrelatorCounts counts;
  Sample *samples; /* of one channel of a spectrum */
} Reference;

static Sample read_sample(AstroFormat format, gconstpointer from)
{
  Sample sample = { 0, 0 };
  switch (format) {
  case ASTRO_FORMAT_CI4: {
    gint byte = *(const gint8 *)from;
    sample.re = byte >> 4;
    sample.im = (gint8)((guint8)byte << 4) >> 4;
    break;
  }
  case ASTRO_FORMAT_CI8:
    sample.re = ((const gint8 *)from)[0];
    sample.im = ((const gint8 *)from)[1];
    break;
  case ASTRO_FORMAT_CI16LE:
    sample.re = ((const gint16 *)from)[0];
    sample.im = ((const gint16 *)from)[1];
    break;
  case ASTRO_FORMAT_CF16LE:
    sample.re = astro_half_value(((const guint16 *)from)[0]);
    sample.im = astro_half_value(((const guint16 *)from)[1]);
    break;
  default:
    sample.re = (double)((const float *)from)[0];
    sample.im = (double)((const float *)from)[1];
    break;
  }
  return sample;
}

static gboolean is_valid(const AstroCorrelatorArguments *arguments, guint64 t, guint c, guint s)
{
  return !arguments->valid ||
         arguments->valid[t * arguments->valid_time + c * arguments->valid_channel +
                          s * arguments->valid_station] != 0;
}

/* Products of integers are exact in double, and their sums in int64. */
static void add_step(Reference *self, const guint8 *in, const AstroCorrelatorArguments *arguments,
                     guint64 t, guint c)
{
  const AstroCorrelatorConfig *config = &self->config;
  gboolean is_float = astro_format_info(config->from)->is_float;
  guint64 sum = c * astro_correlator_channel_sums(config);
  AstroCorrelatorStrides strides;
  astro_correlator_strides(&strides, config, arguments->steps);
  in += t * strides.time + c * strides.channel;
  for (guint i = 0; i < config->stations; i++)
    for (guint p = 0; p < config->pols; p++)
      self->samples[i * config->pols + p] =
          read_sample(config->from, in + i * strides.station + p * strides.pol);
  for (guint i = 0; i < config->stations; i++)
    for (guint j = 0; j <= i; j++)
      for (guint p = 0; p < config->pols; p++)
        for (guint q = 0; q < config->pols; q++, sum++) {
          if (!is_valid(arguments, t, c, i) || !is_valid(arguments, t, c, j))
            continue;
          Sample a = self->samples[i * config->pols + p], b = self->samples[j * config->pols + q];
          double re = a.re * b.re + a.im * b.im;
          double im = a.im * b.re - a.re * b.im;
          ASTRO_COUNT(8); /* with the two sums */
          if (is_float) {
            self->sums.real[2 * sum] += re;
            self->sums.real[2 * sum + 1] += im;
          } else {
            self->sums.integer[2 * sum] += (gint64)re;
            self->sums.integer[2 * sum + 1] += (gint64)im;
          }
        }
}

static void destroy(gpointer instance)
{
  Reference *self = instance;
  astro_correlator_sums_free(&self->sums, &self->config);
  astro_correlator_counts_free(&self->counts);
  g_free(self->samples);
  g_free(self);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_correlator_shape(config, error))
    return NULL;
  Reference *self = g_new0(Reference, 1);
  self->config = *(const AstroCorrelatorConfig *)config;
  self->samples = g_new(Sample, (gsize)self->config.stations * self->config.pols);
  astro_correlator_counts_init(&self->counts, config);
  if (!astro_correlator_sums_new(&self->sums, config, error)) {
    destroy(self);
    return NULL;
  }
  if (variant)
    *variant = "double";
  return self;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer argument, AstroResult *result, GError **error)
{
  Reference *self = instance;
  const AstroCorrelatorArguments *arguments = argument;
  const AstroCorrelatorTold told = { result, arguments->n_counts };
  gboolean loss;
  AstroCorrelatorMeans means = astro_format_info(self->config.from)->is_float
                                   ? astro_correlator_means_real_c
                                   : astro_correlator_means_integer_c;
  if (arguments->parts)
    return astro_correlator_join(&self->config, in, n_in, out, n_out, arguments->parts, 1, error);
  if (!astro_correlator_check_blocks(&self->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (arguments->begin)
    astro_correlator_clear(&self->config, self->sums, &self->counts);
  if (!astro_correlator_counts_add(&self->counts, arguments, &loss, error))
    return FALSE;
  for (guint c = 0; c < self->config.channels; c++)
    for (guint64 t = 0; t < arguments->count; t++)
      add_step(self, in[0].data, arguments, arguments->first + t, c);
  return !arguments->dump || astro_correlator_dump(&self->config, self->sums, &self->counts,
                                                   out[0].data, means, 1, &told, error);
}

const AstroBackend astro_correlator_reference = {
  .stage = "correlator",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroCorrelatorConfig),
  .shape = astro_correlator_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
