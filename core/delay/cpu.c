/* The CPU backend: tiles of channels or samples, spread over threads. */
#include "config.h"
#include "core/delay/instance.h"

#include <math.h>
#include <string.h>

#include "core/backend/threads.h"

#define TILE ASTRO_DELAY_TILE
#define TASK_INPUTS 32 /* inputs per task */

typedef struct {
  AstroDelayInstance *instance;
  const AstroDelayArguments *arguments;
  AstroDelayRows in, out;
  double *delays; /* spectra: steps x inputs */
  float *gains;   /* spectra: inputs x (re, im) x channels, to multiply by; NULL: none */
  AstroDelayStretches stretches;
} Work;

static gsize input_offset(const AstroDelayInstance *instance, const AstroDelayRows *rows,
                          guint input)
{
  return input / instance->pols * rows->strides.station +
         input % instance->pols * rows->strides.pol;
}

static void store(const AstroDelayInstance *instance, const AstroTile *tile, guint skip, guint n,
                  guint8 *out)
{
  instance->store_kernels->store[instance->out_format->format](tile->re + skip, tile->im + skip, n,
                                                               1, out);
}

static guint n_inputs(const AstroDelayInstance *instance)
{
  return instance->stations * instance->pols;
}

/* ---- spectra ---- */

static float *make_gains(const AstroDelayInstance *instance, const AstroDelayModel *model)
{
  const AstroCalibration *calibration = astro_delay_model_calibration(model);
  if (!calibration)
    return NULL;
  float *gains = g_new(float, 2 * (gsize)n_inputs(instance) * instance->channels), *re = gains;
  for (guint input = 0; input < n_inputs(instance); input++, re += 2 * instance->channels)
    for (guint k = 0; k < instance->channels; k++) {
      double frequency = instance->first_frequency + k * instance->channel_width;
      double amplitude = 1 / (calibration->inputs[input].amplitude *
                              astro_calibration_bandpass(calibration, input, frequency));
      re[k] = (float)(amplitude * cos(calibration->inputs[input].phase));
      re[instance->channels + k] = (float)(-amplitude * sin(calibration->inputs[input].phase));
    }
  return gains;
}

static void multiply(AstroTile *tile, const float *re, const float *im, guint n)
{
  for (guint i = 0; i < n; i++) {
    float x = tile->re[i] * re[i] - tile->im[i] * im[i];
    tile->im[i] = tile->re[i] * im[i] + tile->im[i] * re[i];
    tile->re[i] = x;
  }
}

static guint64 n_groups(const AstroDelayInstance *instance)
{
  return (n_inputs(instance) + TASK_INPUTS - 1) / TASK_INPUTS;
}

static void rotate_tile(const Work *work, guint64 step, guint input, guint channel, guint n,
                        AstroTile *tile)
{
  const AstroDelayInstance *instance = work->instance;
  double delay = work->delays[step * n_inputs(instance) + input];
  guint grains = (n + ASTRO_DELAY_GRAIN - 1) / ASTRO_DELAY_GRAIN;
  instance->kernels->rotate(
      tile->re, tile->im, -(instance->first_frequency + channel * instance->channel_width) * delay,
      -instance->channel_width * delay, grains * ASTRO_DELAY_GRAIN);
  if (work->gains) {
    const float *gains = work->gains + 2 * (gsize)input * instance->channels + channel;
    multiply(tile, gains, gains + instance->channels, n);
  }
}

/* Rotates some inputs of one spectrum. */
static void rotate_spectrum(gpointer data, guint64 task)
{
  const Work *work = data;
  const AstroDelayInstance *instance = work->instance;
  const guint64 step = task / n_groups(instance);
  const guint first = (guint)(task % n_groups(instance)) * TASK_INPUTS;
  const guint end = MIN(first + TASK_INPUTS, n_inputs(instance));
  AstroTile tile;

  memset(&tile, 0, sizeof tile); /* the kernels work on whole vectors, past the last channel */
  for (guint input = first; input < end; input++) {
    gsize from = step * work->in.strides.time + input_offset(instance, &work->in, input);
    gsize to = step * work->out.strides.time + input_offset(instance, &work->out, input);
    for (guint channel = 0; channel < instance->channels; channel += TILE) {
      guint n = MIN(TILE, instance->channels - channel);
      instance->kernels->load[instance->in_format->format](
          work->in.data + (from + channel) * instance->in_format->bytes, n, tile.re, tile.im);
      rotate_tile(work, step, input, channel, n, &tile);
      store(instance, &tile, 0, n, work->out.data + (to + channel) * instance->out_format->bytes);
    }
  }
}

