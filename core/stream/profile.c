/* Reads and writes the caps of folded profiles. */
#include "config.h"
#include "core/stream/profile.h"

static gboolean check_axes(const AstroLayout *layout, GError **error)
{
  static const AstroAxis last[] = { ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL, ASTRO_AXIS_PHASE };
  const guint n = G_N_ELEMENTS(last), front = layout->n_axes - MIN(layout->n_axes, n);
  gboolean ok = layout->n_axes >= n && front <= 1;
  for (guint i = 0; ok && i < n; i++)
    ok = layout->axes[front + i] == last[i];
  if (ok &&
      (front == 0 || layout->axes[0] == ASTRO_AXIS_STATION || layout->axes[0] == ASTRO_AXIS_BEAM))
    return TRUE;
  g_autofree char *text = astro_layout_to_string(layout);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "profiles of layout %s, expected channel:pol:phase, with station or "
                             "beam in front where there are several",
                             text);
}

/* A finite number that is above 0, or 0 where it may be. */
static gboolean read_number(const GstStructure *s, const char *field, gboolean may_be_zero,
                            const char *expected, double *number, GError **error)
{
  const GValue *value = gst_structure_get_value(s, field);
  if (value && G_VALUE_HOLDS_DOUBLE(value)) {
    *number = g_value_get_double(value);
    if ((*number > 0 || (may_be_zero && *number == 0)) && *number <= G_MAXDOUBLE)
      return TRUE;
  }
  g_autofree char *found = value ? gst_value_serialize(value) : NULL;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "caps field \"%s\" of profiles is %s, expected %s", field,
                             found ? found : "missing", expected);
}

static gboolean read_products(const GstStructure *s, const AstroStream *stream,
                              AstroPowerProducts *products, GError **error)
{
  const char *text = gst_structure_get_string(s, "products");
  if (!text)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps of profiles have no field \"products\", expected the names of "
                               "what the pol axis holds, joined by ':' (I, XX:YY, I:Q:U:V)");
  if (!astro_power_products_parse(products, text, error))
    return FALSE;
  const guint64 pols = astro_stream_extent(stream, ASTRO_AXIS_POL);
  return pols == products->n ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pols=%" G_GUINT64_FORMAT " but products=%s are %u, expected as many "
                             "products as polarisations",
                             pols, text, products->n);
}

gboolean astro_profile_from_caps(AstroStream *stream, AstroProfile *profile, const GstCaps *caps,
                                 GError **error)
{
  *profile = (AstroProfile){ 0 };
  if (!astro_stream_from_caps(stream, caps, error))
    return FALSE;
  if (stream->quantity != ASTRO_QUANTITY_PROFILE)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "a stream of %s, expected profiles",
                               astro_quantity_name(stream->quantity));
  if (stream->format != ASTRO_FORMAT_F32LE)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "profiles of format %s, expected F32LE",
                               astro_format_name(stream->format));
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  return check_axes(&stream->layout, error) &&
         read_number(s, "period", FALSE, "a double of seconds above 0", &profile->period, error) &&
         read_number(s, "dm", TRUE, "a double of pc/cm^3, 0 or more", &profile->dm, error) &&
         read_products(s, stream, &profile->products, error);
}

GstCaps *astro_profile_to_caps(const AstroStream *stream, const AstroProfile *profile)
{
  g_autofree char *text = astro_power_products_to_string(&profile->products);
  GstCaps *caps = astro_stream_to_caps(stream);
  gst_caps_set_simple(caps, "products", G_TYPE_STRING, text, "period", G_TYPE_DOUBLE,
                      profile->period, "dm", G_TYPE_DOUBLE, profile->dm, NULL);
  return caps;
}
