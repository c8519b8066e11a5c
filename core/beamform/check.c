/* Checks configurations and blocks of the beamformer. */
#include "config.h"
#include "core/beamform/check.h"

#include <math.h>

static gboolean is_one_of(AstroFormat format, const AstroFormat *formats, guint n)
{
  for (guint i = 0; i < n; i++)
    if (formats[i] == format)
      return TRUE;
  return FALSE;
}

static gboolean check_formats(const AstroBeamformConfig *config, GError **error)
{
  static const AstroFormat from[] = { ASTRO_FORMAT_CI4, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE,
                                      ASTRO_FORMAT_CF16LE, ASTRO_FORMAT_CF32LE },
                           to[] = { ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CF16LE,
                                    ASTRO_FORMAT_CF32LE };
  if (!is_one_of(config->in.format, from, G_N_ELEMENTS(from)))
    return astro_backend_refuse(
        error, "beamform: input of format %s, expected CI4, CI8, CI16LE, CF16LE or CF32LE",
        astro_format_name(config->in.format));
  return is_one_of(config->out.format, to, G_N_ELEMENTS(to)) ||
         astro_backend_refuse(
             error, "beamform: output of format %s, expected CF32LE, CF16LE, CI16LE or CI8",
             astro_format_name(config->out.format));
}

static gboolean check_axes(const AstroStream *in, GError **error)
{
  static const AstroAxis known[] = { ASTRO_AXIS_TIME, ASTRO_AXIS_CHANNEL, ASTRO_AXIS_STATION,
                                     ASTRO_AXIS_POL };
  g_autofree char *text = astro_layout_to_string(&in->layout);
  guint found = 0;
  for (guint k = 0; k < G_N_ELEMENTS(known); k++)
    found += astro_layout_find(&in->layout, known[k]) >= 0;
  return (in->quantity == ASTRO_QUANTITY_SPECTRA && found == in->layout.n_axes &&
          astro_layout_find(&in->layout, ASTRO_AXIS_STATION) >= 0 &&
          astro_layout_find(&in->layout, ASTRO_AXIS_TIME) >= 0) ||
         astro_backend_refuse(error,
                              "beamform: %s of layout %s, expected spectra with axes time and "
                              "station, and channel and pol if there are several, in any order",
                              astro_quantity_name(in->quantity), text);
}

/* The output has the input's axes, with beam for station. */
static gboolean check_same(const AstroBeamformConfig *config, GError **error)
{
  const AstroLayout *in = &config->in.layout, *out = &config->out.layout;
  gboolean same = config->out.quantity == ASTRO_QUANTITY_SPECTRA && in->n_axes == out->n_axes;
  for (guint i = 0; same && i < in->n_axes; i++)
    same = in->axes[i] == ASTRO_AXIS_STATION
               ? out->axes[i] == ASTRO_AXIS_BEAM
               : out->axes[i] == in->axes[i] && out->extents[i] == in->extents[i];
  if (same)
    return TRUE;
  g_autofree char *from = astro_layout_to_string(in), *to = astro_layout_to_string(out);
  return astro_backend_refuse(error,
                              "beamform: output of layout %s, expected the input's %s with beam in "
                              "place of station, and the same channels and pols",
                              to, from);
}

static gboolean check_band(const AstroStream *in, GError **error)
{
  return (in->frequency > 0 &&
          (in->bandwidth > 0 || astro_stream_extent(in, ASTRO_AXIS_CHANNEL) == 1)) ||
         astro_backend_refuse(error,
                              "beamform: frequency=%g Hz and bandwidth=%g Hz in the caps of the "
                              "input, expected both: phases follow from them",
                              in->frequency, in->bandwidth);
}

static gboolean check_beams(const AstroStream *out, GError **error)
{
  const guint64 beams = astro_stream_extent(out, ASTRO_AXIS_BEAM);
  return beams <= ASTRO_BEAMFORM_MAX_BEAMS ||
         astro_backend_refuse(error, "beamform: %" G_GUINT64_FORMAT " beams, expected at most %d",
                              beams, ASTRO_BEAMFORM_MAX_BEAMS);
}

gboolean astro_beamform_shape(gconstpointer data, GError **error)
{
  const AstroBeamformConfig *config = data;
  return check_axes(&config->in, error) && check_formats(config, error) &&
         check_same(config, error) && check_beams(&config->out, error) &&
         check_band(&config->in, error);
}

static gboolean check_stations(const AstroBeamformConfig *config,
                               const AstroBeamformStations *stations, GError **error)
{
  const guint there = astro_beamform_size(config).stations;
  if (stations->n == 0)
    return astro_backend_refuse(error, "beamform: no station takes part");
  for (guint i = 0; i < stations->n; i++)
    if (stations->index[i] >= there)
      return astro_backend_refuse(error, "beamform: station %u takes part, and there are %u",
                                  stations->index[i], there);
  return isfinite(stations->scale) ||
         astro_backend_refuse(error, "beamform: scale %g, expected a finite number",
                              stations->scale);
}

gboolean astro_beamform_check(const AstroBeamformConfig *config, const AstroBlock *in, guint n_in,
                              const AstroBlock *out, guint n_out,
                              const AstroBeamformArguments *arguments, GError **error)
{
  gsize in_bytes, out_bytes;
  if (!g_size_checked_mul(&in_bytes, astro_stream_step_bytes(&config->in), arguments->steps) ||
      !g_size_checked_mul(&out_bytes, astro_stream_step_bytes(&config->out), arguments->steps) ||
      arguments->first > G_MAXUINT64 - arguments->steps)
    return astro_backend_refuse(error, "beamform: a block has more bytes than can be addressed");
  if (n_in != 1 || n_out != 1 || in->bytes < in_bytes || out->bytes < out_bytes)
    return astro_backend_refuse(error,
                                "beamform: %u blocks in and %u out, expected one of at least "
                                "%" G_GSIZE_FORMAT " and one of at least %" G_GSIZE_FORMAT " bytes",
                                n_in, n_out, in_bytes, out_bytes);
  if (arguments->interval == 0)
    return astro_backend_refuse(error, "beamform: an interval of no steps");
  return check_stations(config, arguments->stations, error);
}

AstroBeamformSize astro_beamform_size(const AstroBeamformConfig *config)
{
  return (AstroBeamformSize){
    .channels = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_CHANNEL),
    .stations = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_STATION),
    .pols = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_POL),
    .beams = (guint)astro_stream_extent(&config->out, ASTRO_AXIS_BEAM),
  };
}

guint64 astro_beamform_intervals(guint64 first, guint64 steps, guint64 interval)
{
  return steps ? (first + steps - 1) / interval - first / interval + 1 : 0;
}

double astro_beamform_magnitude(const AstroBeamformStations *stations, guint channel, guint i)
{
  if (!stations->weights)
    return 1;
  const float *weight = stations->weights + 2 * ((gsize)channel * stations->n + i);
  return hypot((double)weight[0], (double)weight[1]);
}
