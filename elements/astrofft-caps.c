#include "config.h"
#include "elements/astrofft-caps.h"

#include <string.h>

/* Both ways. */
static const AstroAxis renamed[][2] = { { ASTRO_AXIS_U, ASTRO_AXIS_X },
                                        { ASTRO_AXIS_V, ASTRO_AXIS_Y },
                                        { ASTRO_AXIS_X, ASTRO_AXIS_U },
                                        { ASTRO_AXIS_Y, ASTRO_AXIS_V } };

static AstroAxis other_name(AstroAxis axis)
{
  for (guint i = 0; i < G_N_ELEMENTS(renamed); i++)
    if (renamed[i][0] == axis)
      return renamed[i][1];
  return axis;
}

gboolean astro_fft_parse_axes(AstroFftSettings *settings, const char *text, GError **error)
{
  settings->n_axes = 0;
  if (!text || !*text)
    return TRUE;
  g_auto(GStrv) names = g_strsplit_set(text, ",:", -1);
  for (guint i = 0; names[i]; i++) {
    AstroAxis axis = astro_axis_from_name(g_strstrip(names[i]));
    if (axis == ASTRO_AXIS_NONE || settings->n_axes == ASTRO_MAX_AXES)
      return astro_stream_refuse(
          error, ASTRO_STREAM_ERROR_CAPS,
          "property axes is \"%s\": \"%s\" is no axis, or one too many; expected names "
          "joined by ',', for instance u,v or time",
          text, names[i]);
    for (guint k = 0; k < settings->n_axes; k++)
      if (settings->axes[k] == axis)
        return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                   "property axes is \"%s\": %s is there twice", text, names[i]);
    settings->axes[settings->n_axes++] = axis;
  }
  return TRUE;
}

/* Whether an axis of the input is transformed. */
static gboolean is_transformed(const AstroFftSettings *settings, AstroQuantity in, AstroAxis axis)
{
  for (guint i = 0; i < settings->n_axes; i++)
    if (settings->axes[i] == axis)
      return TRUE;
  if (settings->n_axes)
    return FALSE;
  switch (in) {
  case ASTRO_QUANTITY_VOLTAGES:
    return axis == ASTRO_AXIS_TIME;
  case ASTRO_QUANTITY_UVGRID:
  case ASTRO_QUANTITY_IMAGE:
    return other_name(axis) != axis;
  case ASTRO_QUANTITY_SPECTRA:
    return axis == ASTRO_AXIS_CHANNEL;
  default:
    return FALSE;
  }
}

static gboolean splits_time(const AstroFftSettings *settings, AstroQuantity in)
{
  return in == ASTRO_QUANTITY_VOLTAGES && is_transformed(settings, in, ASTRO_AXIS_TIME);
}

static gboolean joins_time(const AstroFftSettings *settings, AstroQuantity in)
{
  return in == ASTRO_QUANTITY_SPECTRA && is_transformed(settings, in, ASTRO_AXIS_CHANNEL);
}

static AstroQuantity quantity_out(const AstroFftSettings *settings, AstroQuantity in)
{
  if (splits_time(settings, in))
    return ASTRO_QUANTITY_SPECTRA;
  return joins_time(settings, in) ? ASTRO_QUANTITY_VOLTAGES : in;
}

static void insert_axis(AstroLayout *layout, guint at, AstroAxis axis)
{
  memmove(layout->axes + at + 1, layout->axes + at, (layout->n_axes - at) * sizeof *layout->axes);
  layout->axes[at] = axis;
  layout->n_axes++;
}

static void remove_axis(AstroLayout *layout, guint at)
{
  layout->n_axes--;
  memmove(layout->axes + at, layout->axes + at + 1, (layout->n_axes - at) * sizeof *layout->axes);
}

/* time becomes time:channel, and back; FALSE where the layout is none of those. */
static gboolean split(AstroLayout *layout)
{
  gint time = astro_layout_find(layout, ASTRO_AXIS_TIME);
  if (time < 0 || layout->n_axes == ASTRO_MAX_AXES ||
      astro_layout_find(layout, ASTRO_AXIS_CHANNEL) >= 0)
    return FALSE;
  insert_axis(layout, (guint)time + 1, ASTRO_AXIS_CHANNEL);
  return TRUE;
}

