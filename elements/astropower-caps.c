/* Caps of astropower, and what its products mean. */
#include "config.h"
#include "elements/astropower-caps.h"

#include <string.h>

#include "elements/base/astrointegration.h"

/* ---- products ---- */

gboolean astro_power_read_products(AstroPowerProducts *products, const char *text, gboolean squares,
                                   gboolean is_circular, GError **error)
{
  const char *names = g_strcmp0(text, ASTRO_POWER_COHERENCE) != 0 ? text
                      : is_circular                               ? "RR:LL:RL-RE:RL-IM"
                                                                  : "XX:YY:XY-RE:XY-IM";
  if (!astro_power_products_parse(products, names ? names : "", error))
    return FALSE;
  if (!squares)
    return TRUE;
  GString *with = g_string_new(names);
  for (guint i = 0; i < products->n; i++)
    if (!astro_power_is_square(products->names[i]) && astro_power_products_square(products, i) < 0)
      g_string_append_printf(with, ":%s" ASTRO_POWER_SQUARE, products->names[i]);
  const gboolean ok = astro_power_products_parse(products, with->str, error);
  g_string_free(with, TRUE);
  return ok;
}

static gboolean is_any_of(const char *letters, const char *name)
{
  return strchr(letters, name[0]) != NULL;
}

gboolean astro_power_check_basis(const AstroPowerProducts *products, const char *text,
                                 const AstroObservation *observation, GError **error)
{
  const gboolean is_circular = observation && g_str_equal(observation->basis, "circular");
  for (guint i = 0; i < products->n; i++) {
    const char *name = products->names[i];
    if (!observation && (is_any_of("QUV", name) || g_strcmp0(text, ASTRO_POWER_COHERENCE) == 0))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "property products is %s, which depends on the basis of the "
                                 "receivers, and the stream has no observation: expected "
                                 "astroobserve upstream with basis=linear or basis=circular",
                                 text);
    if (observation && is_any_of(is_circular ? "XY" : "RL", name))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "property products is %s, and the observation's basis is %s: "
                                 "expected products %s, or " ASTRO_POWER_COHERENCE
                                 ", or Stokes parameters",
                                 text, observation->basis, is_circular ? "RR:LL" : "XX:YY");
  }
  return TRUE;
}

/* ---- caps ---- */

static const char *const layouts[] = { "time:pol:channel", "time:station:pol:channel",
                                       "time:beam:pol:channel" };

/* The layout of the power: time is slowest, so that buffers can follow each other in a file. */
static void set_layout(GstStructure *to, const GstStructure *from, gboolean sum_stations)
{
  const char *in = gst_structure_get_string(from, "layout");
  const guint which = sum_stations || !in     ? 0
                      : strstr(in, "station") ? 1
                      : strstr(in, "beam")    ? 2
                                              : 0;
  static const char *const lengths[] = { NULL, "stations", "beams" };
  if (in || sum_stations) {
    gst_structure_set(to, "layout", G_TYPE_STRING, layouts[which], NULL);
    if (lengths[which])
      astro_integration_copy_field(to, from, lengths[which]);
    return;
  }
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    astro_name_append(&list, layouts[i]);
  gst_structure_take_value(to, "layout", &list);
}

GstStructure *astro_power_to_power(const AstroPowerCaps *settings, const GstStructure *spectra)
{
  GstStructure *to = gst_structure_new("application/x-astro-power", "format", G_TYPE_STRING,
                                       astro_format_name(ASTRO_FORMAT_F32LE), NULL);
  gint channels;

  set_layout(to, spectra, settings->sum_stations);
  if (settings->products.n > 0) {
    g_autofree char *text = astro_power_products_to_string(&settings->products);
    gst_structure_set(to, "pols", G_TYPE_INT, (gint)settings->products.n, "products", G_TYPE_STRING,
                      text, NULL);
  }
  const gboolean known = gst_structure_get_int(spectra, "channels", &channels) && channels > 0;
  astro_integration_set_int(to, "channels", known ? (guint64)channels / settings->channel_step : 0);
  astro_integration_copy_field(to, spectra, "frequency");
  astro_integration_copy_field(to, spectra, "bandwidth");
  astro_integration_convert_rate(to, spectra, 1, settings->spectra);
  return to;
}

/* Only what is known for certain: spectra may have their axes in any order. */
GstStructure *astro_power_to_spectra(const AstroPowerCaps *settings, const GstStructure *power)
{
  static const AstroFormat formats[] = { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF16LE,
                                         ASTRO_FORMAT_CI16LE, ASTRO_FORMAT_CI8, ASTRO_FORMAT_CI4 };
  GstStructure *to = gst_structure_new_empty("application/x-astro-spectra");
  GValue list = G_VALUE_INIT;
  gint channels;

  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(formats); i++)
    astro_format_append(&list, formats[i]);
  gst_structure_take_value(to, "format", &list);
  if (settings->channel_step == 1 && gst_structure_get_int(power, "channels", &channels))
    astro_integration_set_int(to, "channels", (guint64)MAX(channels, 0));
  if (!settings->sum_stations) {
    astro_integration_copy_field(to, power, "stations");
    astro_integration_copy_field(to, power, "beams");
  }
  astro_integration_copy_field(to, power, "frequency");
  astro_integration_copy_field(to, power, "bandwidth");
  astro_integration_convert_rate(to, power, settings->spectra, 1);
  return to;
}
