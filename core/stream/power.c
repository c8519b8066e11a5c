/* Reads and writes the caps of detected power. */
#include "config.h"
#include "core/stream/power.h"

#include <string.h>

/* Each product, then its square. */
#define WITH_SQUARE(name) name, name ASTRO_POWER_SQUARE
static const char *const known[] = {
  WITH_SQUARE("I"),  WITH_SQUARE("Q"),  WITH_SQUARE("U"),     WITH_SQUARE("V"),
  WITH_SQUARE("XX"), WITH_SQUARE("YY"), WITH_SQUARE("XY-RE"), WITH_SQUARE("XY-IM"),
  WITH_SQUARE("RR"), WITH_SQUARE("LL"), WITH_SQUARE("RL-RE"), WITH_SQUARE("RL-IM"),
};

static const char *find_name(const char *name)
{
  for (guint i = 0; i < G_N_ELEMENTS(known); i++)
    if (strcmp(known[i], name) == 0)
      return known[i];
  return NULL;
}

gboolean astro_power_is_square(const char *name)
{
  return g_str_has_suffix(name, ASTRO_POWER_SQUARE);
}

gint astro_power_products_find(const AstroPowerProducts *products, const char *name)
{
  for (guint i = 0; i < products->n; i++)
    if (strcmp(products->names[i], name) == 0)
      return (gint)i;
  return -1;
}

gint astro_power_products_square(const AstroPowerProducts *products, guint product)
{
  g_autofree char *name = g_strconcat(products->names[product], ASTRO_POWER_SQUARE, NULL);
  return astro_power_products_find(products, name);
}

static gboolean refuse(const char *text, const char *found, const char *expected, GError **error)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "products \"%s\": %s, expected %s",
                             text, found, expected);
}

static gboolean check_squares(const AstroPowerProducts *products, const char *text, GError **error)
{
  for (guint i = 0; i < products->n; i++) {
    if (!astro_power_is_square(products->names[i]))
      continue;
    g_autofree char *of =
        g_strndup(products->names[i], strlen(products->names[i]) - strlen(ASTRO_POWER_SQUARE));
    g_autofree char *found = g_strdup_printf("%s without %s", products->names[i], of);
    if (astro_power_products_find(products, of) < 0)
      return refuse(text, found, "squares beside what they are the squares of", error);
  }
  return TRUE;
}

gboolean astro_power_products_parse(AstroPowerProducts *products, const char *text, GError **error)
{
  g_auto(GStrv) names = g_strsplit(text, ":", -1);

  *products = (AstroPowerProducts){ 0 };
  for (guint i = 0; names[i]; i++) {
    const char *name = find_name(names[i]);
    g_autofree char *unknown = g_strdup_printf("there is no product \"%s\"", names[i]);
    if (!name)
      return refuse(text, unknown,
                    "some of I Q U V, XX YY XY-RE XY-IM, RR LL RL-RE RL-IM, and the same "
                    "with " ASTRO_POWER_SQUARE ", joined by ':'",
                    error);
    if (astro_power_products_find(products, name) >= 0)
      return refuse(text, "a product is repeated", "each once", error);
    if (products->n == ASTRO_POWER_MAX_PRODUCTS)
      return refuse(text, "more than eight products", "at most eight", error);
    products->names[products->n++] = name;
  }
  if (products->n == 0)
    return refuse(text, "no products", "names joined by ':', such as XX:YY", error);
  return check_squares(products, text, error);
}

char *astro_power_products_to_string(const AstroPowerProducts *products)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < products->n; i++)
    g_string_append_printf(text, "%s%s", i ? ":" : "", products->names[i]);
  return g_string_free(text, FALSE);
}

static gboolean check_axes(const AstroLayout *layout, GError **error)
{
  static const AstroAxis allowed[] = { ASTRO_AXIS_TIME,    ASTRO_AXIS_CHANNEL, ASTRO_AXIS_POL,
                                       ASTRO_AXIS_STATION, ASTRO_AXIS_BEAM,    ASTRO_AXIS_DM };
  guint found = 0;
  for (guint i = 0; i < G_N_ELEMENTS(allowed); i++)
    found += astro_layout_find(layout, allowed[i]) >= 0;
  if (found == layout->n_axes && !(astro_layout_find(layout, ASTRO_AXIS_STATION) >= 0 &&
                                   astro_layout_find(layout, ASTRO_AXIS_BEAM) >= 0))
    return TRUE;
  g_autofree char *text = astro_layout_to_string(layout);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "power of layout %s, expected axes time, channel and pol, and station "
                             "or beam, and dm, where there are several",
                             text);
}

gboolean astro_power_from_caps(AstroStream *stream, AstroPowerProducts *products,
                               const GstCaps *caps, GError **error)
{
  if (!astro_stream_from_caps(stream, caps, error))
    return FALSE;
  if (stream->quantity != ASTRO_QUANTITY_POWER)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "a stream of %s, expected power",
                               astro_quantity_name(stream->quantity));
  if (stream->format != ASTRO_FORMAT_F32LE)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "power of format %s, expected F32LE",
                               astro_format_name(stream->format));
  if (!check_axes(&stream->layout, error))
    return FALSE;
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  const char *text = gst_structure_get_string(s, "products");
  if (!text)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps of power have no field \"products\", expected the names of "
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

GstCaps *astro_power_to_caps(const AstroStream *stream, const AstroPowerProducts *products)
{
  g_autofree char *text = astro_power_products_to_string(products);
  GstCaps *caps = astro_stream_to_caps(stream);
  gst_caps_set_simple(caps, "products", G_TYPE_STRING, text, NULL);
  return caps;
}
