/* Makes an instance of the delay stage, and cuts streams of voltages into the calls of its kernels.
 */
#include "config.h"
#include "core/delay/instance.h"

#include <math.h>

void astro_delay_instance_init(AstroDelayInstance *instance, const AstroDelayConfig *config,
                               const AstroPlace *place)
{
  instance->config = *config;
  instance->threads = place->threads;
  instance->stations = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_STATION);
  instance->pols = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  instance->channels = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL);
  instance->in_format = astro_store_get(config->in.format);
  instance->out_format = astro_store_get(config->out.format);
  instance->kernels = astro_delay_kernels();
  instance->store_kernels = astro_sky_kernels();
  instance->rate = (double)config->in.rate_n / config->in.rate_d;
  instance->zero_frequency = astro_delay_zero_frequency(&config->in);
  instance->channel_width = config->in.bandwidth / instance->channels;
  instance->first_frequency =
      astro_channel_frequency(config->in.frequency, config->in.bandwidth, instance->channels, 0);
}

AstroDelayInstance *astro_delay_instance_new(const AstroDelayConfig *config,
                                             const AstroPlace *place)
{
  AstroDelayInstance *instance = g_new0(AstroDelayInstance, 1);
  astro_delay_instance_init(instance, config, place);
  instance->append = astro_delay_window_append;
  return instance;
}

void astro_delay_instance_free(gpointer data)
{
  AstroDelayInstance *instance = data;
  g_free(instance->window.samples);
  g_free(instance->rows_in.data);
  g_free(instance->rows_out.data);
  g_free(instance);
}

guint astro_delay_taps(const AstroStream *voltages)
{
  return astro_format_info(voltages->format)->is_complex ? ASTRO_FRACTION_TAPS
                                                         : ASTRO_FRACTION_REAL_TAPS;
}

double astro_delay_zero_frequency(const AstroStream *voltages)
{
  const gboolean is_complex = astro_format_info(voltages->format)->is_complex;
  return voltages->frequency - (is_complex ? 0 : voltages->bandwidth / 2);
}

void astro_delay_strides(const AstroStream *stream, guint64 steps, AstroDelayStrides *out)
{
  AstroLayout shape;
  guint64 strides[ASTRO_MAX_AXES];
  astro_stream_shape(stream, steps, &shape);
  astro_layout_strides(&shape, strides);
  out->time = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_TIME);
  out->station = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_STATION);
  out->pol = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_POL);
  out->channel = astro_layout_stride_of(&shape, strides, ASTRO_AXIS_CHANNEL);
}

gint64 astro_delay_spectrum_ns(const AstroStream *stream, guint64 step)
{
  return (gint64)gst_util_uint64_scale(2 * step + 1, GST_SECOND / 2 * (guint64)stream->rate_d,
                                       (guint64)stream->rate_n);
}

gint64 astro_delay_sample_ns(const AstroStream *stream, guint64 sample)
{
  return (gint64)astro_stream_time(stream, sample);
}

#define RADIANS_PER_SECOND 7.3e-5 /* upper limit of the rotation of the Earth */

/* The delay that counts is that at the time when the sample was taken. The model changes by
 * `change` per second meanwhile, which is large only for spacecraft. */
guint64 astro_delay_margin(const AstroDelayModel *model, const AstroStream *stream)
{
  double change = astro_delay_model_reach(model) * RADIANS_PER_SECOND;
  double samples =
      astro_delay_model_longest(model) * (1 + change) * stream->rate_n / stream->rate_d;
  return (guint64)ceil(samples) + astro_delay_taps(stream) + 1;
}

static gint64 tile_floor(guint64 sample)
{
  return (gint64)(sample / ASTRO_DELAY_TILE * ASTRO_DELAY_TILE);
}

static gboolean submit_voltages(AstroDelayInstance *instance, const guint8 *in, guint8 *out,
                                const AstroDelayArguments *arguments, GError **error)
{
  AstroDelayWindow *window = &instance->window;
  gint64 margin = (gint64)astro_delay_margin(arguments->model, &instance->config.in);
  gint64 keep = tile_floor(arguments->out_first) - margin;

  if (arguments->restart) {
    window->start = tile_floor(arguments->first) - margin;
    window->length = 0;
    gsize before = (gsize)((gint64)arguments->first - window->start);
    if (!instance->append(instance, NULL, before, window->start, error))
      return FALSE;
  }
  if (arguments->steps && !instance->append(instance, in, arguments->steps, keep, error))
    return FALSE;
  if (!out)
    return TRUE;
  if (keep < window->start)
    return astro_backend_refuse(
        error, "delay: samples before %" G_GINT64_FORMAT " have been dropped already",
        window->start + margin);
  /* Zeros stand for the samples after the end of a stream. */
  guint64 last_tile = arguments->out_first + arguments->out_steps + ASTRO_DELAY_TILE - 1;
  gint64 needed = tile_floor(last_tile) + margin;
  gint64 missing = needed - window->start - (gint64)window->length;
  if (missing > 0 && !instance->append(instance, NULL, (gsize)missing, keep, error))
    return FALSE;
  return instance->delay_voltages(instance, out, arguments, error);
}

gboolean astro_delay_check_call(const AstroDelayConfig *config, const AstroBlock *in, guint n_in,
                                const AstroBlock *out, guint n_out,
                                const AstroDelayArguments *arguments, GError **error)
{
  gboolean is_spectra = config->in.quantity == ASTRO_QUANTITY_SPECTRA;
  guint64 out_steps = is_spectra ? arguments->steps : arguments->out_steps;
  gsize in_bytes = arguments->steps * astro_stream_step_bytes(&config->in);
  gsize out_bytes = out_steps * astro_stream_step_bytes(&config->out);

  if (n_in <= 1 && n_out <= 1 && (!n_in || in->bytes == in_bytes) &&
      (!n_out || out->bytes == out_bytes) && (!is_spectra || (n_in && n_out)) &&
      astro_delay_model_stations(arguments->model) ==
          astro_stream_extent(&config->in, ASTRO_AXIS_STATION) &&
      astro_delay_model_pols(arguments->model) == astro_stream_extent(&config->in, ASTRO_AXIS_POL))
    return TRUE;
  return astro_backend_refuse(
      error, "delay: the sizes of the blocks or the number of stations do not fit the streams");
}

gboolean astro_delay_submit(gpointer data, const AstroBlock *in, guint n_in, const AstroBlock *out,
                            guint n_out, gconstpointer argument, AstroResult *result,
                            GError **error)
{
  AstroDelayInstance *instance = data;
  const AstroDelayArguments *arguments = argument;

  if (!astro_delay_check_call(&instance->config, in, n_in, out, n_out, arguments, error))
    return FALSE;
  if (instance->config.in.quantity == ASTRO_QUANTITY_SPECTRA)
    return instance->rotate_spectra(instance, in->data, out->data, arguments, error);
  return submit_voltages(instance, n_in ? in->data : NULL, n_out ? out->data : NULL, arguments,
                         error);
}