static gboolean join(AstroLayout *layout)
{
  gint time = astro_layout_find(layout, ASTRO_AXIS_TIME);
  if (time < 0 || astro_layout_find(layout, ASTRO_AXIS_CHANNEL) != time + 1)
    return FALSE;
  remove_axis(layout, (guint)time + 1);
  return TRUE;
}

static gboolean map_layout(const AstroFftSettings *settings, AstroQuantity in, gboolean to_src,
                           AstroLayout *layout)
{
  for (guint i = 0; i < layout->n_axes; i++) {
    AstroAxis other = other_name(layout->axes[i]);
    if (is_transformed(settings, in, to_src ? layout->axes[i] : other))
      layout->axes[i] = other;
  }
  if (splits_time(settings, in))
    return to_src ? split(layout) : join(layout);
  if (joins_time(settings, in))
    return to_src ? join(layout) : split(layout);
  return TRUE;
}

/* Of the field layout, one or a list. What cannot be mapped stays as it is where it is alone:
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
    GValue name = G_VALUE_INIT;
    if (!text || !astro_layout_parse(&layout, text, from, NULL))
      continue;
    if (!map_layout(settings, in, to_src, &layout) && n > 1)
      continue;
    g_value_init(&name, G_TYPE_STRING);
    g_value_take_string(&name, astro_layout_to_string(&layout));
    gst_value_list_append_and_take_value(&list, &name);
  }
  if (gst_value_list_get_size(&list) == 1)
    gst_structure_set_value(s, "layout", gst_value_list_get_value(&list, 0));
  else
    gst_structure_set_value(s, "layout", &list);
  g_value_unset(&list);
}

/* ---- lengths and bands ---- */

static guint64 bins_of(guint64 n, gboolean real)
{
  return real ? n / 2 + 1 : n;
}

/* The real samples that so many bins are of: even unless length says otherwise. */
static guint64 samples_of(const AstroFftSettings *settings, guint64 bins, gboolean real)
{
  if (!real)
    return bins;
  return settings->length / 2 + 1 == bins ? settings->length : MAX(2 * (bins - 1), 1);
}

/* The rate times a fraction. */
static void scale_rate(GstStructure *s, gint n, gint d)
{
  gint rate_n, rate_d, out_n, out_d;
  if (!gst_structure_get_fraction(s, "rate", &rate_n, &rate_d))
    return;
  if (rate_n > 0 && gst_util_fraction_multiply(rate_n, rate_d, n, d, &out_n, &out_d))
    gst_structure_set(s, "rate", GST_TYPE_FRACTION, out_n, out_d, NULL);
  else
    gst_structure_remove_field(s, "rate");
}

/* The band's lower edge and width: of complex samples as wide as their rate, of real ones half as
 * wide. */
static gboolean get_band(const GstStructure *s, double *low, double *width)
{
  double frequency;
  if (!gst_structure_get_double(s, "frequency", &frequency) ||
      !gst_structure_get_double(s, "bandwidth", width))
    return FALSE;
  *low = frequency - *width / 2;
  return TRUE;
}

static void set_band(GstStructure *s, double low, double width)
{
  gst_structure_set(s, "frequency", G_TYPE_DOUBLE, low + width / 2, "bandwidth", G_TYPE_DOUBLE,
                    width, NULL);
}

/* Channels ascend, the band's centre in channel length / 2, or its lower edge in channel 0 where
 * the samples are real. Channels in another order have no frequency that caps could tell. */
static void band_of_channels(const AstroFftSettings *settings, GstStructure *s, gboolean real)
{
  double n = (double)settings->length, low, width;

  if (!real && settings->centred == ASTRO_CENTRED_FALSE) {
    gst_structure_remove_fields(s, "frequency", "bandwidth", NULL);
  } else if (get_band(s, &low, &width)) {
    double channel = real ? width * 2 / n : width / n;
    if (real)
      set_band(s, low - channel / 2, channel * (double)bins_of(settings->length, TRUE));
    else if (settings->length % 2 == 0)
      set_band(s, low - channel / 2, width);
  }
}

