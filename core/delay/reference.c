/* The formulas in double precision: a rotation for every channel of spectra; for every sample of
 * voltages a sum over all taps, with the delay at the time of that sample. */
#include "config.h"
#include "core/backend/count.h"
#include "core/delay/instance.h"

#include <complex.h>
#include <math.h>

/* The gain that the instrument multiplied an input by, at all frequencies. */
static double complex gain_of(const AstroDelayModel *model, guint input)
{
  const AstroCalibration *calibration = astro_delay_model_calibration(model);
  if (!calibration)
    return 1;
  return calibration->inputs[input].amplitude * cexp(I * calibration->inputs[input].phase);
}

static double bandpass_of(const AstroDelayModel *model, guint input, double frequency)
{
  const AstroCalibration *calibration = astro_delay_model_calibration(model);
  return calibration ? astro_calibration_bandpass(calibration, input, frequency) : 1;
}

static double complex phasor_of(double cycles)
{
  return cexp(2 * I * G_PI * (cycles - floor(cycles)));
}

static void load(const AstroDelayInstance *instance, const guint8 *in, guint n, float *re,
                 float *im)
{
  astro_delay_kernels_c.load[instance->in_format->format](in, n, re, im);
}

static void store(const AstroDelayInstance *instance, double complex value, guint8 *out,
                  gsize offset)
{
  float re[16] = { (float)creal(value) }, im[16] = { (float)cimag(value) };
  astro_sky_kernels_c.store[instance->out_format->format](
      re, im, 1, 1, out + offset * instance->out_format->bytes);
}

static gboolean rotate_spectra(AstroDelayInstance *instance, const guint8 *in, guint8 *out,
                               const AstroDelayArguments *arguments, GError **error)
{
  g_autofree double *delays = g_new(double, instance->stations * instance->pols);
  AstroDelayStrides strides;
  astro_delay_strides(&instance->config.in, arguments->steps, &strides);
  for (guint64 step = 0; step < arguments->steps; step++) {
    astro_delay_model_at(arguments->model,
                         astro_delay_spectrum_ns(&instance->config.in, arguments->first + step),
                         delays);
    for (guint input = 0; input < instance->stations * instance->pols; input++)
      for (guint channel = 0; channel < instance->channels; channel++) {
        double frequency = instance->first_frequency + channel * instance->channel_width;
        gsize offset = step * strides.time + input / instance->pols * strides.station +
                       input % instance->pols * strides.pol + channel * strides.channel;
        float re, im;
        load(instance, in + offset * instance->in_format->bytes, 1, &re, &im);
        ASTRO_COUNT(6); /* phase, gain and bandpass make one factor */
        store(instance,
              (re + I * im) * phasor_of(-frequency * delays[input]) /
                  (gain_of(arguments->model, input) *
                   bandpass_of(arguments->model, input, frequency)),
              out, offset);
      }
  }
  return TRUE;
}

/* The sum over all taps: the input's voltage between two samples; for real voltages the analytic
 * signal. */
static double complex voltage_at(const AstroDelayInstance *instance, guint input, gint64 sample,
                                 double fraction)
{
  const gboolean is_complex = astro_format_info(instance->config.in.format)->is_complex;
  const guint n = astro_delay_taps(&instance->config.in);
  float taps[2 * ASTRO_FRACTION_REAL_TAPS] = { 0 };
  float re[ASTRO_FRACTION_REAL_TAPS], im[ASTRO_FRACTION_REAL_TAPS] = { 0 };
  double complex sum = 0;
  load(instance, astro_delay_window_at(instance, input, sample - ASTRO_FRACTION_CENTRE(n)), n, re,
       im);
  if (is_complex)
    astro_fraction_taps(fraction, 1, taps);
  else
    astro_fraction_real_taps(fraction, 1, taps);
  for (guint k = 0; k < n; k++) {
    /* Taps of complex voltages are real, and real voltages have complex taps. */
    ASTRO_COUNT(4);
    sum += ((double)taps[k] + I * taps[n + k]) * (re[k] + I * im[k]);
  }
  return sum;
}

static gboolean delay_voltages(AstroDelayInstance *instance, guint8 *out,
                               const AstroDelayArguments *arguments, GError **error)
{
  const AstroStream *stream = &instance->config.in;
  guint inputs = instance->stations * instance->pols;
  g_autofree double *delays = g_new(double, inputs), *next = g_new(double, inputs);
  AstroDelayStrides strides;
  astro_delay_strides(stream, arguments->out_steps, &strides);
  for (guint64 step = 0; step < arguments->out_steps; step++) {
    guint64 sample = arguments->out_first + step;
    astro_delay_model_at(arguments->model, astro_delay_sample_ns(stream, sample), delays);
    astro_delay_model_at(arguments->model, astro_delay_sample_ns(stream, sample) + GST_SECOND,
                         next);
    for (guint input = 0; input < inputs; input++) {
      /* The delay that counts is that at the time when the sample was taken, one delay earlier. */
      double delay = delays[input] * (1 - (next[input] - delays[input]));
      double at = -delay * instance->rate, whole = floor(at);
      ASTRO_COUNT(6);
      store(instance,
            voltage_at(instance, input, (gint64)sample + (gint64)whole, at - whole) *
                phasor_of(-instance->zero_frequency * delay) / gain_of(arguments->model, input),
            out,
            step * strides.time + input / instance->pols * strides.station +
                input % instance->pols * strides.pol);
    }
  }
  return TRUE;
}

static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  if (!astro_delay_shape(config, error))
    return NULL;
  AstroDelayInstance *instance = astro_delay_instance_new(config, place);
  instance->rotate_spectra = rotate_spectra;
  instance->delay_voltages = delay_voltages;
  *variant = "c";
  return instance;
}

const AstroBackend astro_delay_reference = {
  .stage = "delay",
  .kind = ASTRO_BACKEND_REFERENCE,
  .config_bytes = sizeof(AstroDelayConfig),
  .shape = astro_delay_shape,
  .create = create,
  .submit = astro_delay_submit,
  .destroy = astro_delay_instance_free,
};
