/* Evaluates the model where kernels need it: at the middle of spectra, and at the ends of stretches
 * of voltages. */
#include "config.h"
#include "core/delay/instance.h"

#include <math.h>

#define TILE ASTRO_DELAY_TILE

static guint n_inputs(const AstroDelayInstance *instance)
{
  return instance->stations * instance->pols;
}

double *astro_delay_of_spectra(const AstroDelayInstance *instance,
                               const AstroDelayArguments *arguments)
{
  double *delays = g_new(double, arguments->steps *n_inputs(instance));
  for (guint64 step = 0; step < arguments->steps; step++)
    astro_delay_model_at(arguments->model,
                         astro_delay_spectrum_ns(&instance->config.in, arguments->first + step),
                         delays + step * n_inputs(instance));
  return delays;
}

gboolean astro_delay_stretches_init(AstroDelayStretches *stretches,
                                    const AstroDelayInstance *instance,
                                    const AstroDelayArguments *arguments, GError **error)
{
  const AstroStream *stream = &instance->config.in;
  const guint64 end = (arguments->out_first + arguments->out_steps + TILE - 1) / TILE * TILE;
  stretches->samples =
      astro_delay_model_stretch(arguments->model, stream->frequency, instance->rate, error);
  if (stretches->samples == 0)
    return FALSE;
  stretches->first = arguments->out_first / TILE * TILE;
  stretches->count = (end - stretches->first) / stretches->samples;
  stretches->delays = g_new(double, (stretches->count + 1) * n_inputs(instance));
  for (guint64 i = 0; i <= stretches->count; i++)
    astro_delay_model_at(arguments->model,
                         astro_delay_sample_ns(stream, stretches->first + i * stretches->samples),
                         stretches->delays + i * n_inputs(instance));
  return TRUE;
}

void astro_delay_stretches_clear(AstroDelayStretches *stretches)
{
  g_clear_pointer(&stretches->delays, g_free);
}

AstroDelayStretch astro_delay_stretch(const AstroDelayStretches *stretches,
                                      const AstroDelayInstance *instance,
                                      const AstroDelayModel *model, guint64 index, guint input)
{
  const AstroCalibration *calibration = astro_delay_model_calibration(model);
  const guint64 sample = stretches->first + index * stretches->samples;
  double here = stretches->delays[index * n_inputs(instance) + input];
  double there = stretches->delays[(index + 1) * n_inputs(instance) + input];
  double f0 = instance->zero_frequency, gain = 1, cycles = 0;
  /* The delay that counts is that at the time when the sample was taken, one delay earlier. */
  double slope = (there - here) * instance->rate / stretches->samples;
  here *= 1 - slope;
  there *= 1 - slope;
  if (calibration) {
    gain = 1 / calibration->inputs[input].amplitude;
    cycles = calibration->inputs[input].phase / (2 * G_PI);
  }
  double at = -0.5 * (here + there) * instance->rate, whole = floor(at);
  return (AstroDelayStretch){ .first = (gint64)sample + (gint64)whole,
                              .fraction = at - whole,
                              .gain = gain,
                              .phase = -f0 * here - cycles,
                              .rate = -f0 * (there - here) / stretches->samples };
}
