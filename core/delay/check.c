/* Checks configurations of the delay stage. */
#include "config.h"
#include "core/delay/instance.h"

/* For spectra the first channel may reach below 0 Hz: the first channel of a filter bank is centred
 * on the band's edge. */
static gboolean check_band(const AstroStream *stream, const char *side, GError **error)
{
  return stream->frequency >= 0.5 * stream->bandwidth ||
         astro_backend_refuse(
             error,
             "delay, %s: frequency=%.15g Hz, expected the centre of the band, at least "
             "%.15g Hz of a bandwidth of %.15g Hz",
             side, stream->frequency, 0.5 * stream->bandwidth, stream->bandwidth);
}

static gboolean takes_format(const AstroStream *stream)
{
  return astro_store_get(stream->format) && (stream->quantity == ASTRO_QUANTITY_VOLTAGES ||
                                             astro_format_info(stream->format)->is_complex);
}

static gboolean check_side(const AstroStream *stream, const char *side, GError **error)
{
  const char *wrong = NULL;
  if (stream->quantity != ASTRO_QUANTITY_VOLTAGES && stream->quantity != ASTRO_QUANTITY_SPECTRA)
    wrong = "voltages or spectra are expected";
  else if (!takes_format(stream))
    return astro_backend_refuse(
        error, "delay, %s: format %s, expected CI4, CI8, CI16LE or CF32LE%s", side,
        astro_format_name(stream->format),
        stream->quantity == ASTRO_QUANTITY_VOLTAGES ? ", or I8, I16LE or F32LE" : "");
  else if (stream->rate_n <= 0)
    wrong = "the field \"rate\" is needed: delays change with time";
  else if (!(stream->frequency > 0 && stream->bandwidth > 0))
    wrong = "the fields \"frequency\" and \"bandwidth\" are needed: phases follow from them";
  else if (astro_layout_find(&stream->layout, ASTRO_AXIS_TIME) < 0)
    wrong = "the layout needs a time axis";
  else if (astro_layout_find(&stream->layout, ASTRO_AXIS_BEAM) >= 0)
    wrong = "the layout has an axis of beams, and delays are those of stations: expected "
            "astrodelay upstream of where beams are formed";
  if (wrong)
    return astro_backend_refuse(error, "delay, %s: %s", side, wrong);
  return stream->quantity != ASTRO_QUANTITY_VOLTAGES ||
         (check_band(stream, side, error) && astro_stream_check_band(stream, error));
}

gboolean astro_delay_shape(gconstpointer config, GError **error)
{
  const AstroDelayConfig *c = config;
  if (!check_side(&c->in, "input", error) || !check_side(&c->out, "output", error))
    return FALSE;
  if (c->in.quantity != c->out.quantity || !astro_layout_is_equal(&c->in.layout, &c->out.layout))
    return astro_backend_refuse(
        error, "delay changes only the format: input and output need the same layout and extents");
  return astro_format_info(c->in.format)->is_complex ==
             astro_format_info(c->out.format)->is_complex ||
         astro_backend_refuse(
             error,
             "delay, output: format %s for an input of format %s, expected both complex or "
             "both real",
             astro_format_name(c->out.format), astro_format_name(c->in.format));
}
