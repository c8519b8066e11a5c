/* Caps on one side for those on the other. */
#include "config.h"
#include "elements/astrofft-parts.h"

/* Maps the field layout, a string or a list. A single layout that cannot be mapped stays as it is:
 * astro_fft_configure says what is wrong with it. */
static void map_layouts(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                        AstroQuantity from, gboolean to_src)
{
  const GValue *value = gst_structure_get_value(s, "layout");
  GValue list = G_VALUE_INIT;
  guint n = value && GST_VALUE_HOLDS_LIST(value) ? gst_value_list_get_size(value) : 1;

  if (!value)
    return;
  g_value_init(&list, GST_TYPE_LIST);
  for (guint i = 0; i < n; i++) {
    const GValue *one = GST_VALUE_HOLDS_LIST(value) ? gst_value_list_get_value(value, i) : value;
    const char *text = G_VALUE_HOLDS_STRING(one) ? g_value_get_string(one) : NULL;
    AstroLayout layout;
    if (!text || !astro_layout_parse(&layout, text, from, NULL))
      continue;
    if (!astro_fft_map_layout(settings, in, to_src, &layout) && n > 1)
      continue;
    g_autofree char *name = astro_layout_to_string(&layout);
    astro_name_append(&list, name);
  }
  if (gst_value_list_get_size(&list) == 1)
    gst_structure_set_value(s, "layout", gst_value_list_get_value(&list, 0));
  else
    gst_structure_set_value(s, "layout", &list);
  g_value_unset(&list);
}

static const struct {
  AstroFormat in, out;
  gboolean forward, inverse;
} pairs[] = {
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_CF32LE, TRUE, TRUE },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_CF64LE, TRUE, TRUE },
  { ASTRO_FORMAT_F32LE, ASTRO_FORMAT_CF32LE, TRUE, FALSE },
  { ASTRO_FORMAT_F64LE, ASTRO_FORMAT_CF64LE, TRUE, FALSE },
  { ASTRO_FORMAT_CF32LE, ASTRO_FORMAT_F32LE, FALSE, TRUE },
  { ASTRO_FORMAT_CF64LE, ASTRO_FORMAT_F64LE, FALSE, TRUE },
};

gboolean astro_fft_is_possible(const AstroFftSettings *settings, AstroFormat in, AstroFormat out)
{
  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++)
    if (pairs[i].in == in && pairs[i].out == out)
      return settings->inverse ? pairs[i].inverse : pairs[i].forward;
  return FALSE;
}

gboolean astro_fft_is_real(AstroFormat format)
{
  return !astro_format_info(format)->is_complex;
}

/* Only a forward, centred transform of u and v gives a sky. Caps of any other say what it was, so
 * that no element takes it for a sky. */
static void tell_unusual(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in)
{
  const char *text = gst_structure_get_string(s, "layout");
  AstroLayout layout;

  if (!text || !astro_layout_parse(&layout, text, in, NULL))
    return;
  for (guint i = 0; i < layout.n_axes; i++) {
    const AstroAxis axis = layout.axes[i], from = astro_fft_other_name(axis);
    if (from == axis || !astro_fft_is_transformed(settings, in, from))
      continue;
    const gboolean sky = axis == ASTRO_AXIS_X || axis == ASTRO_AXIS_Y;
    if (!sky)
      gst_structure_remove_fields(s, "direction", "centred", NULL);
    if (sky && settings->inverse)
      gst_structure_set(s, "direction", G_TYPE_STRING, "inverse", NULL);
    if (sky && settings->centred == ASTRO_CENTRED_FALSE)
      gst_structure_set(s, "centred", G_TYPE_BOOLEAN, FALSE, NULL);
  }
}

static void map_to_format(const AstroFftSettings *settings, const GstStructure *given,
                          AstroQuantity in, gboolean to_src, AstroFormat here, AstroFormat there,
                          GstCaps *result)
{
  const AstroQuantity other = to_src ? astro_fft_quantity_out(settings, in) : in;
  GstStructure *s = gst_structure_copy(given);

  gst_structure_set_name(s, astro_quantity_media_type(other));
  gst_structure_set(s, "format", G_TYPE_STRING, astro_format_info(there)->name, NULL);
  if (to_src)
    astro_fft_set_lengths(settings, s, in, astro_fft_is_real(here), astro_fft_is_real(there));
  else
    astro_fft_forget_lengths(settings, s, in, astro_fft_is_real(here) || astro_fft_is_real(there));
  map_layouts(settings, s, in, astro_quantity_from_media_type(gst_structure_get_name(given)),
              to_src);
  if (!to_src)
    gst_structure_remove_fields(s, "direction", "centred", NULL);
  else if (in == ASTRO_QUANTITY_UVGRID)
    tell_unusual(settings, s, in);
  /* Touched tiles of one side say nothing about the other. */
  gst_structure_remove_field(s, "touched-only");
  gst_caps_append_structure(result, s);
}

void astro_fft_map_structure(const AstroFftSettings *settings, const GstStructure *given,
                             AstroQuantity in, gboolean to_src, GstCaps *result)
{
  const GValue *format = gst_structure_get_value(given, "format");
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
    AstroFormat here = to_src ? pairs[i].in : pairs[i].out;
    AstroFormat there = to_src ? pairs[i].out : pairs[i].in;
    if (!(settings->inverse ? pairs[i].inverse : pairs[i].forward) ||
        !astro_format_is_named(format, here))
      continue;
    map_to_format(settings, given, in, to_src, here, there, result);
    any = TRUE;
  }
  /* Refused once the caps come, where an error can say why. */
  if (!any && to_src)
    map_to_format(settings, given, in, to_src, pairs[0].in, pairs[0].out, result);
}

GstCaps *astro_fft_map_caps(const AstroFftSettings *settings, gboolean rows, GstCaps *caps,
                            gboolean to_src)
{
  GstCaps *result = gst_caps_new_empty(), *others = gst_caps_new_empty();

  for (guint i = 0; i < gst_caps_get_size(caps); i++) {
    const GstStructure *s = gst_caps_get_structure(caps, i);
    AstroQuantity from = astro_quantity_from_media_type(gst_structure_get_name(s));
    if (from == ASTRO_QUANTITY_UNKNOWN)
      continue;
    if (to_src)
      astro_fft_map_structure(settings, s, from, TRUE, result);
    /* All media types that could give this one. */
    for (AstroQuantity in = ASTRO_QUANTITY_UNKNOWN + 1; !to_src && in < ASTRO_N_QUANTITIES; in++)
      if (astro_fft_quantity_out(settings, in) == from) {
        astro_fft_append_inputs(settings, s, in, rows, result);
        gst_caps_append(others, gst_caps_new_empty_simple(astro_quantity_media_type(in)));
      }
  }
  if (to_src)
    astro_fft_deny_touched_only(result);
  for (guint i = 0; to_src && rows && i < gst_caps_get_size(caps); i++)
    astro_fft_offer_rows(settings, gst_caps_get_structure(caps, i), result);
  /* Anything else comes last, and is refused where an error can say why. */
  gst_caps_append(result, others);
  return result;
}
