/* Parses streams from caps, writes them to caps, and computes their sizes, times and bands. */
#include "config.h"
#include "core/stream/names.h"

#include "core/stream/validity.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(astro_stream_error, astro_stream_error)

#define COUNTS_FIELD "counts"

gboolean astro_field_is_true(const GstStructure *s, const char *field)
{
  gboolean value = FALSE;
  return gst_structure_get_boolean(s, field, &value) && value;
}

/* A process cannot address more; and products of such sizes cannot overflow later. */
#define MAX_STEP_BYTES ((gsize)1 << 47)

/* Reads the length of an axis from caps: a positive int, or the number of names in a string a:b:c.
 */
static gboolean read_extent(const GstStructure *s, AstroAxis axis, guint64 *extent, GError **error)
{
  const char *field = astro_axis_field(axis);
  const GValue *value;

  *extent = 0;
  if (astro_axis_length(axis) == ASTRO_LENGTH_FREE)
    return TRUE;
  value = gst_structure_get_value(s, field);
  if (!value)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps have no field \"%s\", the length of axis \"%s\"", field,
                               astro_axis_name(axis));
  if (astro_axis_length(axis) == ASTRO_LENGTH_INT && G_VALUE_HOLDS_INT(value) &&
      g_value_get_int(value) > 0) {
    *extent = (guint64)g_value_get_int(value);
    return TRUE;
  }
  if (astro_axis_length(axis) == ASTRO_LENGTH_NAMES && G_VALUE_HOLDS_STRING(value) &&
      *g_value_get_string(value)) {
    *extent = 1;
    for (const char *c = g_value_get_string(value); *c; c++)
      *extent += *c == ':';
    return TRUE;
  }
  g_autofree char *found = gst_value_serialize(value);
  g_autofree char *expected =
      astro_axis_length(axis) == ASTRO_LENGTH_INT
          ? g_strdup_printf("an int of at least 1: how many %ss there are", astro_axis_name(axis))
          : g_strdup("names joined by ':'");
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "caps field \"%s\" is (%s) %s, expected %s", field,
                             G_VALUE_TYPE_NAME(value), found ? found : "?", expected);
}

static const char *read_string(const GstStructure *s, const char *field, GError **error)
{
  const GValue *value = gst_structure_get_value(s, field);
  if (value && G_VALUE_HOLDS_STRING(value) && g_value_get_string(value))
    return g_value_get_string(value);
  g_autofree char *found = value ? gst_value_serialize(value) : NULL;
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "caps field \"%s\" is %s, expected one string", field,
                      found ? found : "missing");
  return NULL;
}

static gboolean read_hertz(const GstStructure *s, const char *field, double *hertz, GError **error)
{
  const GValue *value = gst_structure_get_value(s, field);
  *hertz = 0;
  if (!value)
    return TRUE;
  if (G_VALUE_HOLDS_DOUBLE(value) && g_value_get_double(value) >= 0 &&
      g_value_get_double(value) < G_MAXDOUBLE) {
    *hertz = g_value_get_double(value);
    return TRUE;
  }
  g_autofree char *found = gst_value_serialize(value);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "caps field \"%s\" is (%s) %s, expected a double of Hz, at least 0 "
                             "(150e6, or (double)150000000)",
                             field, G_VALUE_TYPE_NAME(value), found ? found : "?");
}

static gboolean read_rate(const GstStructure *s, AstroStream *stream, GError **error)
{
  const GValue *value = gst_structure_get_value(s, "rate");
  stream->rate_n = 0;
  stream->rate_d = 1;
  if (!value)
    return TRUE;
  if (GST_VALUE_HOLDS_FRACTION(value) && gst_value_get_fraction_numerator(value) >= 0) {
    stream->rate_n = gst_value_get_fraction_numerator(value);
    stream->rate_d = gst_value_get_fraction_denominator(value);
    return TRUE;
  }
  g_autofree char *found = gst_value_serialize(value);
  return astro_stream_refuse(
      error, ASTRO_STREAM_ERROR_CAPS,
      "caps field \"rate\" is (%s) %s, expected a fraction of steps per second, at least 0 "
      "(1000000/1)",
      G_VALUE_TYPE_NAME(value), found ? found : "?");
}

static gboolean read_triangle(const GstStructure *s, AstroStream *stream, GError **error)
{
  const GValue *value = gst_structure_get_value(s, "triangle");
  if (!value || stream->quantity != ASTRO_QUANTITY_VISIBILITIES)
    return TRUE;
  stream->is_full_triangle = astro_name_is_in(value, "full");
  if (stream->is_full_triangle || astro_name_is_in(value, "lower"))
    return TRUE;
  g_autofree char *found = gst_value_serialize(value);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "caps field \"triangle\" is %s, expected lower or full",
                             found ? found : "?");
}