static void band_of_samples(const AstroFftSettings *settings, GstStructure *s, guint64 bins,
                            guint64 samples, gboolean real)
{
  double low, width;

  if (!real && settings->centred == ASTRO_CENTRED_FALSE) {
    gst_structure_remove_fields(s, "frequency", "bandwidth", NULL);
  } else if (get_band(s, &low, &width)) {
    double channel = width / (double)bins;
    if (real)
      set_band(s, low + channel / 2, channel * (double)samples / 2);
    else if (samples % 2 == 0)
      set_band(s, low + channel / 2, width);
  }
}

/* What becomes of lengths, rates and bands from the input on. */
static void set_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                        gboolean real_in, gboolean real_out)
{
  const char *text = gst_structure_get_string(s, "layout");
  AstroLayout layout;
  gboolean has_layout = text && astro_layout_parse(&layout, text, in, NULL);
  gint channels, extent;

  if (splits_time(settings, in)) {
    gst_structure_set(s, "channels", G_TYPE_INT, (gint)bins_of(settings->length, real_in), NULL);
    band_of_channels(settings, s, real_in);
    scale_rate(s, 1, (gint)settings->length);
  } else if (joins_time(settings, in)) {
    if (gst_structure_get_int(s, "channels", &channels) && channels > 0) {
      guint64 samples = samples_of(settings, (guint64)channels, real_out);
      band_of_samples(settings, s, (guint64)channels, samples, real_out);
      scale_rate(s, (gint)samples, 1);
    } else {
      gst_structure_remove_fields(s, "rate", "frequency", "bandwidth", NULL);
    }
    /* A layout that cannot be joined keeps what belongs to it, for the error that it becomes. */
    if (!has_layout || join(&layout))
      gst_structure_remove_field(s, "channels");
  } else if (has_layout && (real_in || real_out)) {
    for (guint i = layout.n_axes; i-- > 0;)
      if (is_transformed(settings, in, layout.axes[i]) && astro_axis_field(layout.axes[i])) {
        const char *field = astro_axis_field(layout.axes[i]);
        if (gst_structure_get_int(s, field, &extent) && extent > 0)
          gst_structure_set(s, field, G_TYPE_INT,
                            real_in ? (gint)bins_of((guint64)extent, TRUE)
                                    : (gint)samples_of(settings, (guint64)extent, TRUE),
                            NULL);
        return;
      }
  }
}

/* What the input's lengths were is not asked of the output's: the input tells them. */
static void forget_lengths(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in,
                           gboolean real)
{
  if (splits_time(settings, in) || joins_time(settings, in))
    gst_structure_remove_fields(s, "rate", "frequency", "bandwidth", "channels", NULL);
  for (AstroAxis axis = ASTRO_AXIS_NONE + 1; real && axis < ASTRO_N_AXES; axis++)
    if (is_transformed(settings, in, axis) && astro_axis_field(axis))
      gst_structure_remove_field(s, astro_axis_field(axis));
}

/* ---- caps ---- */

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

static gboolean is_real(AstroFormat format)
{
  return !astro_format_info(format)->is_complex;
}

/* A sky is what a forward, centred transform makes of u and v. Of any other the caps say what it
 * was, so that no element takes it for a sky. */
