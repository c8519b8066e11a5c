/* The reference backend: the formula, value by value, in double precision. */
#include "config.h"
#include "core/beamform/check.h"

#include "core/backend/count.h"
#include "core/backend/instance.h"
#include "core/lib/formats/samples.h"

#include <complex.h>
#include <math.h>
#include <string.h>

typedef struct {
  const AstroBeamformConfig *config;
  const AstroBeamformArguments *arguments;
  AstroSamples widen, narrow; /* to CF64LE, and from it to the output */
  AstroLayout in_shape, out_shape;
  AstroValiditySamples samples;
  const guint8 *in;
  guint8 *out;
} Work;

/* The place of a sample; row is the station or the beam. */
static gsize place(const AstroLayout *shape, guint64 step, guint channel, guint row, guint pol)
{
  guint64 strides[ASTRO_MAX_AXES];
  astro_layout_strides(shape, strides);
  return step * astro_layout_stride_of(shape, strides, ASTRO_AXIS_TIME) +
         channel * astro_layout_stride_of(shape, strides, ASTRO_AXIS_CHANNEL) +
         row * (astro_layout_stride_of(shape, strides, ASTRO_AXIS_STATION) +
                astro_layout_stride_of(shape, strides, ASTRO_AXIS_BEAM)) +
         pol * astro_layout_stride_of(shape, strides, ASTRO_AXIS_POL);
}

static double complex weight_of(const AstroBeamformStations *stations, guint channel, guint i)
{
  if (!stations->weights)
    return 1;
  const float *weight = stations->weights + 2 * ((gsize)channel * stations->n + i);
  return (double)weight[0] + I * (double)weight[1];
}

/* exp(-2 pi i f tau) */
static double complex phase_of(const Work *work, guint64 step, guint beam, double frequency,
                               guint i)
{
  const AstroBeamformArguments *a = work->arguments;
  const guint64 interval = (a->first + step) / a->interval - a->first / a->interval;
  const guint beams = astro_beamform_size(work->config).beams;
  const double *offset = a->offsets + 3 * (interval * beams + beam);
  const double *at = a->stations->seconds + 3 * (gsize)i;
  const double tau = at[0] * offset[0] + at[1] * offset[1] + at[2] * offset[2];
  return cexp(-2 * G_PI * I * frequency * tau);
}

static guint64 form(const Work *work, guint64 step, guint channel, guint beam, guint pol)
{
  const AstroBeamformStations *stations = work->arguments->stations;
  const AstroStream *in = &work->config->in;
  const double frequency = astro_channel_frequency(
      in->frequency, in->bandwidth, astro_beamform_size(work->config).channels, channel);
  double complex sum = 0;
  double magnitudes = 0;
  for (guint i = 0; i < stations->n; i++) {
    const double magnitude = astro_beamform_magnitude(stations, channel, i);
    const guint station = stations->index[i];
    double complex sample;
    if (magnitude == 0 || (work->arguments->validity &&
                           !astro_validity_is_whole(&work->samples, step, channel, station)))
      continue;
    astro_samples_convert(&work->widen, &sample,
                          work->in + place(&work->in_shape, step, channel, station, pol) *
                                         astro_stream_sample_bytes(in),
                          1);
    sum += weight_of(stations, channel, i) * phase_of(work, step, beam, frequency, i) * sample;
    ASTRO_COUNT(8); /* for the sample; weight and phase make one factor that lasts */
    magnitudes += magnitude;
  }
  const double complex mean = magnitudes > 0 ? stations->scale * sum / magnitudes : 0;
  return astro_samples_convert(&work->narrow,
                               work->out + place(&work->out_shape, step, channel, beam, pol) *
                                               astro_stream_sample_bytes(&work->config->out),
                               &mean, 1);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer data, AstroResult *result, GError **error)
{
  const AstroBeamformConfig *config = instance;
  const AstroBeamformSize size = astro_beamform_size(config);
  Work work = { .config = config, .arguments = data };
  guint64 clipped = 0;
  if (!astro_beamform_check(config, in, n_in, out, n_out, data, error))
    return FALSE;
  work.in = in->data;
  work.out = out->data;
  astro_samples_init(&work.widen, config->in.format, ASTRO_FORMAT_CF64LE);
  astro_samples_init(&work.narrow, ASTRO_FORMAT_CF64LE, config->out.format);
  astro_stream_shape(&config->in, work.arguments->steps, &work.in_shape);
  astro_stream_shape(&config->out, work.arguments->steps, &work.out_shape);
  if (work.arguments->validity)
    astro_validity_samples(&work.samples, work.arguments->validity, &work.in_shape);
  for (guint64 step = 0; step < work.arguments->steps; step++) {
    if (!astro_backend_goes_on(error))
      return FALSE;
    for (guint channel = 0; channel < size.channels; channel++)
      for (guint beam = 0; beam < size.beams; beam++)
        for (guint pol = 0; pol < size.pols; pol++)
          clipped += form(&work, step, channel, beam, pol);
  }
  if (result)
    result->clipped += clipped;
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  *variant = "c";
  return astro_instance_new(&astro_beamform_reference, sizeof(AstroBeamformConfig), config, error);
}

const AstroBackend astro_beamform_reference = {
  .stage = "beamform",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroBeamformConfig),
  .shape = astro_beamform_shape,
  .create = create,
  .submit = submit,
  .destroy = g_free,
};
