/* Rotates the phases of spectra, sample by sample. */
#include "gpu/delay/delay.h"
#include "gpu/runtime/samples.h"

struct Spectra {
  const guint8 *in;
  guint8 *out;
  AstroFormat from, to;
  guint64 samples;
  AstroDivisor extents[ASTRO_MAX_AXES]; /* fastest first */
  AstroAxis axes[ASTRO_MAX_AXES];
  guint n_axes, inputs, pols, channels;
  double first_frequency, channel_width;
  const double *delays;  /* [step][input] */
  const float2 *gains;   /* factor for each input; NULL: none */
  const guint *curves;   /* index of each input's bandpass */
  const float *bandpass; /* [curve][channel], factors */
};

static __global__ void __launch_bounds__(DELAY_THREADS)
    turn_spectra(const __grid_constant__ Spectra work)
{
  int clipped = 0;
  for (guint64 at = (guint64)blockIdx.x * DELAY_THREADS + threadIdx.x; at < work.samples;
       at += (guint64)gridDim.x * DELAY_THREADS) {
    guint32 rest = (guint32)at, step = 0, channel = 0, input = 0;
#pragma unroll
    for (guint i = 0; i < 4; i++) {
      if (i == work.n_axes)
        break;
      guint32 next = work.extents[i].divide(rest), here = rest - next * work.extents[i].by;
      rest = next;
      if (work.axes[i] == ASTRO_AXIS_TIME)
        step = here;
      else if (work.axes[i] == ASTRO_AXIS_CHANNEL)
        channel = here;
      else
        input += work.axes[i] == ASTRO_AXIS_STATION ? here * work.pols : here;
    }
    double frequency = work.first_frequency + channel * work.channel_width;
    float2 sample = product(read_sample(work.in, at, work.from),
                            turn_by(-frequency * work.delays[(guint64)step * work.inputs + input]));
    if (work.gains) {
      float2 gain = work.gains[input];
      float bandpass = work.bandpass[(gsize)work.curves[input] * work.channels + channel];
      sample = product(sample, make_float2(gain.x * bandpass, gain.y * bandpass));
    }
    write_sample(work.out, at, work.to, sample, &clipped);
  }
}

gboolean astro_cuda_delay_spectra(Delay *self, const guint8 *in, guint8 *out,
                                  const AstroDelayArguments *arguments, GError **error)
{
  const AstroCalibration *calibration = astro_delay_model_calibration(arguments->model);
  g_autofree double *delays = g_new(double, arguments->steps * self->inputs);
  g_autofree float2 *gains = g_new(float2, self->inputs);
  const guint n_curves = calibration ? calibration->n_bandpasses : 0;
  g_autofree guint *curves = g_new(guint, self->inputs);
  g_autofree float *bandpass = g_new(float, n_curves *(gsize)self->channels);
  Spectra work = {
    .in = in,
    .out = out,
    .from = self->config.in.format,
    .to = self->config.out.format,
    .samples = arguments->steps * self->inputs * self->channels,
    .inputs = self->inputs,
    .pols = self->pols,
    .channels = self->channels,
    .first_frequency = self->first_frequency,
    .channel_width = self->channel_width,
  };
  AstroLayout shape;

  if (work.samples > G_MAXINT32)
    return astro_backend_refuse(error,
                                "a block of %" G_GUINT64_FORMAT
                                " samples is more than the kernel's indices count (2^31)",
                                work.samples);
  if (work.samples == 0)
    return TRUE;
  for (guint64 step = 0; step < arguments->steps; step++)
    astro_delay_model_at(arguments->model,
                         astro_delay_spectrum_ns(&self->config.in, arguments->first + step),
                         delays + step * self->inputs);
  for (guint i = 0; calibration && i < self->inputs; i++) {
    const AstroInputCalibration *input = &calibration->inputs[i];
    gains[i].x = (float)(cos(input->phase) / input->amplitude);
    gains[i].y = (float)(-sin(input->phase) / input->amplitude);
    curves[i] = input->bandpass;
  }
  for (guint c = 0; c < n_curves; c++)
    for (guint k = 0; k < self->channels; k++)
      bandpass[c * (gsize)self->channels + k] =
          (float)(1 / astro_bandpass_at(&calibration->bandpasses[c],
                                        self->first_frequency + k * self->channel_width));
  AstroCudaPiece pieces[] = { { delays, arguments->steps * self->inputs * sizeof *delays },
                              { gains, calibration ? self->inputs * sizeof *gains : 0 },
                              { curves, calibration ? self->inputs * sizeof *curves : 0 },
                              { bandpass, n_curves * (gsize)self->channels * sizeof *bandpass } };
  if (!astro_cuda_upload(&self->upload, &self->place, "delay", pieces, G_N_ELEMENTS(pieces), error))
    return FALSE;
  work.delays = (const double *)pieces[0].device;
  work.gains = calibration ? (const float2 *)pieces[1].device : NULL;
  work.curves = (const guint *)pieces[2].device;
  work.bandpass = (const float *)pieces[3].device;
  astro_stream_shape(&self->config.in, arguments->steps, &shape);
  work.n_axes = shape.n_axes;
  for (guint i = 0; i < shape.n_axes; i++) {
    work.extents[i] = AstroDivisor((guint32)shape.extents[shape.n_axes - 1 - i]);
    work.axes[i] = shape.axes[shape.n_axes - 1 - i];
  }
  turn_spectra<<<(unsigned)MIN((work.samples + DELAY_THREADS - 1) / DELAY_THREADS, 1u << 16),
                 DELAY_THREADS, 0, astro_cuda_stream(self->place.queue)>>>(work);
  return CUDA_TRY(cudaGetLastError());
}
