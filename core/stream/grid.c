/* Reads and writes the caps fields of grids and images. */
#include "config.h"
#include "core/stream/grid.h"

#include <math.h>
#include <string.h>

static const char *const spread_names[ASTRO_N_SPREADS] = {
  [ASTRO_SPREAD_NONE] = "none",
  [ASTRO_SPREAD_SEMICIRCLE] = "semicircle",
  [ASTRO_SPREAD_KAISER_BESSEL] = "kaiser-bessel",
  [ASTRO_SPREAD_SPHEROIDAL] = "spheroidal",
};

static gboolean refuse(GError **error, const char *field, const char *found, const char *expected)
{
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "%s is %s, expected %s", field, found,
                             expected);
}

static gboolean spread_from_name(AstroSpreadKind *kind, const char *name, GError **error)
{
  *kind = ASTRO_SPREAD_NONE;
  if (!name)
    return TRUE;
  for (guint i = 0; i < ASTRO_N_SPREADS; i++)
    if (!strcmp(name, spread_names[i])) {
      *kind = i;
      return TRUE;
    }
  return refuse(error, "spread", name, "none, semicircle, kaiser-bessel or spheroidal");
}

static gboolean products_from_text(AstroGrid *grid, const char *text, guint64 pols, GError **error)
{
  static const char *const by_number[] = { [1] = "I", [2] = "XX:YY", [4] = "XX:XY:YX:YY" };
  if (!text && pols < G_N_ELEMENTS(by_number))
    text = by_number[pols];
  if (!text)
    return refuse(error, "products", "missing", "names joined by ':'");
  grid->products = g_strsplit(text, ":", -1);
  if (g_strv_length(grid->products) == pols)
    return TRUE;
  g_autofree char *expected = g_strdup_printf("%" G_GUINT64_FORMAT " names joined by ':'", pols);
  return refuse(error, "products", text, expected);
}

/* A field of the wrong type must not be taken as missing: the image would silently be a different
 * one. */
static gboolean refuse_field(GError **error, const char *name, const GValue *found,
                             const char *expected)
{
  g_autofree char *value = gst_value_serialize(found);
  g_autofree char *text = g_strdup_printf("(%s) %s", G_VALUE_TYPE_NAME(found), value ? value : "?");
  return refuse(error, name, text, expected);
}

static gboolean get_uint(const GstStructure *fields, const char *name, guint *value, GError **error)
{
  const GValue *found = gst_structure_get_value(fields, name);
  if (found && (!G_VALUE_HOLDS_INT(found) || g_value_get_int(found) < 0))
    return refuse_field(error, name, found, "an int of at least 0");
  if (found && g_value_get_int(found) > 0)
    *value = (guint)g_value_get_int(found);
  return TRUE;
}

static gboolean get_double(const GstStructure *fields, const char *name, double *value,
                           GError **error)
{
  const GValue *found = gst_structure_get_value(fields, name);
  if (found && (!G_VALUE_HOLDS_DOUBLE(found) || !isfinite(g_value_get_double(found))))
    return refuse_field(error, name, found, "a finite double");
  if (found)
    *value = g_value_get_double(found);
  return TRUE;
}

static gboolean get_numbers(const GstStructure *fields, AstroGrid *grid, GError **error)
{
  const struct {
    const char *name;
    guint *value;
  } uints[] = { { "image-size", &grid->image_size },
                { "middle", &grid->middle },
                { "support", &grid->spread.support },
                { "oversampling", &grid->spread.oversampling } };
  const struct {
    const char *name;
    double *value;
  } doubles[] = { { "beta", &grid->spread.beta },
                  { "centre-l", &grid->centre_l },
                  { "centre-m", &grid->centre_m },
                  { "cell", &grid->cell },
                  { "pixel", &grid->pixel } };
  for (guint i = 0; i < G_N_ELEMENTS(uints); i++)
    if (!get_uint(fields, uints[i].name, uints[i].value, error))
      return FALSE;
  for (guint i = 0; i < G_N_ELEMENTS(doubles); i++)
    if (!get_double(fields, doubles[i].name, doubles[i].value, error))
      return FALSE;
  return TRUE;
}