static gboolean rotate_spectra(AstroDelayInstance *instance, const guint8 *in, guint8 *out,
                               const AstroDelayArguments *arguments, GError **error)
{
  const AstroDelayConfig *config = &instance->config;
  Work work = { .instance = instance, .arguments = arguments };
  AstroDelayRows block_in = { .data = (guint8 *)in }, block_out = { .data = out };
  astro_delay_strides(&config->in, arguments->steps, &block_in.strides);
  block_out.strides = block_in.strides;
  if (!astro_delay_rows(&work.in, &config->in, arguments->steps, &block_in, &instance->rows_in,
                        error) ||
      !astro_delay_rows(&work.out, &config->out, arguments->steps, &block_out, &instance->rows_out,
                        error))
    return FALSE;
  g_autofree double *delays = astro_delay_of_spectra(instance, arguments);
  g_autofree float *gains = make_gains(instance, arguments->model);
  work.delays = delays;
  work.gains = gains;
  if (work.in.data != in)
    astro_delay_move(&config->in, arguments->steps, &work.in, &block_in, instance->threads);
  astro_parallel(arguments->steps * n_groups(instance), instance->threads, rotate_spectrum, &work);
  if (work.out.data != out)
    astro_delay_move(&config->out, arguments->steps, &block_out, &work.out, instance->threads);
  return TRUE;
}

/* ---- voltages ---- */

static void delay_stretch(const Work *work, guint input, const AstroDelayStretch *stretch,
                          float *re, float *im)
{
  const AstroDelayInstance *instance = work->instance;
  const AstroDelayKernels *kernels = instance->kernels;
  const guint n_taps = astro_delay_taps(&instance->config.in);
  float from_re[TILE + ASTRO_FRACTION_REAL_TAPS], from_im[TILE + ASTRO_FRACTION_REAL_TAPS];
  float taps[2 * ASTRO_FRACTION_REAL_TAPS];
  kernels->load[instance->in_format->format](
      astro_delay_window_at(instance, input, stretch->first - ASTRO_FRACTION_CENTRE(n_taps)),
      work->stretches.samples + n_taps - 1, from_re, from_im);
  if (astro_format_info(instance->config.in.format)->is_complex) {
    astro_fraction_taps(stretch->fraction, stretch->gain, taps);
    kernels->interpolate(from_re, from_im, taps, stretch->phase, stretch->rate,
                         work->stretches.samples, re, im);
  } else {
    astro_fraction_real_taps(stretch->fraction, stretch->gain, taps);
    kernels->interpolate_real(from_re, taps, stretch->phase, stretch->rate, work->stretches.samples,
                              re);
  }
}

static void delay_tile(gpointer data, guint64 task)
{
  const Work *work = data;
  AstroDelayInstance *instance = work->instance;
  const AstroDelayArguments *arguments = work->arguments;
  const guint samples = work->stretches.samples;
  guint64 tile = task / n_groups(instance), start = work->stretches.first + tile * TILE;
  guint64 from = MAX(start, arguments->out_first);
  guint64 to = MIN(start + TILE, arguments->out_first + arguments->out_steps);
  const guint first = (guint)(task % n_groups(instance)) * TASK_INPUTS;
  const guint end = MIN(first + TASK_INPUTS, n_inputs(instance));
  AstroTile parts;

  for (guint input = first; input < end; input++) {
    memset(&parts, 0, sizeof parts);
    for (guint at = 0; at < TILE; at += samples) {
      const AstroDelayStretch stretch = astro_delay_stretch(
          &work->stretches, instance, arguments->model, (tile * TILE + at) / samples, input);
      delay_stretch(work, input, &stretch, parts.re + at, parts.im + at);
    }
    gsize offset = from - arguments->out_first + input_offset(instance, &work->out, input);
    store(instance, &parts, (guint)(from - start), (guint)(to - from),
          work->out.data + offset * instance->out_format->bytes);
  }
}

static gboolean delay_voltages(AstroDelayInstance *instance, guint8 *out,
                               const AstroDelayArguments *arguments, GError **error)
{
  Work work = { .instance = instance, .arguments = arguments };
  AstroDelayRows block = { .data = out };
  astro_delay_strides(&instance->config.out, arguments->out_steps, &block.strides);
  if (!astro_delay_rows(&work.out, &instance->config.out, arguments->out_steps, &block,
                        &instance->rows_out, error) ||
      !astro_delay_stretches_init(&work.stretches, instance, arguments, error))
    return FALSE;
  const guint64 tiles = work.stretches.count * work.stretches.samples / TILE;
  astro_parallel(tiles * n_groups(instance), instance->threads, delay_tile, &work);
  astro_delay_stretches_clear(&work.stretches);
  if (work.out.data != out)
    astro_delay_move(&instance->config.out, arguments->out_steps, &block, &work.out,
                     instance->threads);
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
  *variant = instance->kernels->variant.name;
  return instance;
}

const AstroBackend astro_delay_cpu = {
  .stage = "delay",
  .kind = ASTRO_BACKEND_CPU,
  .config_bytes = sizeof(AstroDelayConfig),
  .shape = astro_delay_shape,
  .create = create,
  .submit = astro_delay_submit,
  .destroy = astro_delay_instance_free,
};

const AstroBackend *const astro_delay_backends[] = { &astro_delay_reference, &astro_delay_cpu,
                                                     NULL };
