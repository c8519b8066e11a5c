/* Checks configurations of the channelizer, and computes the spectra of blocks. */
#include "config.h"
#include "core/channelizer/check.h"

#include <math.h>

static gboolean is_one_of(AstroFormat format, const AstroFormat *formats, guint n)
{
  for (guint i = 0; i < n; i++)
    if (formats[i] == format)
      return TRUE;
  return FALSE;
}

static gboolean check_layout(const AstroStream *in, GError **error)
{
  const gboolean is_spectra = in->quantity == ASTRO_QUANTITY_SPECTRA;
  for (guint i = 0; i < in->layout.n_axes; i++) {
    AstroAxis axis = in->layout.axes[i];
    if (axis != ASTRO_AXIS_TIME && axis != ASTRO_AXIS_STATION && axis != ASTRO_AXIS_POL &&
        !(is_spectra && axis == ASTRO_AXIS_CHANNEL)) {
      g_autofree char *text = astro_layout_to_string(&in->layout);
      return astro_backend_refuse(
          error, "channelizer: layout %s, expected time, station%s and pol in any order", text,
          is_spectra ? ", channel" : "");
    }
  }
  return TRUE;
}

/* Channels are contiguous in the output, so each has to be as wide as its rate. */
static gboolean check_coarse(const AstroChannelizerConfig *config, GError **error)
{
  const AstroStream *in = &config->in;
  const double coarse = astro_channelizer_coarse(config);
  const double rate = in->rate_n > 0 ? (double)in->rate_n / in->rate_d : 0;
  if (!astro_format_info(in->format)->is_complex)
    return astro_backend_refuse(error, "channelizer: spectra of format %s, expected complex ones",
                                astro_format_name(in->format));
  if (coarse * config->channels > G_MAXINT)
    return astro_backend_refuse(error,
                                "channelizer: %.0f channels split into %u each, expected at most "
                                "%d in all",
                                coarse, config->channels, G_MAXINT);
  if (rate > 0 && in->bandwidth > 0 && fabs(rate * coarse - in->bandwidth) > 1e-6 * in->bandwidth)
    return astro_backend_refuse(error,
                                "channelizer: input channels are %.9g Hz apart and come at %.9g "
                                "samples a second: expected both alike, since channels that "
                                "overlap or leave gaps cannot be split into one even band",
                                in->bandwidth / coarse, rate);
  return TRUE;
}

guint astro_channelizer_coarse(const AstroChannelizerConfig *config)
{
  return config->in.quantity == ASTRO_QUANTITY_SPECTRA
             ? (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL)
             : 1;
}

gboolean astro_channelizer_shape(gconstpointer data, GError **error)
{
  static const AstroFormat from[] = { ASTRO_FORMAT_CI4,    ASTRO_FORMAT_CI8,    ASTRO_FORMAT_CI16LE,
                                      ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_I8,
                                      ASTRO_FORMAT_I16LE,  ASTRO_FORMAT_F32LE };
  const AstroChannelizerConfig *config = data;

  if (config->channels < 2 || config->channels > ASTRO_CHANNELIZER_MAX_CHANNELS)
    return astro_backend_refuse(error, "channelizer: %u channels, expected 2 to %d",
                                config->channels, ASTRO_CHANNELIZER_MAX_CHANNELS);
  if (config->taps < 1 || config->taps > ASTRO_CHANNELIZER_MAX_TAPS)
    return astro_backend_refuse(error, "channelizer: %u taps, expected 1 to %d", config->taps,
                                ASTRO_CHANNELIZER_MAX_TAPS);
  if (config->window >= ASTRO_N_WINDOWS)
    return astro_backend_refuse(error, "channelizer: there is no window %d", config->window);
  if (!(config->beta >= 0 && config->beta <= 100))
    return astro_backend_refuse(error, "channelizer: beta %g, expected 0 to 100", config->beta);
  if (!isfinite(config->gain))
    return astro_backend_refuse(error, "channelizer: gain %g, expected a finite number",
                                config->gain);
  if (!is_one_of(config->in.format, from, G_N_ELEMENTS(from)))
    return astro_backend_refuse(
        error,
        "channelizer: input of format %s, expected CI4, CI8, CI16LE, CF16LE, CF32LE or, "
        "for real samples, I8, I16LE or F32LE",
        astro_format_name(config->in.format));
  if (!is_one_of(config->to, from, G_N_ELEMENTS(from)) ||
      !astro_format_info(config->to)->is_complex)
    return astro_backend_refuse(
        error, "channelizer: output of format %s, expected CF32LE, CF16LE, CI16LE, CI8 or CI4",
        astro_format_name(config->to));
  if (!check_layout(&config->in, error))
    return FALSE;
  return config->in.quantity == ASTRO_QUANTITY_SPECTRA
             ? check_coarse(config, error)
             : astro_stream_check_band(&config->in, error);
}

