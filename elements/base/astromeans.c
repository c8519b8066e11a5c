/* Which formats of visibilities give which, where sums become means. */
#include "config.h"
#include "elements/base/astromeans.h"

/* Sums become means. Means come from means of the same format, or from sums. */
static void map_formats(GstStructure *s, GstPadDirection direction)
{
  const GValue *value = gst_structure_get_value(s, "format");
  GValue list = G_VALUE_INIT;
  g_value_init(&list, GST_TYPE_LIST);
  const gboolean is_input = direction == GST_PAD_SINK;
  const gboolean single = !value || astro_format_is_named(value, ASTRO_FORMAT_CF32LE);
  if (single || (is_input && astro_format_is_named(value, ASTRO_FORMAT_CI32LE)))
    astro_format_append(&list, ASTRO_FORMAT_CF32LE);
  if (!value || astro_format_is_named(value, ASTRO_FORMAT_CF64LE))
    astro_format_append(&list, ASTRO_FORMAT_CF64LE);
  if (!is_input && single)
    astro_format_append(&list, ASTRO_FORMAT_CI32LE);
  /* Any other format is kept, so that the backend can say what it expects. */
  if (gst_value_list_get_size(&list) == 0)
    g_value_unset(&list);
  else
    gst_structure_take_value(s, "format", &list);
}

GstCaps *astro_means_transform_caps(GstBaseTransform *trans, GstPadDirection direction,
                                    GstCaps *caps, GstCaps *filter)
{
  GstCaps *result = gst_caps_copy(caps);
  for (guint i = 0; i < gst_caps_get_size(result); i++)
    map_formats(gst_caps_get_structure(result, i), direction);
  return astro_stage_filter_caps(result, filter);
}
