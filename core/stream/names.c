/* Names of formats, quantities and axes, and the layouts that they make. */
#include "config.h"
#include "core/stream/names.h"

#include <string.h>

static const AstroFormatInfo formats[ASTRO_N_FORMATS] = {
  [ASTRO_FORMAT_CI4] = { "CI4", 1, TRUE, FALSE },
  [ASTRO_FORMAT_CI8] = { "CI8", 2, TRUE, FALSE },
  [ASTRO_FORMAT_CI16LE] = { "CI16LE", 4, TRUE, FALSE },
  [ASTRO_FORMAT_CF16LE] = { "CF16LE", 4, TRUE, TRUE },
  [ASTRO_FORMAT_CF32LE] = { "CF32LE", 8, TRUE, TRUE },
  [ASTRO_FORMAT_CF64LE] = { "CF64LE", 16, TRUE, TRUE },
  [ASTRO_FORMAT_CI32LE] = { "CI32LE", 8, TRUE, FALSE },
  [ASTRO_FORMAT_F32LE] = { "F32LE", 4, FALSE, TRUE },
  [ASTRO_FORMAT_F64LE] = { "F64LE", 8, FALSE, TRUE },
  [ASTRO_FORMAT_U64LE] = { "U64LE", 8, FALSE, FALSE },
  [ASTRO_FORMAT_I8] = { "I8", 1, FALSE, FALSE },
  [ASTRO_FORMAT_I16LE] = { "I16LE", 2, FALSE, FALSE },
};

static const struct {
  const char *name, *field;
  AstroAxisLength length;
  AstroQuantity twice_in; /* the only quantity whose layouts may name it twice */
} axes[ASTRO_N_AXES] = {
  [ASTRO_AXIS_TIME] = { "time", NULL, ASTRO_LENGTH_FREE },
  [ASTRO_AXIS_STATION] = { "station", "stations", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_POL] = { "pol", "pols", ASTRO_LENGTH_INT, ASTRO_QUANTITY_VISIBILITIES },
  [ASTRO_AXIS_CHANNEL] = { "channel", "channels", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_BASELINE] = { "baseline", "baselines", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_V] = { "v", "height", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_U] = { "u", "width", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_Y] = { "y", "height", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_X] = { "x", "width", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_PLANE] = { "plane", "planes", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_COLUMN] = { "column", "columns", ASTRO_LENGTH_NAMES },
  [ASTRO_AXIS_POINT] = { "point", NULL, ASTRO_LENGTH_FREE },
  [ASTRO_AXIS_PAIRS] = { "pairs", "pairs", ASTRO_LENGTH_NAMES },
  [ASTRO_AXIS_REGION] = { "region", "regions", ASTRO_LENGTH_INT, ASTRO_QUANTITY_HISTOGRAM },
  [ASTRO_AXIS_BIN] = { "bin", "bins", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_BEAM] = { "beam", "beams", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_PHASE] = { "phase", "bins", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_DM] = { "dm", "dms", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_MU] = { "mu", "mu-bins", ASTRO_LENGTH_INT },
  [ASTRO_AXIS_PI] = { "pi", "pi-bins", ASTRO_LENGTH_INT },
};

static const char *const quantities[ASTRO_N_QUANTITIES] = {
  [ASTRO_QUANTITY_VOLTAGES] = ASTRO_MEDIA_PREFIX "voltages",
  [ASTRO_QUANTITY_SPECTRA] = ASTRO_MEDIA_PREFIX "spectra",
  [ASTRO_QUANTITY_VISIBILITIES] = ASTRO_MEDIA_PREFIX "visibilities",
  [ASTRO_QUANTITY_UVGRID] = ASTRO_MEDIA_PREFIX "uvgrid",
  [ASTRO_QUANTITY_IMAGE] = ASTRO_MEDIA_PREFIX "image",
  [ASTRO_QUANTITY_CATALOGUE] = ASTRO_MEDIA_PREFIX "catalogue",
  [ASTRO_QUANTITY_HISTOGRAM] = ASTRO_MEDIA_PREFIX "histogram",
  [ASTRO_QUANTITY_CORRELATION_FUNCTION] = ASTRO_MEDIA_PREFIX "correlation-function",
  [ASTRO_QUANTITY_POWER] = ASTRO_MEDIA_PREFIX "power",
  [ASTRO_QUANTITY_PROFILE] = ASTRO_MEDIA_PREFIX "profile",
  [ASTRO_QUANTITY_GAINS] = ASTRO_MEDIA_PREFIX "gains",
};

const AstroFormatInfo *astro_format_row(AstroFormat format)
{
  return &formats[format];
}

const AstroFormatInfo *astro_format_info(AstroFormat format)
{
  g_return_val_if_fail(format > ASTRO_FORMAT_UNKNOWN && format < ASTRO_N_FORMATS, NULL);
  return &formats[format];
}

const char *astro_format_name(AstroFormat format)
{
  return format > ASTRO_FORMAT_UNKNOWN && format < ASTRO_N_FORMATS ? formats[format].name
                                                                   : "unknown";
}

gboolean astro_format_is_double(AstroFormat format)
{
  return format == ASTRO_FORMAT_CF64LE || format == ASTRO_FORMAT_F64LE;
}

AstroFormat astro_format_from_name(const char *name)
{
  for (AstroFormat f = ASTRO_FORMAT_UNKNOWN + 1; name && f < ASTRO_N_FORMATS; f++)
    if (strcmp(formats[f].name, name) == 0)
      return f;
  return ASTRO_FORMAT_UNKNOWN;
}