guint64 astro_channelizer_step(const AstroChannelizerConfig *config)
{
  return astro_format_info(config->in.format)->is_complex ? config->channels : 2 * config->channels;
}

guint64 astro_channelizer_span(const AstroChannelizerConfig *config)
{
  return config->taps * astro_channelizer_step(config);
}

guint64 astro_channelizer_lead(const AstroChannelizerConfig *config)
{
  return (config->taps - 1) * astro_channelizer_step(config) / 2;
}

AstroWindows astro_channelizer_windows(const AstroChannelizerConfig *config)
{
  return (AstroWindows){ .step = astro_channelizer_step(config),
                         .span = astro_channelizer_span(config),
                         .lead = astro_channelizer_lead(config) };
}

AstroSpectra astro_channelizer_spectra(const AstroChannelizerConfig *config, guint64 begin,
                                       guint64 end)
{
  const AstroWindows windows = astro_channelizer_windows(config);
  return astro_windows_between(&windows, begin, end);
}

gboolean astro_channelizer_block_spectra(const AstroChannelizerConfig *config, guint64 begin,
                                         guint64 first, guint64 steps, AstroSpectra *spectra,
                                         GError **error)
{
  const AstroWindows windows = astro_channelizer_windows(config);
  return astro_windows_of_block(&windows, begin, first, steps, spectra, error);
}

gboolean astro_channelizer_call_spectra(const AstroChannelizerConfig *config,
                                        const AstroChannelizerArguments *arguments, guint64 begin,
                                        guint64 end, AstroSpectra *spectra, GError **error)
{
  if (!arguments->restart && arguments->first != end)
    return astro_backend_refuse(error,
                                "channelizer: a block from sample %" G_GUINT64_FORMAT
                                " on, expected one from sample %" G_GUINT64_FORMAT
                                " on, or a restart",
                                arguments->first, end);
  return astro_channelizer_block_spectra(config, arguments->restart ? arguments->first : begin,
                                         arguments->first, arguments->steps, spectra, error);
}

guint64 astro_channelizer_row(const AstroChannelizerConfig *config, guint input, guint64 spectrum,
                              guint64 count)
{
  const guint coarse = astro_channelizer_coarse(config);
  return (input / coarse * count + spectrum) * coarse + input % coarse;
}

gboolean astro_channelizer_check_call(const AstroChannelizerConfig *config, const AstroBlock *in,
                                      guint n_in, const AstroBlock *out, guint n_out,
                                      const AstroChannelizerArguments *arguments, guint64 spectra,
                                      GError **error)
{
  gsize step_bytes = astro_stream_step_bytes(&config->in), in_bytes, out_bytes;
  gsize inputs = step_bytes / astro_stream_sample_bytes(&config->in);

  if (!g_size_checked_mul(&in_bytes, step_bytes, arguments->steps) ||
      !g_size_checked_mul(&out_bytes, inputs * config->channels, spectra) ||
      !g_size_checked_mul(&out_bytes, out_bytes, astro_format_info(config->to)->bytes))
    return astro_backend_refuse(error, "channelizer: a block has more bytes than can be addressed");
  if (n_in > 1 || n_out != (spectra > 0))
    return astro_backend_refuse(error,
                                "channelizer: %u blocks in and %u out, expected at most one and %d",
                                n_in, n_out, spectra > 0);
  if ((n_in && in->bytes < in_bytes) || (n_out && out->bytes < out_bytes))
    return astro_backend_refuse(error,
                                "channelizer: blocks of %" G_GSIZE_FORMAT
                                " bytes in and %" G_GSIZE_FORMAT " out, expected %" G_GSIZE_FORMAT
                                " and %" G_GSIZE_FORMAT,
                                n_in ? in->bytes : 0, n_out ? out->bytes : 0, in_bytes, out_bytes);
  return TRUE;
}