static void tell_unusual(const AstroFftSettings *settings, GstStructure *s, AstroQuantity in)
{
  const char *text = gst_structure_get_string(s, "layout");
  AstroLayout layout;

  if (!text || !astro_layout_parse(&layout, text, in, NULL))
    return;
  for (guint i = 0; i < layout.n_axes; i++) {
    const AstroAxis axis = layout.axes[i], from = other_name(axis);
    if (from == axis || !is_transformed(settings, in, from))
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
                          AstroQuantity in, AstroQuantity other, gboolean to_src, AstroFormat here,
                          AstroFormat there, GstCaps *result)
{
  GstStructure *s = gst_structure_copy(given);

  gst_structure_set_name(s, astro_quantity_media_type(other));
  gst_structure_set(s, "format", G_TYPE_STRING, astro_format_info(there)->name, NULL);
  if (to_src)
    set_lengths(settings, s, in, is_real(here), is_real(there));
  else
    forget_lengths(settings, s, in, is_real(here) || is_real(there));
  map_layouts(settings, s, in, astro_quantity_from_media_type(gst_structure_get_name(given)),
              to_src);
  if (!to_src)
    gst_structure_remove_fields(s, "direction", "centred", NULL);
  else if (in == ASTRO_QUANTITY_UVGRID)
    tell_unusual(settings, s, in);
  /* What need not be made of the output has to be there in the input, and the other way round. */
  gst_structure_remove_fields(s, "image-only", "touched-only", NULL);
  gst_caps_append_structure(result, s);
}

static void map_structure(const AstroFftSettings *settings, const GstStructure *given,
                          AstroQuantity in, AstroQuantity other, gboolean to_src, GstCaps *result)
{
  const GValue *format = gst_structure_get_value(given, "format");
  gboolean any = FALSE;

  for (guint i = 0; i < G_N_ELEMENTS(pairs); i++) {
    AstroFormat here = to_src ? pairs[i].in : pairs[i].out;
    AstroFormat there = to_src ? pairs[i].out : pairs[i].in;
    if (!(settings->inverse ? pairs[i].inverse : pairs[i].forward) ||
        !astro_format_is_named(format, here))
      continue;
    map_to_format(settings, given, in, other, to_src, here, there, result);
    any = TRUE;
  }
  /* Refused when it comes, where an error can say why. */
  if (!any && to_src)
    map_to_format(settings, given, in, other, to_src, pairs[0].in, pairs[0].out, result);
}

/* Of a grid with an image in its middle either all is made or the image alone, to whom asks. */
static void offer_image_only(GstCaps *result)
{
  const guint n = gst_caps_get_size(result);
  for (guint i = 0; i < n; i++) {
    GstStructure *s = gst_caps_get_structure(result, i);
    if (!gst_structure_has_field(s, "image-size"))
      continue;
    gst_structure_set(s, "image-only", G_TYPE_BOOLEAN, FALSE, NULL);
    s = gst_structure_copy(s);
    gst_structure_set(s, "image-only", G_TYPE_BOOLEAN, TRUE, NULL);
    gst_caps_append_structure(result, s);
  }
}

/* ---- grids of which touched tiles alone hold anything ---- */

static gboolean takes_maps(const AstroFftSettings *settings)
{
  return settings->n_axes == 0 && !settings->inverse && settings->centred != ASTRO_CENTRED_FALSE;
}

static gboolean is_true(const GstStructure *s, const char *field)
{
  gboolean value = FALSE;
  return gst_structure_get_boolean(s, field, &value) && value;
}

/* What of caps of grids can be had with maps: products stand next to their v and u, so that they
 * share one. */
static GstCaps *with_maps(const GstCaps *caps)
{
  g_autoptr(GstCaps) known =
      gst_caps_from_string("application/x-astro-uvgrid,format={CF32LE,CF64LE},touched-only=true,"
                           "layout={pol:v:u,plane:pol:v:u,channel:pol:v:u,plane:channel:pol:v:u}");
  return gst_caps_intersect_full((GstCaps *)caps, known, GST_CAPS_INTERSECT_FIRST);
}

static AstroFftSettings rows_alone(const AstroFftSettings *settings)
{
  AstroFftSettings rows = *settings;
  rows.axes[0] = ASTRO_AXIS_U;
  rows.n_axes = 1;
  return rows;
}

/* Of an input with maps its rows, of which the image's part is made. */
static void offer_rows(const AstroFftSettings *settings, const GstStructure *given, GstCaps *result)
{
  const AstroFftSettings rows = rows_alone(settings);
  g_autoptr(GstCaps) caps = gst_caps_new_full(gst_structure_copy(given), NULL);
  g_autoptr(GstCaps) mapped = gst_caps_new_empty();

  if (!takes_maps(settings) || !is_true(given, "touched-only") ||
      !gst_structure_has_field(given, "image-size"))
    return;
  g_autoptr(GstCaps) taken = with_maps(caps);
  for (guint i = 0; i < gst_caps_get_size(taken); i++)
    map_structure(&rows, gst_caps_get_structure(taken, i), ASTRO_QUANTITY_UVGRID,
                  ASTRO_QUANTITY_UVGRID, TRUE, mapped);
  for (guint i = 0; i < gst_caps_get_size(mapped); i++) {
    GstStructure *s = gst_structure_copy(gst_caps_get_structure(mapped, i));
    gst_structure_set(s, "image-only", G_TYPE_BOOLEAN, TRUE, "touched-only", G_TYPE_BOOLEAN, TRUE,
                      NULL);
    gst_caps_append_structure(result, s);
  }
}

/* Inputs of an output: the same with maps is less work. */
static void append_inputs(const AstroFftSettings *settings, const GstStructure *given,
                          AstroQuantity in, gboolean rows, GstCaps *result)
{
  const gboolean of_rows = is_true(given, "touched-only");
  const AstroFftSettings alone = rows_alone(settings);
  g_autoptr(GstCaps) mapped = gst_caps_new_empty();

  if (of_rows && !(rows && in == ASTRO_QUANTITY_UVGRID && takes_maps(settings)))
    return;
  map_structure(of_rows ? &alone : settings, given, in, in, FALSE, mapped);
  if (in == ASTRO_QUANTITY_UVGRID && takes_maps(settings))
    gst_caps_append(result, with_maps(mapped));
  if (!of_rows)
    gst_caps_append(result, g_steal_pointer(&mapped));
}

/* No reader of v:u or v:x may take what has no map for what has one. */
static void deny_touched_only(GstCaps *result)
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
      map_structure(settings, s, from, quantity_out(settings, from), TRUE, result);
    /* Of which media types this may have come. */
    for (AstroQuantity in = ASTRO_QUANTITY_UNKNOWN + 1; !to_src && in < ASTRO_N_QUANTITIES; in++)
      if (quantity_out(settings, in) == from) {
        append_inputs(settings, s, in, rows, result);
        gst_caps_append(others, gst_caps_new_empty_simple(astro_quantity_media_type(in)));
      }
  }
  if (to_src) {
    offer_image_only(result);
    deny_touched_only(result);
  }
  for (guint i = 0; to_src && rows && i < gst_caps_get_size(caps); i++)
    offer_rows(settings, gst_caps_get_structure(caps, i), result);
  /* What is none of these is taken last, and refused where an error can say why. */
  gst_caps_append(result, others);
  return result;
}

