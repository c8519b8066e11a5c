/* Caps of astroimage, from grids to images and back. */
#include "elements/astroimage-caps.h"

#include "core/image/image.h"
#include "core/stream/grid.h"
#include "core/stream/stream.h"
#include "elements/base/astrofields.h"
#include "elements/base/astroshares.h"

/* rows: only rows are transformed, along u. */
static const struct {
  const char *grid, *image;
  gboolean rows;
} layouts[] = {
  { "pol:y:x", "pol:y:x" },
  { "plane:pol:y:x", "pol:y:x" },
  { "channel:pol:y:x", "channel:pol:y:x" },
  { "plane:channel:pol:y:x", "channel:pol:y:x" },
  { "pol:v:x", "pol:y:x", TRUE },
  { "plane:pol:v:x", "pol:y:x", TRUE },
  { "channel:pol:v:x", "channel:pol:y:x", TRUE },
  { "plane:channel:pol:v:x", "channel:pol:y:x", TRUE },
};

/* Sets the layouts, or leaves the field as it was if there are none. */
static void take_layouts(GstStructure *s, GValue *list)
{
  if (gst_value_list_get_size(list))
    gst_structure_take_value(s, "layout", list);
  else
    g_value_unset(list);
}

static void set_image_layouts(GstStructure *s, const GValue *given)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    if (astro_name_is_in(given, layouts[i].grid))
      astro_name_append(&list, layouts[i].image);
  if (gst_value_list_get_size(&list))
    gst_structure_remove_field(s, "planes");
  take_layouts(s, &list);
}

static void set_grid_layouts(GstStructure *s, const GValue *given, gboolean rows)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < G_N_ELEMENTS(layouts); i++)
    if (layouts[i].rows == rows && astro_name_is_in(given, layouts[i].image))
      astro_name_append(&list, layouts[i].grid);
  take_layouts(s, &list);
}

static void set_formats(GstStructure *s, gboolean to_src)
{
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  astro_format_append(&list, to_src ? ASTRO_FORMAT_F32LE : ASTRO_FORMAT_CF32LE);
  astro_format_append(&list, to_src ? ASTRO_FORMAT_F64LE : ASTRO_FORMAT_CF64LE);
  gst_structure_take_value(s, "format", &list);
}

/* Sets the image's fields from the grid's caps. */
static void describe_image(GstCaps *given, const char *stokes, GstStructure *s)
{
  AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS];
  AstroGrid grid;
  guint n;

  if (!astro_grid_from_caps(&grid, given, NULL) ||
      !(n = astro_image_products(&grid, stokes, products, NULL))) {
    astro_grid_clear(&grid);
    return;
  }
  g_autoptr(GString) names = g_string_new(NULL);
  for (guint i = 0; i < n; i++)
    g_string_append_printf(names, "%s%s", i ? ":" : "", products[i].name);
  gst_structure_set(s, "width", G_TYPE_INT, (gint)grid.image_size, "height", G_TYPE_INT,
                    (gint)grid.image_size, "pols", G_TYPE_INT, (gint)n, "pixel", G_TYPE_DOUBLE,
                    grid.pixel, "products", G_TYPE_STRING, names->str, "centre-l", G_TYPE_DOUBLE,
                    grid.centre_l, "centre-m", G_TYPE_DOUBLE, grid.centre_m, "psf", G_TYPE_BOOLEAN,
                    astro_grid_find(&grid, ASTRO_PRODUCT_PSF) >= 0, NULL);
  if (grid.middle)
    gst_structure_set(s, "middle", G_TYPE_INT, (gint)grid.middle, NULL);
  astro_grid_clear(&grid);
}

/* Wrong caps give an image of the same shape: set_caps reports what is wrong. */
static GstStructure *image_of(const GstStructure *given, const char *stokes)
{
  g_autoptr(GstCaps) caps = gst_caps_new_full(gst_structure_copy(given), NULL);
  GstStructure *s = gst_structure_copy(given);

  gst_structure_set_name(s, astro_quantity_media_type(ASTRO_QUANTITY_IMAGE));
  gst_structure_remove_fields(s, "cell", "image-size", "touched-only", "spread", "support", "beta",
                              "oversampling", "interpolated", "rate", ASTRO_SHARES_FIELD, NULL);
  if (!gst_caps_is_fixed(caps))
    gst_structure_remove_fields(s, "width", "height", "pols", "products", NULL);
  else
    describe_image(caps, stokes, s);
  set_formats(s, TRUE);
  set_image_layouts(s, gst_structure_get_value(given, "layout"));
  return s;
}

