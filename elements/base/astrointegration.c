/* The properties integration and integration-time, and the rates that follow from them. */
#include "config.h"
#include "elements/base/astrointegration.h"

#include "core/lib/integration/integration.h"

gboolean astro_integration_find(guint integration, double seconds, gint rate_n, gint rate_d,
                                guint *spectra, GError **error)
{
  *spectra = integration;
  return seconds == 0 || astro_integration_spectra(seconds, rate_n, rate_d, spectra, error);
}

gboolean astro_integration_check(guint integration, GError **error)
{
  return (integration > 0 && integration < G_MAXUINT) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "property integration is %s, expected 1 to %u spectra",
                             integration ? "-1" : "0", G_MAXUINT - 1);
}

void astro_integration_tell(GstElement *element, guint spectra, const AstroStream *in)
{
  gst_element_post_message(
      element,
      gst_message_new_element(GST_OBJECT(element),
                              gst_structure_new("astro-integration", "spectra", G_TYPE_UINT,
                                                spectra, "seconds", G_TYPE_DOUBLE,
                                                spectra * (double)in->rate_d / in->rate_n, NULL)));
}

void astro_integration_set_int(GstStructure *to, const char *field, guint64 value)
{
  if (value >= 1 && value <= G_MAXINT)
    gst_structure_set(to, field, G_TYPE_INT, (gint)value, NULL);
  else
    gst_structure_set(to, field, GST_TYPE_INT_RANGE, 1, G_MAXINT, NULL);
}

/* Multiplies n/d by times/over, all below 2^32, and reduces it: whether two ints can hold it. */
static gboolean scale_fraction(guint64 *n, guint64 *d, guint64 times, guint64 over)
{
  *n *= times;
  *d *= over;
  const guint64 common = (guint64)gst_util_greatest_common_divisor_int64((gint64)*n, (gint64)*d);
  *n /= common;
  *d /= common;
  return *n <= G_MAXINT && *d <= G_MAXINT;
}

void astro_integration_convert_rate(GstStructure *to, const GstStructure *from, guint64 times,
                                    guint64 over)
{
  gint rate_n, rate_d;
  if (!gst_structure_get_fraction(from, "rate", &rate_n, &rate_d) || rate_n < 0 ||
      times * over < 1 || times * over > G_MAXUINT32)
    return;
  guint64 n = (guint64)rate_n, d = (guint64)rate_d;
  if (scale_fraction(&n, &d, times, over))
    gst_structure_set(to, "rate", GST_TYPE_FRACTION, (gint)n, (gint)d, NULL);
}

void astro_integration_copy_field(GstStructure *to, const GstStructure *from, const char *field)
{
  const GValue *value = gst_structure_get_value(from, field);
  if (value && gst_value_is_fixed(value))
    gst_structure_set_value(to, field, value);
}

gboolean astro_integration_check_rate(guint64 spectra, const AstroStream *in,
                                      const AstroStream *out, GError **error)
{
  guint64 n = (guint64)in->rate_n, d = (guint64)in->rate_d;
  if (n == 0 || out->rate_n > 0)
    return TRUE;
  scale_fraction(&n, &d, 1, spectra);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "rate %d/%d divided by an integration of %" G_GUINT64_FORMAT
                             " spectra is %" G_GUINT64_FORMAT "/%" G_GUINT64_FORMAT
                             ", expected a fraction of whole numbers of at most %d",
                             in->rate_n, in->rate_d, spectra, n, d, G_MAXINT);
}

void astro_integration_mark_good(AstroGoodSamples *good, GstBuffer *in, const AstroStream *stream,
                                 guint64 steps)
{
  const AstroValidityMeta *meta = astro_buffer_get_validity(in);
  AstroValiditySamples samples;
  AstroLayout shape;

  *good = (AstroGoodSamples){ 0 };
  if (!meta)
    return;
  astro_stream_shape(stream, steps, &shape);
  astro_validity_samples(&samples, meta, &shape);
  if (stream->quantity == ASTRO_QUANTITY_POWER)
    samples.least = 1;
  if (astro_validity_all_whole(&samples))
    return;
  const guint64 stations = astro_stream_extent(stream, ASTRO_AXIS_STATION) *
                           astro_stream_extent(stream, ASTRO_AXIS_BEAM);
  const guint64 channels = astro_layout_find(&meta->shape, ASTRO_AXIS_CHANNEL) < 0
                               ? 1
                               : astro_stream_extent(stream, ASTRO_AXIS_CHANNEL);
  good->valid = g_malloc(steps * channels * stations);
  astro_validity_mark(&samples, steps, channels, stations, good->valid);
  good->time = channels * stations;
  good->channel = channels > 1 ? stations : 0;
  good->station = 1;
}

gboolean astro_integration_check_bandpass(const AstroHistory *done, GError **error)
{
  return !done->bandpass_left ||
         astro_stream_refuse(
             error, ASTRO_STREAM_ERROR_CAPS,
             "the calibration file that astrodelay applied to the voltages has a bandpass, which "
             "can only be undone on spectra: expected another astrodelay with the same "
             "calibration after astrochannelizer, which undoes what is left");
}