gboolean astro_name_is_in(const GValue *value, const char *name)
{
  if (!value)
    return TRUE;
  if (G_VALUE_HOLDS_STRING(value))
    return g_strcmp0(g_value_get_string(value), name) == 0;
  for (guint i = 0; GST_VALUE_HOLDS_LIST(value) && i < gst_value_list_get_size(value); i++)
    if (astro_name_is_in(gst_value_list_get_value(value, i), name))
      return TRUE;
  return FALSE;
}

void astro_name_append(GValue *list, const char *name)
{
  GValue value = G_VALUE_INIT;
  g_value_init(&value, G_TYPE_STRING);
  g_value_set_string(&value, name);
  gst_value_list_append_and_take_value(list, &value);
}

gboolean astro_format_is_named(const GValue *value, AstroFormat format)
{
  return astro_name_is_in(value, formats[format].name);
}

void astro_format_append(GValue *list, AstroFormat format)
{
  astro_name_append(list, formats[format].name);
}

const char *astro_quantity_media_type(AstroQuantity quantity)
{
  g_return_val_if_fail(quantity > ASTRO_QUANTITY_UNKNOWN && quantity < ASTRO_N_QUANTITIES, NULL);
  return quantities[quantity];
}

const char *astro_quantity_name(AstroQuantity quantity)
{
  return astro_quantity_media_type(quantity) + strlen(ASTRO_MEDIA_PREFIX);
}

AstroQuantity astro_quantity_from_media_type(const char *media_type)
{
  for (AstroQuantity q = ASTRO_QUANTITY_UNKNOWN + 1; media_type && q < ASTRO_N_QUANTITIES; q++)
    if (strcmp(quantities[q], media_type) == 0)
      return q;
  return ASTRO_QUANTITY_UNKNOWN;
}

const char *astro_axis_name(AstroAxis axis)
{
  g_return_val_if_fail(axis > ASTRO_AXIS_NONE && axis < ASTRO_N_AXES, NULL);
  return axes[axis].name;
}

AstroAxis astro_axis_from_name(const char *name)
{
  for (AstroAxis a = ASTRO_AXIS_NONE + 1; name && a < ASTRO_N_AXES; a++)
    if (strcmp(axes[a].name, name) == 0)
      return a;
  return ASTRO_AXIS_NONE;
}

AstroAxisLength astro_axis_length(AstroAxis axis)
{
  return axes[axis].length;
}

const char *astro_axis_field(AstroAxis axis)
{
  g_return_val_if_fail(axis > ASTRO_AXIS_NONE && axis < ASTRO_N_AXES, NULL);
  return axes[axis].field;
}

static guint count_axis(const AstroLayout *layout, AstroAxis axis)
{
  guint n = 0;
  for (guint i = 0; i < layout->n_axes; i++)
    n += layout->axes[i] == axis;
  return n;
}

gboolean astro_layout_parse(AstroLayout *layout, const char *text, AstroQuantity quantity,
                            GError **error)
{
  g_auto(GStrv) names = g_strsplit(text, ":", -1);
  guint n_free = 0;

  memset(layout, 0, sizeof *layout);
  for (guint i = 0; names[i]; i++) {
    AstroAxis axis = astro_axis_from_name(names[i]);
    if (axis == ASTRO_AXIS_NONE)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "layout \"%s\": there is no axis \"%s\"", text, names[i]);
    if (layout->n_axes == ASTRO_MAX_AXES)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS, "layout \"%s\": more than %d axes",
                                 text, ASTRO_MAX_AXES);
    gboolean twice = quantity != ASTRO_QUANTITY_UNKNOWN && axes[axis].twice_in == quantity;
    if (count_axis(layout, axis) >= (twice ? 2u : 1u))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "layout \"%s\": axis \"%s\" is repeated", text, names[i]);
    n_free += axes[axis].length == ASTRO_LENGTH_FREE;
    layout->axes[layout->n_axes++] = axis;
  }
  if (layout->n_axes == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "layout is empty, expected axis names joined by ':'");
  if (n_free > 1)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "layout \"%s\": only one of its axes may have a free length", text);
  return TRUE;
}

char *astro_layout_to_string(const AstroLayout *layout)
{
  GString *text = g_string_new(NULL);
  for (guint i = 0; i < layout->n_axes; i++)
    g_string_append_printf(text, "%s%s", i ? ":" : "", axes[layout->axes[i]].name);
  return g_string_free(text, FALSE);
}

gboolean astro_layout_is_equal(const AstroLayout *a, const AstroLayout *b)
{
  return a->n_axes == b->n_axes && memcmp(a->axes, b->axes, a->n_axes * sizeof *a->axes) == 0 &&
         memcmp(a->extents, b->extents, a->n_axes * sizeof *a->extents) == 0;
}

gint astro_layout_find(const AstroLayout *layout, AstroAxis axis)
{
  for (guint i = 0; i < layout->n_axes; i++)
    if (layout->axes[i] == axis)
      return (gint)i;
  return -1;
}

guint64 astro_layout_samples(const AstroLayout *shape)
{
  guint64 samples = 1;
  for (guint i = 0; i < shape->n_axes; i++)
    samples *= shape->extents[i];
  return samples;
}

void astro_layout_strides(const AstroLayout *shape, guint64 strides[ASTRO_MAX_AXES])
{
  guint64 stride = 1;
  for (guint i = shape->n_axes; i-- > 0;) {
    strides[i] = stride;
    stride *= shape->extents[i];
  }
}

guint64 astro_layout_stride_of(const AstroLayout *shape, const guint64 strides[ASTRO_MAX_AXES],
                               AstroAxis axis)
{
  gint at = astro_layout_find(shape, axis);
  return at < 0 ? 0 : strides[at];
}
