/* Checks the caps of streams that are to be joined, and makes those of the output. */
#include "config.h"
#include "elements/astrojoin-caps.h"

#include <string.h>

#include "core/join/join.h"
#include "core/stream/grid.h"

/* ---- which streams can be joined ---- */

static gboolean check_axis(const AstroMergeInput *input, AstroAxis axis, GError **error)
{
  const AstroStream *stream = input->stream;
  g_autofree char *layout = astro_layout_to_string(&stream->layout);
  if (stream->quantity == ASTRO_QUANTITY_VISIBILITIES && axis != ASTRO_AXIS_CHANNEL)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS,
        "axis=%s: visibilities are joined along channels only, because pairs "
        "of stations from two pads were never correlated: expected spectra, "
        "joined upstream of one astrocorrelator",
        astro_axis_name(axis));
  return astro_layout_find(&stream->layout, axis) >= 0 ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: %s in layout %s have no axis \"%s\" to join along",
                             input->pad, astro_quantity_name(stream->quantity), layout,
                             astro_axis_name(axis));
}

/* Rates are compared as numbers, and of several inputs one with counts gives all of them counts. */
static gboolean may_differ(AstroAxis axis, const char *field)
{
  static const struct {
    AstroAxis axis; /* ASTRO_AXIS_NONE: any */
    const char *field;
  } fields[] = {
    { ASTRO_AXIS_NONE, "rate" },         { ASTRO_AXIS_NONE, "counts" },
    { ASTRO_AXIS_CHANNEL, "frequency" }, { ASTRO_AXIS_CHANNEL, "bandwidth" },
    { ASTRO_AXIS_POL, "products" },      { ASTRO_AXIS_POL, "psf" },
  };
  if (g_str_equal(field, astro_axis_field(axis)))
    return TRUE;
  for (guint i = 0; i < G_N_ELEMENTS(fields); i++)
    if ((fields[i].axis == ASTRO_AXIS_NONE || fields[i].axis == axis) &&
        g_str_equal(field, fields[i].field))
      return TRUE;
  return FALSE;
}

static gboolean check_fields(const AstroMergeInput *inputs, guint n, AstroAxis axis, GError **error)
{
  /* Where these differ others differ too, and would be named for it. */
  static const char *const first[] = { "format", "layout" };
  for (guint i = 0; i < G_N_ELEMENTS(first); i++)
    if (!astro_merge_check_caps(inputs, n, first[i], error))
      return FALSE;
  for (guint i = 0; i < n; i++) {
    const GstStructure *s = gst_caps_get_structure(inputs[i].caps, 0);
    for (gint k = 0; k < gst_structure_n_fields(s); k++) {
      const char *field = gst_structure_nth_field_name(s, (guint)k);
      if (!may_differ(axis, field) && !astro_merge_check_caps(inputs, n, field, error))
        return FALSE;
    }
  }
  return TRUE;
}

static gboolean check_whole_grids(const AstroMergeInput *input, GError **error)
{
  const GstStructure *s = gst_caps_get_structure(input->caps, 0);
  return !astro_field_is_true(s, "touched-only") ||
         astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                             "pad %s: caps field \"touched-only\" is true, which leaves tiles "
                             "undefined: expected false, or astrogridder upstream",
                             input->pad);
}

gboolean astro_join_check_inputs(const AstroMergeInput *inputs, guint n, AstroAxis axis,
                                 GError **error)
{
  for (guint i = 0; i < n; i++)
    if (!check_axis(&inputs[i], axis, error))
      return FALSE;
  return check_fields(inputs, n, axis, error) && check_whole_grids(&inputs[0], error);
}

/* ---- bands ---- */

static gboolean join_bands(const AstroMergeInput *inputs, guint n, GstCaps *caps, GError **error)
{
  g_autofree AstroJoinBand *bands = g_new(AstroJoinBand, n);
  double frequency, bandwidth;
  guint known = 0;
  for (guint i = 0; i < n; i++) {
    const AstroStream *s = inputs[i].stream;
    bands[i] = (AstroJoinBand){ inputs[i].pad, s->frequency, s->bandwidth,
                                astro_stream_extent(s, ASTRO_AXIS_CHANNEL) };
    known += s->bandwidth > 0;
  }
  for (guint i = 0; known && i < n; i++)
    if (!(bands[i].bandwidth > 0))
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "pad %s: caps field \"bandwidth\" is missing or 0, while other pads "
          "have one: expected all to have a bandwidth, or none",
          bands[i].name);
  if (!known)
    return TRUE;
  if (!astro_join_bands(bands, n, &frequency, &bandwidth, error)) {
    g_prefix_error(error, "pad ");
    return FALSE;
  }
  gst_caps_set_simple(caps, "frequency", G_TYPE_DOUBLE, frequency, "bandwidth", G_TYPE_DOUBLE,
                      bandwidth, NULL);
  return TRUE;
}

