/* Grids with a map of touched tiles, of which the rest is undefined. */
#include "config.h"
#include "elements/astrofft-parts.h"

static gboolean takes_maps(const AstroFftSettings *settings)
{
  return settings->n_axes == 0 && !settings->inverse && settings->centred != ASTRO_CENTRED_FALSE;
}

/* The caps of grids that may have maps: planes, which are mostly empty, whose products stand next
 * to their v and u and so share a map. */
static GstCaps *with_maps(const GstCaps *caps)
{
  g_autoptr(GstCaps) known =
      gst_caps_from_string("application/x-astro-uvgrid,format={CF32LE,CF64LE},"
                           "layout={plane:pol:v:u,plane:channel:pol:v:u}");
  return gst_caps_intersect_full((GstCaps *)caps, known, GST_CAPS_INTERSECT_FIRST);
}

/* Whether caps ask for whole grids, or say that these are whole. */
static gboolean denies_maps(const GstStructure *s)
{
  gboolean some;
  return gst_structure_get_boolean(s, "touched-only", &some) && !some;
}

AstroFftSettings astro_fft_rows_alone(const AstroFftSettings *settings)
{
  AstroFftSettings rows = *settings;
  rows.axes[0] = ASTRO_AXIS_U;
  rows.n_axes = 1;
  return rows;
}

void astro_fft_offer_rows(const AstroFftSettings *settings, const GstStructure *given,
                          GstCaps *result)
{
  const AstroFftSettings rows = astro_fft_rows_alone(settings);
  g_autoptr(GstCaps) caps = gst_caps_new_full(gst_structure_copy(given), NULL);
  g_autoptr(GstCaps) mapped = gst_caps_new_empty();

  if (!takes_maps(settings) || denies_maps(given) || !gst_structure_has_field(given, "image-size"))
    return;
  g_autoptr(GstCaps) taken = with_maps(caps);
  for (guint i = 0; i < gst_caps_get_size(taken); i++)
    astro_fft_map_structure(&rows, gst_caps_get_structure(taken, i), ASTRO_QUANTITY_UVGRID, TRUE,
                            mapped);
  for (guint i = 0; i < gst_caps_get_size(mapped); i++) {
    GstStructure *s = gst_structure_copy(gst_caps_get_structure(mapped, i));
    gst_structure_set(s, "touched-only", G_TYPE_BOOLEAN, TRUE, NULL);
    gst_caps_append_structure(result, s);
  }
}

void astro_fft_append_inputs(const AstroFftSettings *settings, const GstStructure *given,
                             AstroQuantity in, gboolean rows, GstCaps *result)
{
  const gboolean of_rows = astro_field_is_true(given, "touched-only");
  const AstroFftSettings alone = astro_fft_rows_alone(settings);
  g_autoptr(GstCaps) mapped = gst_caps_new_empty();

  /* Both are only for a reader that takes them and is the only one. */
  if ((of_rows && !(rows && in == ASTRO_QUANTITY_UVGRID && takes_maps(settings))) ||
      (astro_field_is_true(given, "wide-psf") && !rows))
    return;
  astro_fft_map_structure(of_rows ? &alone : settings, given, in, FALSE, mapped);
  gst_caps_append(result, of_rows ? with_maps(mapped) : g_steal_pointer(&mapped));
}

void astro_fft_deny_touched_only(GstCaps *result)
{
  for (guint i = 0; i < gst_caps_get_size(result); i++) {
    GstStructure *s = gst_caps_get_structure(result, i);
    const char *text = gst_structure_get_string(s, "layout");
    AstroLayout layout;
    if (gst_structure_has_name(s, astro_quantity_media_type(ASTRO_QUANTITY_UVGRID)) && text &&
        astro_layout_parse(&layout, text, ASTRO_QUANTITY_UVGRID, NULL) &&
        astro_layout_find(&layout, ASTRO_AXIS_V) >= 0)
      gst_structure_set(s, "touched-only", G_TYPE_BOOLEAN, FALSE, NULL);
  }
}

gboolean astro_fft_use_maps(const AstroFftSettings *settings, const AstroStream *in,
                            const GstCaps *caps, AstroFftConfig *config, GError **error)
{
  const GstStructure *given = gst_caps_get_structure(caps, 0);
  g_autoptr(GstCaps) taken = with_maps(caps);
  const gboolean is_possible = !gst_caps_is_empty(taken) && takes_maps(settings);

  if (!is_possible && astro_field_is_true(given, "touched-only"))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "touched-only=true, expected only for complex grids of layout plane:[channel:]pol:v:u that "
        "are transformed forward, centred and along u and v");
  if (!is_possible || denies_maps(given))
    return TRUE;
  config->share_map = astro_stream_extent(in, ASTRO_AXIS_POL);
  return TRUE;
}
