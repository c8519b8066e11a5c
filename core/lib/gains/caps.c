/* Gains as a stream: caps, and the values of an interval. */
#include "config.h"
#include "core/lib/gains/caps.h"

#include <string.h>

#define LAYOUT "station:channel:pol"
#define DELAY "-DELAY"

/* The pol axis holds one number a polarisation, a matrix, or numbers and delays, named by the
 * basis. */
static const struct {
  const char *basis;
  guint pols;
  gboolean is_full, has_delays;
  const char *products;
} sets[] = {
  { "linear", 1, FALSE, FALSE, "X" },
  { "linear", 2, FALSE, FALSE, "X:Y" },
  { "linear", 2, TRUE, FALSE, "XX:XY:YX:YY" },
  { "linear", 1, FALSE, TRUE, "X:X" DELAY },
  { "linear", 2, FALSE, TRUE, "X:Y:X" DELAY ":Y" DELAY },
  { "circular", 1, FALSE, FALSE, "R" },
  { "circular", 2, FALSE, FALSE, "R:L" },
  { "circular", 2, TRUE, FALSE, "RR:RL:LR:LL" },
  { "circular", 1, FALSE, TRUE, "R:R" DELAY },
  { "circular", 2, FALSE, TRUE, "R:L:R" DELAY ":L" DELAY },
  { "stokes", 1, FALSE, FALSE, "I" },
  { "stokes", 1, FALSE, TRUE, "I:I" DELAY },
};

static const char *const names[] = {
  "X", "Y",  "XX", "XY", "YX", "YY", "X" DELAY, "Y" DELAY, "R",
  "L", "RR", "RL", "LR", "LL", "I",  "R" DELAY, "L" DELAY, "I" DELAY,
};

gboolean astro_gains_is_delay(const char *product)
{
  return g_str_has_suffix(product, DELAY);
}

static const char *known_name(const char *text)
{
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    if (strcmp(text, names[i]) == 0)
      return names[i];
  return NULL;
}

static gboolean is_set(const char *text, AstroGainsType type)
{
  for (guint i = 0; text && i < G_N_ELEMENTS(sets); i++)
    if (strcmp(text, sets[i].products) == 0)
      return sets[i].is_full == (type == ASTRO_GAINS_FULL) &&
             sets[i].has_delays == (type == ASTRO_GAINS_DELAY);
  return FALSE;
}

static gboolean read_products(const char *text, AstroGainsType type, guint64 pols,
                              AstroPowerProducts *products, GError **error)
{
  *products = (AstroPowerProducts){ 0 };
  if (!is_set(text, type))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "products of gains=%s are %s, expected X:Y, for full XX:XY:YX:YY, "
                               "for delay X:Y:X-DELAY:Y-DELAY, or R and L for X and Y",
                               astro_gains_type_name(type), text ? text : "missing");
  g_auto(GStrv) parts = g_strsplit(text, ":", -1);
  for (guint i = 0; parts[i]; i++)
    products->names[products->n++] = known_name(parts[i]);
  return pols == products->n ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pols=%" G_GUINT64_FORMAT " but products=%s are %u, expected as many "
                             "products as polarisations",
                             pols, text, products->n);
}

gboolean astro_gains_from_caps(AstroStream *stream, AstroGainsType *type,
                               AstroPowerProducts *products, const GstCaps *caps, GError **error)
{
  if (!astro_stream_from_caps(stream, caps, error))
    return FALSE;
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  if (stream->quantity != ASTRO_QUANTITY_GAINS || stream->format != ASTRO_FORMAT_CF64LE ||
      strcmp(layout, LAYOUT) != 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "%s of format=%s and layout=%s, expected gains of format=CF64LE and "
                               "layout=" LAYOUT,
                               astro_quantity_name(stream->quantity),
                               astro_format_name(stream->format), layout);
  const char *name = gst_structure_get_string(s, "gains");
  if (!astro_gains_type_parse(name, type))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "caps field \"gains\" is %s, expected phase, gain, full, delay or "
                               "bandpass",
                               name ? name : "missing");
  return read_products(gst_structure_get_string(s, "products"), *type,
                       astro_stream_extent(stream, ASTRO_AXIS_POL), products, error);
}

static const char *products_of(const AstroGains *gains)
{
  const char *basis = gains->basis ? gains->basis : "linear";
  for (guint i = 0; i < G_N_ELEMENTS(sets); i++)
    if (strcmp(basis, sets[i].basis) == 0 && gains->pols == sets[i].pols &&
        sets[i].is_full == (gains->type == ASTRO_GAINS_FULL) &&
        sets[i].has_delays == (gains->type == ASTRO_GAINS_DELAY))
      return sets[i].products;
  return NULL;
}

static guint elements_of(const AstroGains *gains)
{
  return gains->type == ASTRO_GAINS_DELAY ? 2 * gains->values : gains->values;
}

GstCaps *astro_gains_to_caps(const AstroGains *gains, GError **error)
{
  const char *products = products_of(gains);
  if (!products) {
    astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                        "gains of %u polarisations in the basis \"%s\", expected one or two in the "
                        "linear or circular basis, or one of stokes",
                        gains->pols, gains->basis ? gains->basis : "");
    return NULL;
  }
  const double width = gains->step * gains->groups; /* the last group may be narrower */
  GstCaps *caps = gst_caps_new_simple(
      astro_quantity_media_type(ASTRO_QUANTITY_GAINS), "format", G_TYPE_STRING, "CF64LE", "layout",
      G_TYPE_STRING, LAYOUT, "stations", G_TYPE_INT, (gint)gains->stations, "channels", G_TYPE_INT,
      (gint)gains->groups, "pols", G_TYPE_INT, (gint)elements_of(gains), "gains", G_TYPE_STRING,
      astro_gains_type_name(gains->type), "products", G_TYPE_STRING, products, "counts",
      G_TYPE_BOOLEAN, TRUE, NULL);
  if (gains->low + width / 2 > 0)
    gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, gains->low + width / 2, "bandwidth",
                        G_TYPE_DOUBLE, width, NULL);
  return caps;
}

void astro_gains_fill_interval(const AstroGains *gains, guint interval, complex double *values,
                               guint32 *counts)
{
  const gsize cells = (gsize)gains->stations * gains->groups,
              from = interval * astro_gains_row(gains);
  const guint elements = elements_of(gains);
  for (gsize cell = 0; cell < cells; cell++)
    for (guint k = 0; k < elements; k++) {
      const gsize at = from + cell * gains->values + k % gains->values, to = cell * elements + k;
      const gboolean good = g_array_index(gains->snr, float, at) > 0;
      counts[to] = good ? 1 : 0;
      if (!good)
        values[to] = 0;
      else if (k < gains->values)
        values[to] = g_array_index(gains->gains, complex double, at);
      else
        values[to] = g_array_index(gains->delays, double, at);
    }
}
