/* The reference backend: the formula in double precision. */
#include "config.h"
#include "core/channelizer/check.h"
#include "core/channelizer/stretch.h"

#include <complex.h>
#include <math.h>

typedef struct {
  AstroChannelizerConfig config;
  AstroStretch stretch;
  double *weights;
  complex double *phasors; /* exp(-2 pi i n / step) */
} Reference;

static void destroy(gpointer instance)
{
  Reference *reference = instance;
  astro_stretch_clear(&reference->stretch);
  g_free(reference->weights);
  g_free(reference->phasors);
  g_free(reference);
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_channelizer_shape(config, error))
    return NULL;
  Reference *reference = g_new0(Reference, 1);
  reference->config = *(const AstroChannelizerConfig *)config;
  guint64 step = astro_channelizer_step(&reference->config);
  reference->weights = g_new(double, astro_channelizer_span(&reference->config));
  astro_channelizer_weights(&reference->config, reference->weights);
  reference->phasors = g_new(complex double, step);
  for (guint64 n = 0; n < step; n++)
    reference->phasors[n] = cexp(-2 * M_PI * I * (double)n / (double)step);
  *variant = "c";
  if (astro_stretch_init(&reference->stretch, &reference->config, place->threads, error))
    return reference;
  destroy(reference);
  return NULL;
}

/* Adds up the weighted samples that have the same phase in every channel, those a multiple of a
 * step apart. x has the samples from index first on. */
static void fold(const Reference *reference, const float *x, guint64 first, complex double *folded)
{
  const AstroChannelizerConfig *config = &reference->config;
  const guint64 step = astro_channelizer_step(config), span = astro_channelizer_span(config);
  const gboolean is_complex = astro_format_info(config->in.format)->is_complex;
  memset(folded, 0, step * sizeof *folded);
  for (guint64 i = 0; i < span; i++) {
    const complex double sample = is_complex ? x[2 * i] + I * x[2 * i + 1] : x[i];
    folded[(first + i) % step] += reference->weights[i] * sample;
  }
}

/* X[n][k] */
static complex double value(const Reference *reference, const complex double *folded, guint channel)
{
  const AstroChannelizerConfig *config = &reference->config;
  const guint64 step = astro_channelizer_step(config);
  const gboolean is_complex = astro_format_info(config->in.format)->is_complex;
  const guint64 frequency = is_complex ? (channel + step - config->channels / 2) % step : channel;
  complex double sum = 0;
  for (guint64 n = 0, cycle = 0; n < step; n++) {
    sum += folded[n] * reference->phasors[cycle];
    cycle += frequency;
    cycle -= cycle >= step ? step : 0;
  }
  return sum;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  Reference *reference = instance;
  const AstroChannelizerConfig *config = &reference->config;
  const AstroChannelizerArguments *call = arguments;
  AstroStretch *stretch = &reference->stretch;
  guint64 span = astro_channelizer_span(config), step = astro_channelizer_step(config);
  AstroSpectra spectra;
  AstroSamples quantise;
  guint64 clipped = 0;

  if (!astro_stretch_spectra(stretch, call, &spectra, error) ||
      !astro_channelizer_check_call(config, in, n_in, out, n_out, call, spectra.count, error) ||
      !astro_stretch_open(stretch, n_in ? in : NULL, call, error))
    return FALSE;
  astro_samples_init(&quantise, ASTRO_FORMAT_CF64LE, config->to);
  g_autofree float *x = g_new(float, span * stretch->samples.components);
  g_autofree complex double *folded = g_new(complex double, step);
  g_autofree complex double *row = g_new(complex double, config->channels);
  const gsize row_bytes = config->channels * quantise.to_bytes;
  for (guint input = 0; input < stretch->inputs; input++)
    for (guint64 n = 0; n < spectra.count; n++) {
      const guint64 at = astro_channelizer_row(config, input, n, spectra.count);
      guint64 first = (spectra.first + n) * step - astro_channelizer_lead(config);
      astro_stretch_read(stretch, input, first, span, x);
      fold(reference, x, first, folded);
      for (guint k = 0; k < config->channels; k++)
        row[k] = value(reference, folded, k) * (config->gains ? config->gains[k] : 1);
      clipped += astro_samples_convert(&quantise, (guint8 *)out->data + at * row_bytes, row,
                                       config->channels);
    }
  astro_stretch_close(stretch, spectra.first + spectra.count);
  if (result)
    result->clipped += clipped;
  return TRUE;
}

const AstroBackend astro_channelizer_reference = {
  .stage = "channelizer",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroChannelizerConfig),
  .shape = astro_channelizer_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