static gboolean from_caps(AstroGrid *grid, const GstCaps *caps, gboolean is_strict, GError **error)
{
  const GstStructure *fields = gst_caps_get_structure(caps, 0);
  AstroStream stream;

  memset(grid, 0, sizeof *grid);
  if (!astro_stream_from_caps(&stream, caps, error))
    return FALSE;
  gint fast = stream.layout.n_axes - 1;
  if (fast < 1 || stream.layout.extents[fast] > G_MAXINT ||
      (is_strict && stream.layout.extents[fast] != stream.layout.extents[fast - 1]))
    return refuse(error, "layout", "not square", "width = height in the last two axes");
  grid->size = grid->image_size = stream.layout.extents[fast];
  if (!get_numbers(fields, grid, error))
    return FALSE;
  gst_structure_get_boolean(fields, "interpolated", &grid->spread.interpolated);
  if (!(grid->cell > 0) && grid->pixel > 0)
    grid->cell = 1 / (grid->pixel * grid->size);
  if (!(grid->pixel > 0) && grid->cell > 0)
    grid->pixel = 1 / (grid->cell * grid->size);
  if (!(grid->pixel > 0) && is_strict)
    return refuse(error, "cell (wavelengths) or pixel (radians)", "missing", "a number above 0");
  if (grid->image_size > grid->size)
    return refuse(error, "image-size", "larger than the grid", "at most its width");
  if (grid->middle > grid->image_size)
    return refuse(error, "middle", "larger than the image", "at most its size");
  return spread_from_name(&grid->spread.kind, gst_structure_get_string(fields, "spread"), error) &&
         products_from_text(grid, gst_structure_get_string(fields, "products"),
                            astro_stream_extent(&stream, ASTRO_AXIS_POL), error);
}

gboolean astro_grid_from_caps(AstroGrid *grid, const GstCaps *caps, GError **error)
{
  return from_caps(grid, caps, TRUE, error);
}

gboolean astro_grid_from_image_caps(AstroGrid *grid, const GstCaps *caps, GError **error)
{
  return from_caps(grid, caps, FALSE, error);
}

gboolean astro_image_check_layout(const AstroStream *stream, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  if (!strcmp(layout, "pol:y:x") || !strcmp(layout, "channel:pol:y:x"))
    return TRUE;
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "an image of layout %s, expected pol:y:x or channel:pol:y:x", layout);
}

void astro_grid_to_caps(const AstroGrid *grid, GstCaps *caps)
{
  g_autofree char *products = g_strjoinv(":", grid->products);
  gst_caps_set_simple(caps, "pixel", G_TYPE_DOUBLE, grid->pixel, "products", G_TYPE_STRING,
                      products, "centre-l", G_TYPE_DOUBLE, grid->centre_l, "centre-m",
                      G_TYPE_DOUBLE, grid->centre_m, NULL);
  if (grid->middle)
    gst_caps_set_simple(caps, "middle", G_TYPE_INT, (gint)grid->middle, NULL);
  if (!g_str_equal(gst_structure_get_name(gst_caps_get_structure(caps, 0)),
                   astro_quantity_media_type(ASTRO_QUANTITY_UVGRID)))
    return;
  gst_caps_set_simple(caps, "cell", G_TYPE_DOUBLE, grid->cell, "image-size", G_TYPE_INT,
                      grid->image_size, "spread", G_TYPE_STRING, spread_names[grid->spread.kind],
                      "support", G_TYPE_INT, grid->spread.support, "beta", G_TYPE_DOUBLE,
                      grid->spread.beta, "oversampling", G_TYPE_INT, grid->spread.oversampling,
                      "interpolated", G_TYPE_BOOLEAN, grid->spread.interpolated, NULL);
}

void astro_grid_clear(AstroGrid *grid)
{
  g_clear_pointer(&grid->products, g_strfreev);
}

double astro_grid_farthest(const AstroGrid *grid)
{
  return MIN(hypot(grid->centre_l, grid->centre_m) + G_SQRT2 / 2 * grid->image_size * grid->pixel,
             1);
}

double astro_grid_farthest_wanted(const AstroGrid *grid)
{
  AstroGrid wanted = *grid;
  wanted.image_size = astro_grid_wanted(grid);
  const double l = astro_grid_farthest(&wanted);
  return sqrt(2 * (1 - sqrt(1 - l * l)));
}

gint astro_grid_find(const AstroGrid *grid, const char *product)
{
  for (gint i = 0; grid->products && grid->products[i]; i++)
    if (!strcmp(grid->products[i], product))
      return i;
  return -1;
}
