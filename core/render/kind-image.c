/* Images of the sky: one panel per product. */
#include "core/render/panel.h"
#include "core/render/sexagesimal.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define MOST_PANELS 16

typedef struct {
  AstroFormat format;
  guint64 width, height, channels, pols;
  gboolean channel_first;
  gint channel;
  GArray *products; /* of the panels: indices, guint */
  float *seen;      /* how many channels are in the mean of a pixel */
} Kind;

static gboolean choose_products(Kind *k, const AstroRenderInput *in, GError **error)
{
  for (guint p = 0; p < k->pols; p++)
    if (!in->style->product || g_str_equal(in->grid.products[p], in->style->product))
      g_array_append_val(k->products, p);
  if (k->products->len == 0) {
    g_autofree char *there = g_strjoinv(", ", in->grid.products);
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                               "the image has no product %s, expected one of %s",
                               in->style->product, there);
  }
  if (k->products->len > MOST_PANELS)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                               "found %u products, expected at most %d in one picture: choose "
                               "one",
                               k->products->len, MOST_PANELS);
  return astro_render_check_channel(k->channel, k->channels, error);
}

/* The plane may not be square, but the grid for WCS has only one size. */
static AstroWcs *new_wcs(const Kind *k, const AstroRenderInput *in)
{
  AstroWcsKeys keys;
  if (!(in->grid.pixel > 0) || !astro_wcs_keys(&keys, &in->grid, in->observation, NULL))
    return NULL;
  keys.crpix[1] += (double)(k->height / 2) - (double)(k->width / 2);
  return astro_wcs_new(&keys, NULL);
}

/* Offsets are shown for fields so small that right ascensions along their edge would differ only in
 * the last digits. */
static const struct {
  double from;  /* the smallest width of such a field, arcsec */
  double units; /* per arcsec */
  const char *name;
} small_fields[] = { { 4, 1, "arcsec" }, { 0.004, 1e3, "mas" }, { 0, 1e6, "µas" } };

#define SMALL_FIELD 20.0              /* arcsec */
#define ARCSEC (3600 * ASTRO_DEGREES) /* per radian */

/* The position from which offsets count, to a tenth of a pixel. */
static char *place_of(double degrees, double pixel, gboolean of_ra)
{
  char text[48];
  astro_sexagesimal_text(text, sizeof text, of_ra, degrees,
                         fmin(pixel * ASTRO_DEGREES * 0.1, 1 / 3600.0));
  return g_strdup(text);
}

static void set_offsets(const Kind *k, const AstroRenderInput *in, AstroPanel *panel)
{
  const AstroObservation *o = in->observation;
  const double width = (double)MAX(k->width, k->height) * in->grid.pixel * ARCSEC;
  guint i = 0;
  while (width < small_fields[i].from)
    i++;
  const double unit = small_fields[i].units * ARCSEC, pixel = in->grid.pixel * unit;
  const double x = (double)(k->width / 2), y = (double)(k->height / 2);
  const double l = in->grid.centre_l * unit, m = in->grid.centre_m * unit;
  g_autofree char *ra = place_of(o->phase_ra * ASTRO_DEGREES, in->grid.pixel, TRUE),
                  *dec = place_of(o->phase_dec * ASTRO_DEGREES, in->grid.pixel, FALSE);
  panel->x =
      (AstroPanelAxis){ g_strdup_printf("RA offset (%s) from %s %s", small_fields[i].name, ra, dec),
                        l + (x + 0.5) * pixel, l + (x + 0.5 - (double)k->width) * pixel };
  panel->y = (AstroPanelAxis){ g_strdup_printf("Dec offset (%s)", small_fields[i].name),
                               m + (-0.5 - y) * pixel, m + ((double)k->height - 0.5 - y) * pixel };
}