static gboolean read_has_counts(const GstStructure *s, AstroStream *stream, GError **error)
{
  const GValue *value = gst_structure_get_value(s, COUNTS_FIELD);
  stream->has_counts = value && G_VALUE_HOLDS_BOOLEAN(value) && g_value_get_boolean(value);
  if (!value || G_VALUE_HOLDS_BOOLEAN(value))
    return TRUE;
  g_autofree char *found = gst_value_serialize(value);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "caps field \"" COUNTS_FIELD
                             "\" is (%s) %s, expected (boolean) true or false: whether every "
                             "buffer has counts of good samples",
                             G_VALUE_TYPE_NAME(value), found ? found : "?");
}

gboolean astro_stream_from_caps(AstroStream *stream, const GstCaps *caps, GError **error)
{
  g_return_val_if_fail(caps, FALSE);
  memset(stream, 0, sizeof *stream);
  if (!gst_caps_is_fixed(caps)) {
    g_autofree char *text = gst_caps_to_string(caps);
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps are not fixed, every field needs one value: %s", text);
  }

  const GstStructure *s = gst_caps_get_structure(caps, 0);
  stream->quantity = astro_quantity_from_media_type(gst_structure_get_name(s));
  if (stream->quantity == ASTRO_QUANTITY_UNKNOWN)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "media type %s is not one of gst-astro's (" ASTRO_MEDIA_PREFIX
                               "voltages ...)",
                               gst_structure_get_name(s));

  const char *format = read_string(s, "format", error);
  if (!format)
    return FALSE;
  stream->format = astro_format_from_name(format);
  if (stream->format == ASTRO_FORMAT_UNKNOWN)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "format \"%s\" is unknown, expected one of CI4 CI8 CI16LE CF16LE CF32LE CF64LE "
        "CI32LE F32LE F64LE U64LE I8 I16LE",
        format);

  const char *layout = read_string(s, "layout", error);
  if (!layout || !astro_layout_parse(&stream->layout, layout, stream->quantity, error))
    return FALSE;

  gsize bytes = astro_format_row(stream->format)->bytes;
  for (guint i = 0; i < stream->layout.n_axes; i++) {
    guint64 *extent = &stream->layout.extents[i];
    if (!read_extent(s, stream->layout.axes[i], extent, error))
      return FALSE;
    if (!g_size_checked_mul(&bytes, bytes, *extent ? *extent : 1) || bytes > MAX_STEP_BYTES) {
      g_autofree char *text = gst_caps_to_string(caps);
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "one time step has more bytes than memory has addresses: %s",
                                 text);
    }
  }
  return read_rate(s, stream, error) && read_hertz(s, "frequency", &stream->frequency, error) &&
         read_hertz(s, "bandwidth", &stream->bandwidth, error) && read_triangle(s, stream, error) &&
         read_has_counts(s, stream, error);
}

GstCaps *astro_stream_to_caps(const AstroStream *stream)
{
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  GstCaps *caps = gst_caps_new_simple(astro_quantity_media_type(stream->quantity), "format",
                                      G_TYPE_STRING, astro_format_row(stream->format)->name,
                                      "layout", G_TYPE_STRING, layout, NULL);

  /* Axes with names (columns, pairs) are left to the stage: the length does not tell the names. */
  for (guint i = 0; i < stream->layout.n_axes; i++)
    if (astro_axis_length(stream->layout.axes[i]) == ASTRO_LENGTH_INT)
      gst_caps_set_simple(caps, astro_axis_field(stream->layout.axes[i]), G_TYPE_INT,
                          (gint)stream->layout.extents[i], NULL);
  if (stream->rate_n > 0)
    gst_caps_set_simple(caps, "rate", GST_TYPE_FRACTION, stream->rate_n, stream->rate_d, NULL);
  if (stream->frequency > 0)
    gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, stream->frequency, NULL);
  if (stream->bandwidth > 0)
    gst_caps_set_simple(caps, "bandwidth", G_TYPE_DOUBLE, stream->bandwidth, NULL);
  if (stream->is_full_triangle)
    gst_caps_set_simple(caps, "triangle", G_TYPE_STRING, "full", NULL);
  if (stream->has_counts)
    gst_caps_set_simple(caps, COUNTS_FIELD, G_TYPE_BOOLEAN, TRUE, NULL);
  return caps;
}

guint64 astro_stream_extent(const AstroStream *stream, AstroAxis axis)
{
  gint i = astro_layout_find(&stream->layout, axis);
  return i < 0 ? 1 : stream->layout.extents[i];
}

static guint64 baselines_of(const AstroStream *stream, guint64 stations)
{
  return stream->is_full_triangle ? stations * stations : stations * (stations + 1) / 2;
}