GstCaps *astro_image_caps_of_grids(const GstCaps *grids, const char *stokes)
{
  GstCaps *images = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(grids); i++)
    gst_caps_append_structure(images, image_of(gst_caps_get_structure(grids, i), stokes));
  return images;
}

/* A wide one comes with a larger image than the user asked for, unless somebody set its size. */
static void ask_for_wide(GstStructure *grid, const GstStructure *image)
{
  gint width;
  gst_structure_set(grid, "wide-psf", G_TYPE_BOOLEAN, TRUE, NULL);
  if (gst_structure_get_int(image, "width", &width))
    gst_structure_set(grid, "image-size", G_TYPE_INT, width, NULL);
}

static GstStructure *grid_of(const GstStructure *given, gboolean psf)
{
  GstStructure *s = gst_structure_new_empty(astro_quantity_media_type(ASTRO_QUANTITY_UVGRID));

  if (psf || astro_field_is_true(given, "psf"))
    gst_structure_set(s, "psf", G_TYPE_BOOLEAN, TRUE, NULL);
  if (astro_field_is_true(given, "wide-psf"))
    ask_for_wide(s, given);
  return s;
}

/* Best are grids whose columns are left to us, then all others. */
static void add_grids(GstCaps *grids, GstStructure *any, const GstStructure *given)
{
  const GValue *layout = gst_structure_get_value(given, "layout");
  GstStructure *rows = gst_structure_copy(any);
  set_grid_layouts(rows, layout, TRUE);
  gst_structure_set(rows, "touched-only", G_TYPE_BOOLEAN, TRUE, NULL);
  gst_caps_append_structure(grids, rows);
  set_grid_layouts(any, layout, FALSE);
  gst_caps_append_structure(grids, any);
}

GstCaps *astro_image_caps_to_grids(const GstCaps *images, gboolean psf, gboolean may_be_wide)
{
  GstCaps *grids = gst_caps_new_empty(), *others = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(images); i++) {
    const GstStructure *given = gst_caps_get_structure(images, i);
    const gboolean is_wide = astro_field_is_true(given, "wide-psf");
    if (is_wide && !may_be_wide)
      continue;
    GstStructure *s = grid_of(given, psf);
    /* Any other grid comes last, and is refused where an error can say why. Elements in between
     * pass this on, so that it must not ask for a form that is for one reader only. */
    if (!is_wide)
      gst_caps_append_structure(others, gst_structure_copy(s));
    set_formats(s, FALSE);
    add_grids(grids, s, given);
  }
  gst_caps_append(grids, others);
  return grids;
}

gboolean astro_image_check_transform(const GstCaps *caps, GError **error)
{
  static const char *const unusual[] = { "direction", "centred" };
  const GstStructure *s = gst_caps_get_structure(caps, 0);

  for (guint i = 0; i < G_N_ELEMENTS(unusual); i++)
    if (gst_structure_has_field(s, unusual[i])) {
      g_autofree char *value = gst_value_serialize(gst_structure_get_value(s, unusual[i]));
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "a grid transformed with %s=%s, expected a forward, centred "
                                 "transform (astrofft without its properties)",
                                 unusual[i], value);
    }
  return TRUE;
}

gboolean astro_image_find_layout(const AstroLayout *layout, gboolean takes_rows, gboolean *rows,
                                 GError **error)
{
  g_autofree char *name = astro_layout_to_string(layout);
  guint kind = 0;

  while (kind < G_N_ELEMENTS(layouts) && !g_str_equal(name, layouts[kind].grid))
    kind++;
  if (kind == G_N_ELEMENTS(layouts) || (layouts[kind].rows && !takes_rows))
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "a uvgrid of layout %s, expected pol:y:x, with channel, plane or plane:channel "
        "before it, or v:x with touched-only=true%s",
        name,
        astro_layout_find(layout, ASTRO_AXIS_U) >= 0 ? ": astrofft must come before astroimage"
                                                     : "");
  *rows = layouts[kind].rows;
  return TRUE;
}