/* Offsets in degrees if the position on the sky is not known, pixels if their size is not. */
static void set_axes(const Kind *k, const AstroRenderInput *in, AstroPanel *panel)
{
  double pixel = in->grid.pixel * ASTRO_DEGREES, x = (double)(k->width / 2),
         y = (double)(k->height / 2), l = in->grid.centre_l * ASTRO_DEGREES,
         m = in->grid.centre_m * ASTRO_DEGREES;
  if ((panel->wcs = new_wcs(k, in)) &&
      (double)MAX(k->width, k->height) * in->grid.pixel * ARCSEC < SMALL_FIELD) {
    g_clear_pointer(&panel->wcs, astro_wcs_free);
    set_offsets(k, in, panel);
  } else if (panel->wcs) {
    panel->x.label = g_strdup("Right ascension (ICRS)");
    panel->y.label = g_strdup("Declination (ICRS)");
  } else if (pixel > 0) {
    panel->x = (AstroPanelAxis){ g_strdup("l (degrees)"), l + (x + 0.5) * pixel,
                                 l + (x + 0.5 - (double)k->width) * pixel };
    panel->y = (AstroPanelAxis){ g_strdup("m (degrees)"), m + (-0.5 - y) * pixel,
                                 m + ((double)k->height - 0.5 - y) * pixel };
  } else {
    panel->x = (AstroPanelAxis){ g_strdup("x (pixels)"), -0.5, (double)k->width - 0.5 };
    panel->y = (AstroPanelAxis){ g_strdup("y (pixels)"), -0.5, (double)k->height - 0.5 };
  }
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  g_array_unref(k->products);
  g_free(k->seen);
  g_free(k);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  k->format = in->stream.format;
  k->width = astro_stream_extent(&in->stream, ASTRO_AXIS_X);
  k->height = astro_stream_extent(&in->stream, ASTRO_AXIS_Y);
  k->channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  k->pols = astro_stream_extent(&in->stream, ASTRO_AXIS_POL);
  k->channel_first = astro_layout_find(&in->stream.layout, ASTRO_AXIS_CHANNEL) == 0;
  k->channel = in->style->channel;
  k->products = g_array_new(FALSE, FALSE, sizeof(guint));
  if (!choose_products(k, in, error)) {
    close_kind(k);
    return NULL;
  }
  const AstroHistory *done = in->observation ? &in->observation->done : NULL;
  for (guint i = 0; i < k->products->len; i++) {
    const char *name = in->grid.products[g_array_index(k->products, guint, i)];
    gboolean is_model = g_str_has_suffix(name, "-MODEL");
    AstroPanel panel = { .title = k->pols > 1 ? g_strdup(name) : NULL,
                         .upward = TRUE,
                         .is_square = TRUE,
                         .is_smooth = in->style->scaling == ASTRO_SCALING_SMOOTH,
                         .is_whole = in->style->scaling == ASTRO_SCALING_EXACT,
                         .unit = g_str_has_suffix(name, "-INDEX")
                                     ? "spectral index"
                                     : astro_history_image_unit(done, is_model),
                         .is_model = is_model,
                         .is_sky = !g_str_equal(name, "PSF") && in->grid.pixel > 0,
                         .width = (guint)k->width,
                         .height = (guint)k->height };
    set_axes(k, in, &panel);
    g_array_append_val(panels, panel);
  }
  return k;
}

/* A channel without visibilities is NaN and is left out of the mean. */
static void add_value(Kind *k, gsize i, double value, float *sums)
{
  gboolean good = value - value == 0;
  sums[i] += good ? (float)value : 0;
  k->seen[i] += good ? 1 : 0;
}

static void add_plane(Kind *k, gconstpointer data, gsize plane, float *sums)
{
  gsize n = k->width * k->height;
  if (k->format == ASTRO_FORMAT_F64LE) {
    const double *from = (const double *)data + plane * n;
    for (gsize i = 0; i < n; i++)
      add_value(k, i, from[i], sums);
  } else {
    const float *from = (const float *)data + plane * n;
    for (gsize i = 0; i < n; i++)
      add_value(k, i, from[i], sums);
  }
}

static gsize plane_of(const Kind *k, guint64 channel, guint product)
{
  return k->channel_first ? channel * k->pols + product : product;
}

/* A single plane of floats is shown directly from the buffer. */
static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  guint64 first = k->channel < 0 ? 0 : (guint64)k->channel, n = k->channel < 0 ? k->channels : 1;
  gsize samples = k->width * k->height;
  for (guint i = 0; i < k->products->len; i++) {
    guint product = g_array_index(k->products, guint, i);
    if (n == 1 && k->format == ASTRO_FORMAT_F32LE) {
      panels[i].values = (const float *)data + plane_of(k, first, product) * samples;
      continue;
    }
    if (!k->seen)
      k->seen = g_new(float, samples);
    memset(panels[i].own, 0, samples * sizeof(float));
    memset(k->seen, 0, samples * sizeof(float));
    for (guint64 c = first; c < first + n; c++)
      add_plane(k, data, plane_of(k, c, product), panels[i].own);
    for (gsize s = 0; s < samples; s++)
      panels[i].own[s] /= k->seen[s];
  }
}

const AstroRenderKind astro_render_image = {
  ASTRO_QUANTITY_IMAGE,
  ASTRO_VIEW_AUTO,
  "application/x-astro-image, format = (string) { F32LE, F64LE }, layout = (string) { pol:y:x, "
  "channel:pol:y:x }",
  open_kind,
  take,
  close_kind,
};