guint64 astro_stream_stations(const AstroStream *stream)
{
  const guint64 baselines = astro_stream_extent(stream, ASTRO_AXIS_BASELINE);
  guint64 stations = 1;

  if (astro_layout_find(&stream->layout, ASTRO_AXIS_BASELINE) < 0)
    return astro_stream_extent(stream, ASTRO_AXIS_STATION);
  while (baselines_of(stream, stations + 1) <= baselines)
    stations++;
  return stations;
}

gboolean astro_stream_check_lower(const AstroStream *visibilities, GError **error)
{
  return !visibilities->is_full_triangle ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the caps have triangle=full, expected lower: each pair of stations "
                             "once");
}

gboolean astro_stream_check_sums(const AstroStream *stream, GError **error)
{
  return stream->quantity != ASTRO_QUANTITY_VISIBILITIES || stream->format != ASTRO_FORMAT_CI32LE ||
         stream->has_counts ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "visibilities in CI32LE are sums, and the caps do not say "
                             "counts=true: without counts the number of samples is unknown. "
                             "Expected them as astrocorrelator sends them, or means (CF32LE), "
                             "which it sends if its caps ask for them");
}

gboolean astro_stream_check_counts(const AstroStream *stream, GstBuffer *buffer, GError **error)
{
  return !stream->has_counts || astro_buffer_get_validity(buffer) ||
         GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_GAP) ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "the caps say counts=true but a buffer has no counts of good samples: "
                             "something on the way dropped them, such as gdppay, a file or a "
                             "socket, which keep only samples and caps. Expected the stream as "
                             "it was made, or one that went through astrofitssink and "
                             "astrofitssrc, which keep them");
}

gsize astro_stream_sample_bytes(const AstroStream *stream)
{
  return astro_format_row(stream->format)->bytes;
}

gsize astro_stream_step_bytes(const AstroStream *stream)
{
  gsize bytes = astro_format_row(stream->format)->bytes;
  for (guint i = 0; i < stream->layout.n_axes; i++)
    if (stream->layout.extents[i])
      bytes *= stream->layout.extents[i];
  return bytes;
}

double astro_channel_frequency(double frequency, double bandwidth, guint n, guint channel)
{
  const double middle = frequency - bandwidth / 2 + (channel + 0.5) * bandwidth / n;
  return fabs(middle) > 1e-9 * bandwidth ? middle : 0;
}

guint64 astro_stream_time(const AstroStream *stream, guint64 step)
{
  return gst_util_uint64_scale(step, GST_SECOND * (guint64)stream->rate_d, (guint64)stream->rate_n);
}

guint64 astro_stream_step_of_rate(const AstroStream *stream, guint64 step, const AstroStream *other)
{
  return gst_util_uint64_scale_round(step, (guint64)other->rate_n * (guint64)stream->rate_d,
                                     (guint64)other->rate_d * (guint64)stream->rate_n);
}

/* A rate may have been rounded to a whole number of samples. */
#define BAND_ROUNDING 1e-5

gboolean astro_stream_check_band(const AstroStream *voltages, GError **error)
{
  if (voltages->rate_n == 0)
    return TRUE;
  const gboolean is_complex = astro_format_row(voltages->format)->is_complex;
  const double carried = (double)voltages->rate_n / voltages->rate_d / (is_complex ? 1 : 2);
  if (voltages->bandwidth <= carried * (1 + BAND_ROUNDING))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "bandwidth=%.15g Hz, expected at most %.15g Hz, which %s samples at a "
                             "rate of %d/%d carry",
                             voltages->bandwidth, carried, is_complex ? "complex" : "real",
                             voltages->rate_n, voltages->rate_d);
}

gboolean astro_stream_steps(const AstroStream *stream, gsize bytes, guint64 *steps, GError **error)
{
  gsize step = astro_stream_step_bytes(stream);
  if (bytes % step != 0)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_SIZE,
        "a buffer of %" G_GSIZE_FORMAT " bytes is not a whole number of steps of %" G_GSIZE_FORMAT
        " bytes (%" G_GSIZE_FORMAT " are left over): the size of a file and the blocksize of its "
        "source must be multiples of a step",
        bytes, step, bytes % step);
  *steps = bytes / step;
  return TRUE;
}

void astro_stream_shape(const AstroStream *stream, guint64 steps, AstroLayout *shape)
{
  gboolean found = FALSE;

  *shape = stream->layout;
  for (guint i = 0; i < shape->n_axes; i++)
    if (shape->extents[i] == 0) {
      shape->extents[i] = steps;
      found = TRUE;
    }
  if (found || steps == 1 || shape->n_axes == ASTRO_MAX_AXES)
    return;
  memmove(shape->axes + 1, shape->axes, shape->n_axes * sizeof *shape->axes);
  memmove(shape->extents + 1, shape->extents, shape->n_axes * sizeof *shape->extents);
  shape->axes[0] = ASTRO_AXIS_TIME;
  shape->extents[0] = steps;
  shape->n_axes++;
}
