/* Rotates the phases of spectra. */
#include "config.h"
#include "opencl/delay/instance.h"

#include <math.h>

/* As in delay.cl. */
typedef struct {
  cl_ulong samples;
  cl_ulong time, station, pol, channel;
  cl_ulong steps;
  cl_uint stations, pols, channels, from, to, has_gains;
} Spectra;

typedef struct {
  cl_ulong first, step; /* phase of the first channel, and from one to the next */
} Phase;

static gboolean send(Delay *self, AstroOpenclRoom *room, gconstpointer from, gsize n, gsize bytes,
                     GError **error)
{
  return astro_opencl_send(&self->place, "delay", room, from, n * bytes, error);
}

static gboolean send_phases(Delay *self, const AstroDelayArguments *arguments, GError **error)
{
  const gsize n = arguments->steps * self->inputs;
  g_autofree double *delays = astro_delay_of_spectra(&self->core, arguments);
  g_autofree Phase *phases = g_new(Phase, n);
  for (gsize i = 0; i < n; i++)
    phases[i] = (Phase){ astro_opencl_delay_phase(-self->core.first_frequency * delays[i]),
                         astro_opencl_delay_phase(-self->core.channel_width * delays[i]) };
  return send(self, &self->pieces, phases, n, sizeof *phases, error);
}

/* Samples are multiplied by the gain of their input, and by a curve, of which there are few. */
static gboolean send_gains(Delay *self, const AstroCalibration *calibration, GError **error)
{
  const gsize channels = self->core.channels, n_curves = calibration->n_bandpasses;
  g_autofree cl_float2 *gains = g_new(cl_float2, self->inputs);
  g_autofree cl_uint *curves = g_new(cl_uint, self->inputs);
  g_autofree float *bandpass = g_new(float, n_curves *channels);
  for (guint i = 0; i < self->inputs; i++) {
    const AstroInputCalibration *input = &calibration->inputs[i];
    gains[i].s[0] = (float)(cos(input->phase) / input->amplitude);
    gains[i].s[1] = (float)(-sin(input->phase) / input->amplitude);
    curves[i] = input->bandpass;
  }
  for (gsize i = 0; i < n_curves * channels; i++)
    bandpass[i] =
        (float)(1 / astro_bandpass_at(&calibration->bandpasses[i / channels],
                                      self->core.first_frequency +
                                          (double)(i % channels) * self->core.channel_width));
  return send(self, &self->gains, gains, self->inputs, sizeof *gains, error) &&
         send(self, &self->curves, curves, self->inputs, sizeof *curves, error) &&
         send(self, &self->bandpass, bandpass, n_curves * channels, sizeof *bandpass, error);
}

/* The kernel divides by strides: an axis that is not there has one of 1, and an extent of 1. */
static Spectra describe(const Delay *self, guint64 steps)
{
  const AstroDelayInstance *core = &self->core;
  AstroDelayStrides strides;
  astro_delay_strides(&core->config.in, steps, &strides);
  return (Spectra){ .samples = steps * self->inputs * core->channels,
                    .time = strides.time,
                    .station = MAX(strides.station, 1),
                    .pol = MAX(strides.pol, 1),
                    .channel = MAX(strides.channel, 1),
                    .steps = steps,
                    .stations = core->stations,
                    .pols = core->pols,
                    .channels = core->channels,
                    .from = (cl_uint)core->config.in.format,
                    .to = (cl_uint)core->config.out.format };
}

gboolean astro_opencl_delay_spectra(AstroDelayInstance *core, const guint8 *in, guint8 *out,
                                    const AstroDelayArguments *arguments, GError **error)
{
  Delay *self = (Delay *)core;
  const AstroCalibration *calibration = astro_delay_model_calibration(arguments->model);
  Spectra work = describe(self, arguments->steps);
  work.has_gains = calibration != NULL;
  if (work.samples == 0)
    return TRUE;
  if (!send_phases(self, arguments, error) ||
      (calibration && !send_gains(self, calibration, error)))
    return FALSE;
  const AstroOpenclArgument given[] = {
    OPENCL_FACE(in),
    OPENCL_FACE(out),
    OPENCL_FACE(self->pieces.face),
    OPENCL_FACE(calibration ? self->gains.face : NULL),
    OPENCL_FACE(calibration ? self->curves.face : NULL),
    OPENCL_FACE(calibration ? self->bandpass.face : NULL),
    OPENCL_VALUE(work),
  };
  return astro_opencl_launch_items(&self->place, self->work, given, G_N_ELEMENTS(given),
                                   work.samples, GROUP, error);
}