gboolean astro_fft_use_maps(const AstroFftSettings *settings, const AstroStream *in,
                            const GstCaps *caps, AstroFftConfig *config, GError **error)
{
  g_autoptr(GstCaps) taken = with_maps(caps);

  if (!is_true(gst_caps_get_structure(caps, 0), "touched-only"))
    return TRUE;
  if (gst_caps_is_empty(taken) || !takes_maps(settings))
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "touched-only=true, expected of complex grids of layout "
                               "[plane:][channel:]pol:v:u alone that are transformed forward, "
                               "centred and along u and v");
  config->share_map = astro_stream_extent(in, ASTRO_AXIS_POL);
  return TRUE;
}

/* ---- the transform ---- */

static guint64 origin(const AstroFftSettings *settings, AstroAxis axis, guint64 n, gboolean bins)
{
  if (bins || settings->centred == ASTRO_CENTRED_FALSE)
    return 0;
  if (settings->centred == ASTRO_CENTRED_TRUE || axis == ASTRO_AXIS_CHANNEL ||
      other_name(axis) != axis)
    return n / 2;
  return 0;
}

static gboolean check_axes(const AstroFftSettings *settings, const AstroStream *in, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&in->layout);
  guint n = 0;

  for (guint i = 0; i < in->layout.n_axes; i++)
    n += is_transformed(settings, in->quantity, in->layout.axes[i]);
  if (n == 0) {
    g_set_error(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                "property axes names none of the axes of %s with layout %s",
                astro_quantity_name(in->quantity), layout);
    return FALSE;
  }
  for (guint i = 0; i < settings->n_axes; i++)
    if (astro_layout_find(&in->layout, settings->axes[i]) < 0) {
      g_set_error(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS,
                  "property axes names %s, which the input's layout %s has not",
                  astro_axis_name(settings->axes[i]), layout);
      return FALSE;
    }
  return TRUE;
}