/* ---- products ---- */

static gboolean is_map(const AstroMergeInput *input)
{
  return input->stream->quantity == ASTRO_QUANTITY_UVGRID ||
         input->stream->quantity == ASTRO_QUANTITY_IMAGE;
}

static const char *products_text(const AstroMergeInput *input)
{
  return gst_structure_get_string(gst_caps_get_structure(input->caps, 0), "products");
}

/* Grids and images without the field have the products that are usual for their number. */
static char **read_products(const AstroMergeInput *input, GError **error)
{
  const char *text = products_text(input);
  const guint64 extent = astro_stream_extent(input->stream, ASTRO_AXIS_POL);
  char **names = NULL;
  AstroGrid grid;
  if (is_map(input)) {
    if (astro_grid_from_image_caps(&grid, input->caps, error))
      names = g_strdupv(grid.products);
    else
      g_prefix_error(error, "pad %s: ", input->pad);
    astro_grid_clear(&grid);
    return names;
  }
  names = text ? g_strsplit(text, ":", -1) : NULL;
  if (names && g_strv_length(names) == extent)
    return names;
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "pad %s: caps field \"products\" is %s, expected %" G_GUINT64_FORMAT
                      " names joined by ':'",
                      input->pad, text ? text : "missing", extent);
  g_strfreev(names);
  return NULL;
}

/* Adds the products of an input behind those that are known, to its pad in `known`. */
static gboolean add_products(const AstroMergeInput *input, gboolean is_last, GHashTable *known,
                             GString *all, GError **error)
{
  g_auto(GStrv) names = read_products(input, error);
  for (guint i = 0; names && names[i]; i++) {
    const char *pad = g_hash_table_lookup(known, names[i]);
    if (pad)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad %s: product %s is also on pad %s, expected each product once",
                                 input->pad, names[i], pad);
    if (!is_last && g_str_equal(names[i], ASTRO_PRODUCT_PSF))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "pad %s: product " ASTRO_PRODUCT_PSF
                                 " would stand before those of the next pads, expected it on the "
                                 "last pad",
                                 input->pad);
    g_string_append_printf(all, "%s%s", all->len ? ":" : "", names[i]);
    g_hash_table_insert(known, g_strdup(names[i]), (gpointer)input->pad);
  }
  return names != NULL;
}

static gboolean join_products(const AstroMergeInput *inputs, guint n, GstCaps *caps, GError **error)
{
  g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
  g_autoptr(GString) all = g_string_new(NULL);
  gboolean any = FALSE, tells_psf = FALSE;
  for (guint i = 0; i < n; i++) {
    any |= is_map(&inputs[i]) || products_text(&inputs[i]);
    tells_psf |= gst_structure_has_field(gst_caps_get_structure(inputs[i].caps, 0), "psf");
  }
  for (guint i = 0; any && i < n; i++)
    if (!add_products(&inputs[i], i + 1 == n, known, all, error))
      return FALSE;
  if (any)
    gst_caps_set_simple(caps, "products", G_TYPE_STRING, all->str, NULL);
  if (tells_psf)
    gst_caps_set_simple(caps, "psf", G_TYPE_BOOLEAN,
                        g_hash_table_contains(known, ASTRO_PRODUCT_PSF), NULL);
  return TRUE;
}

gboolean astro_join_caps(const AstroMergeInput *inputs, guint n, AstroAxis axis, GstCaps *caps,
                         GError **error)
{
  switch (axis) {
  case ASTRO_AXIS_CHANNEL:
    return join_bands(inputs, n, caps, error);
  case ASTRO_AXIS_POL:
    return join_products(inputs, n, caps, error);
  default:
    return TRUE;
  }
}
