/* Checks configurations and blocks of the phase shift, and makes means of sums. */
#include "config.h"
#include "core/phaseshift/check.h"

#include "core/kit/units.h"

#include <string.h>

#include "core/stream/uvw.h"

#define LAYOUT "channel:baseline:pol:pol"

static gboolean check_side(const AstroStream *stream, const char *side, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  if (stream->quantity == ASTRO_QUANTITY_VISIBILITIES && strcmp(layout, LAYOUT) == 0)
    return TRUE;
  return astro_backend_refuse(error,
                              "phaseshift, %s: %s of layout %s, expected visibilities of "
                              "layout " LAYOUT,
                              side, astro_quantity_name(stream->quantity), layout);
}

static gboolean check_formats(AstroFormat in, AstroFormat out, GError **error)
{
  if ((in == ASTRO_FORMAT_CI32LE && out == ASTRO_FORMAT_CF32LE) ||
      (in == out && (in == ASTRO_FORMAT_CF32LE || in == ASTRO_FORMAT_CF64LE)))
    return TRUE;
  return astro_backend_refuse(error,
                              "phaseshift from format=%s to %s, expected CF32LE or CF64LE to the "
                              "same format, or CI32LE to CF32LE: "
                              "rotated visibilities are not whole numbers",
                              astro_format_name(in), astro_format_name(out));
}

gboolean astro_phaseshift_shape(gconstpointer config, GError **error)
{
  const AstroPhaseshiftConfig *c = config;
  if (!check_side(&c->in, "input", error) || !check_side(&c->out, "output", error) ||
      !check_formats(c->in.format, c->out.format, error) ||
      !astro_stream_check_lower(&c->in, error))
    return FALSE;
  if (!(c->in.frequency > 0) ||
      (astro_stream_extent(&c->in, ASTRO_AXIS_CHANNEL) > 1 && !(c->in.bandwidth > 0)))
    return astro_backend_refuse(error,
                                "phaseshift, input: frequency=%g Hz and bandwidth=%g Hz, "
                                "expected both: phases follow from them",
                                c->in.frequency, c->in.bandwidth);
  return astro_layout_is_equal(&c->in.layout, &c->out.layout) ||
         astro_backend_refuse(error, "phaseshift: input and output must have the same extents");
}

gboolean astro_phaseshift_check(const AstroPhaseshiftConfig *config, const AstroBlock *in,
                                guint n_in, const AstroBlock *out, guint n_out,
                                const AstroPhaseshiftArguments *arguments, GError **error)
{
  const gsize in_bytes = arguments->steps * astro_stream_step_bytes(&config->in),
              out_bytes = arguments->steps * astro_stream_step_bytes(&config->out);
  if (n_in != 1 || n_out != 1 || in->bytes < in_bytes || out->bytes < out_bytes)
    return astro_backend_refuse(error,
                                "phaseshift: the sizes of the blocks do not fit the streams");
  return config->in.format != ASTRO_FORMAT_CI32LE || arguments->validity ||
         astro_backend_refuse(error,
                              "sums (CI32LE) came without the counts that make means of them: "
                              "expected visibilities of format=CF32LE");
}

AstroPhaseshiftSize astro_phaseshift_size(const AstroStream *stream)
{
  const guint pols = (guint)astro_stream_extent(stream, ASTRO_AXIS_POL);
  return (AstroPhaseshiftSize){
    .channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL),
    .stations = (guint)astro_stream_stations(stream),
    .values = pols * pols,
    .baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE),
  };
}

double astro_phaseshift_wavenumber(const AstroStream *stream, guint channel)
{
  const guint channels = (guint)astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  return -2 * G_PI / ASTRO_LIGHT_SPEED *
         astro_channel_frequency(stream->frequency, stream->bandwidth, channels, channel);
}

double astro_phaseshift_spacing(const AstroStream *stream)
{
  const guint64 channels = astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  return -2 * G_PI / ASTRO_LIGHT_SPEED * stream->bandwidth / (double)channels;
}

void astro_phaseshift_means(const AstroPhaseshiftConfig *config,
                            const AstroPhaseshiftArguments *arguments, guint64 step, guint channel,
                            gconstpointer in, gpointer out)
{
  const AstroPhaseshiftSize size = astro_phaseshift_size(&config->in);
  const guint pols = (guint)astro_stream_extent(&config->in, ASTRO_AXIS_POL);
  const gint32 *sums = in;
  float *means = out;
  AstroLayout shape;
  astro_stream_shape(&config->in, arguments->steps, &shape);
  const guint lead = shape.n_axes - 4; /* there may be a time axis before the others */
  for (guint64 b = 0; b < size.baselines; b++)
    for (guint v = 0; v < size.values; v++, sums += 2, means += 2) {
      guint64 index[ASTRO_MAX_AXES] = { step };
      index[lead] = channel;
      index[lead + 1] = b;
      index[lead + 2] = v / pols;
      index[lead + 3] = v % pols;
      const guint32 count = astro_validity_at(arguments->validity, &shape, index);
      const double factor = count ? 1.0 / count : 0;
      const float mean[2] = { (float)(sums[0] * factor), (float)(sums[1] * factor) };
      memcpy(means, mean, sizeof mean);
    }
}