void astro_fft_want_image(const AstroStream *out, const GstCaps *caps, AstroFftConfig *config)
{
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  gint size;

  if (!is_true(s, "image-only") || !gst_structure_get_int(s, "image-size", &size) || size < 1)
    return;
  for (guint i = 0; i < config->n_axes; i++) {
    const AstroAxis axis = out->layout.axes[i];
    const guint64 n = config->extents[i], half = MIN((guint64)size / 2, n / 2);
    if (!config->axes[i].transformed || (axis != ASTRO_AXIS_X && axis != ASTRO_AXIS_Y))
      continue;
    config->axes[i].wanted = n / 2 - half;
    config->axes[i].n_wanted = MIN(2 * half + 1, n - config->axes[i].wanted);
  }
}

static gboolean keeps_v(const AstroStream *in, const AstroStream *out)
{
  return in->quantity == ASTRO_QUANTITY_UVGRID &&
         astro_layout_find(&in->layout, ASTRO_AXIS_V) >= 0 &&
         astro_layout_find(&out->layout, ASTRO_AXIS_V) >= 0;
}

gboolean astro_fft_configure(const AstroFftSettings *given, const AstroStream *in,
                             const AstroStream *out, AstroFftConfig *config, AstroFftKind *kind,
                             GError **error)
{
  const AstroFftSettings alone = rows_alone(given);
  const AstroFftSettings *settings = given->n_axes == 0 && keeps_v(in, out) ? &alone : given;
  AstroLayout shape = in->layout, mapped = in->layout;
  gboolean real_in = is_real(in->format), real_out = is_real(out->format);
  gboolean splits = splits_time(settings, in->quantity);
  gboolean joins = joins_time(settings, in->quantity);

  if (!check_axes(settings, in, error))
    return FALSE;
  if (!map_layout(settings, in->quantity, TRUE, &mapped)) {
    g_autofree char *layout = astro_layout_to_string(&in->layout);
    g_set_error(error, ASTRO_STREAM_ERROR, ASTRO_STREAM_ERROR_CAPS, "layout %s: %s", layout,
                splits ? "there are channels already"
                       : "the channel axis must stand next after time (astrotranspose puts it "
                         "there)");
    return FALSE;
  }
  *kind = splits ? ASTRO_FFT_SPLITS_TIME : joins ? ASTRO_FFT_JOINS_TIME : ASTRO_FFT_SAME_STEPS;
  if (splits) {
    gint time = astro_layout_find(&shape, ASTRO_AXIS_TIME);
    memmove(shape.extents + time + 2, shape.extents + time + 1,
            (shape.n_axes - (guint)time - 1) * sizeof *shape.extents);
    insert_axis(&shape, (guint)time + 1, ASTRO_AXIS_CHANNEL);
    shape.extents[time + 1] = settings->length;
  }
  *config = (AstroFftConfig){
    .from = in->format, .to = out->format, .n_axes = shape.n_axes, .inverse = settings->inverse
  };
  gint halved = -1;
  for (guint i = 0; i < shape.n_axes; i++) {
    AstroAxis axis = shape.axes[i];
    config->extents[i] = shape.extents[i];
    config->axes[i].transformed = splits && (axis == ASTRO_AXIS_TIME || axis == ASTRO_AXIS_CHANNEL)
                                      ? axis == ASTRO_AXIS_CHANNEL
                                      : is_transformed(settings, in->quantity, axis);
    if (config->axes[i].transformed && (real_in || real_out))
      halved = (gint)i;
  }
  if (halved >= 0 && real_out)
    config->extents[halved] = samples_of(settings, config->extents[halved], TRUE);
  for (guint i = 0; i < shape.n_axes; i++) {
    AstroAxis from = shape.axes[i], to = other_name(from);
    if (!config->axes[i].transformed)
      continue;
    if (splits && from == ASTRO_AXIS_CHANNEL)
      from = ASTRO_AXIS_TIME;
    if (joins && from == ASTRO_AXIS_CHANNEL)
      to = ASTRO_AXIS_TIME;
    config->axes[i].origin_in =
        origin(settings, from, config->extents[i], (gint)i == halved && real_out);
    config->axes[i].origin_out =
        origin(settings, to, config->extents[i], (gint)i == halved && real_in);
  }
  return TRUE;
}
