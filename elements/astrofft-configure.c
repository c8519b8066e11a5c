/* The transform for the caps that were agreed on. */
#include "config.h"
#include "elements/astrofft-parts.h"
#include "elements/base/astrostage.h"

#include <string.h>

static guint64 origin(const AstroFftSettings *settings, AstroAxis axis, guint64 n, gboolean bins)
{
  if (bins || settings->centred == ASTRO_CENTRED_FALSE)
    return 0;
  if (settings->centred == ASTRO_CENTRED_TRUE || axis == ASTRO_AXIS_CHANNEL ||
      astro_fft_other_name(axis) != axis)
    return n / 2;
  return 0;
}

static gboolean check_axes(const AstroFftSettings *settings, const AstroStream *in, GError **error)
{
  g_autofree char *layout = astro_layout_to_string(&in->layout);
  guint n = 0;

  for (guint i = 0; i < in->layout.n_axes; i++)
    n += astro_fft_is_transformed(settings, in->quantity, in->layout.axes[i]);
  if (n == 0)
    return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                               "property axes names none of the axes of %s with layout %s",
                               astro_quantity_name(in->quantity), layout);
  for (guint i = 0; i < settings->n_axes; i++)
    if (astro_layout_find(&in->layout, settings->axes[i]) < 0)
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "property axes names %s, which is not in the input's layout %s",
                                 astro_axis_name(settings->axes[i]), layout);
  for (guint i = 0; i < in->layout.n_axes; i++)
    if (in->layout.extents[i] == 0 && !astro_fft_splits_time(settings, in->quantity) &&
        astro_fft_is_transformed(settings, in->quantity, in->layout.axes[i]))
      return astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                                 "property axes names %s, which has no fixed length in %s of "
                                 "layout %s: expected other axes, or voltages",
                                 astro_axis_name(in->layout.axes[i]),
                                 astro_quantity_name(in->quantity), layout);
  return TRUE;
}

gboolean astro_fft_want_image(const AstroStream *out, const GstCaps *caps, AstroFftConfig *config)
{
  const GstStructure *s = gst_caps_get_structure(caps, 0);
  gboolean any = FALSE;
  gint size;

  if (!gst_structure_get_int(s, "image-size", &size) || size < 1)
    return FALSE;
  for (guint i = 0; i < config->n_axes; i++) {
    const AstroAxis axis = out->layout.axes[i];
    const guint64 n = config->extents[i], half = MIN((guint64)size / 2, n / 2);
    if (!config->axes[i].transformed || (axis != ASTRO_AXIS_X && axis != ASTRO_AXIS_Y))
      continue;
    config->axes[i].wanted = n / 2 - half;
    config->axes[i].n_wanted = MIN(2 * half + 1, n - config->axes[i].wanted);
    any = TRUE;
  }
  return any;
}

static gboolean keeps_v(const AstroStream *in, const AstroStream *out)
{
  return in->quantity == ASTRO_QUANTITY_UVGRID &&
         astro_layout_find(&in->layout, ASTRO_AXIS_V) >= 0 &&
         astro_layout_find(&out->layout, ASTRO_AXIS_V) >= 0;
}

/* shape: with the axis that time is split into. Returns the last transformed axis, along which real
 * samples have half as many bins. */
static gint choose_axes(const AstroFftSettings *settings, AstroQuantity in,
                        const AstroLayout *shape, AstroFftConfig *config)
{
  const gboolean splits = astro_fft_splits_time(settings, in);
  gint last = -1;

  for (guint i = 0; i < shape->n_axes; i++) {
    const AstroAxis axis = shape->axes[i];
    config->extents[i] = shape->extents[i];
    config->axes[i].transformed = splits && (axis == ASTRO_AXIS_TIME || axis == ASTRO_AXIS_CHANNEL)
                                      ? axis == ASTRO_AXIS_CHANNEL
                                      : astro_fft_is_transformed(settings, in, axis);
    if (config->axes[i].transformed)
      last = (gint)i;
  }
  return last;
}

/* bins_in, bins_out: the axis with half the bins on that side, or -1. */
static void set_origins(const AstroFftSettings *settings, AstroFftKind kind,
                        const AstroLayout *shape, gint bins_in, gint bins_out,
                        AstroFftConfig *config)
{
  for (guint i = 0; i < shape->n_axes; i++) {
    AstroAxis from = shape->axes[i], to = astro_fft_other_name(from);
    if (!config->axes[i].transformed)
      continue;
    if (kind == ASTRO_FFT_SPLITS_TIME && from == ASTRO_AXIS_CHANNEL)
      from = ASTRO_AXIS_TIME;
    if (kind == ASTRO_FFT_JOINS_TIME && from == ASTRO_AXIS_CHANNEL)
      to = ASTRO_AXIS_TIME;
    config->axes[i].origin_in = origin(settings, from, config->extents[i], (gint)i == bins_in);
    config->axes[i].origin_out = origin(settings, to, config->extents[i], (gint)i == bins_out);
  }
}

/* Checks that the output's caps have these axes and lengths. mapped: the output's axes, in the
 * order of the shape's. There is no length of time that was joined. */
static gboolean check_agreed(const AstroStream *out, const AstroLayout *mapped,
                             const AstroFftConfig *config, gint bins_out, GError **error)
{
  if (mapped->n_axes != out->layout.n_axes ||
      memcmp(mapped->axes, out->layout.axes, mapped->n_axes * sizeof *mapped->axes))
    return astro_stage_refuse_late(error);
  for (guint i = 0; i < mapped->n_axes && mapped->n_axes == config->n_axes; i++) {
    const guint64 n = config->extents[i], expected = (gint)i == bins_out ? n / 2 + 1 : n;
    if (config->axes[i].transformed && out->layout.extents[i] != expected)
      return astro_stage_refuse_late(error);
  }
  return TRUE;
}

gboolean astro_fft_configure(const AstroFftSettings *given, const AstroStream *in,
                             const AstroStream *out, AstroFftConfig *config, AstroFftKind *kind,
                             GError **error)
{
  const AstroFftSettings alone = astro_fft_rows_alone(given);
  const AstroFftSettings *settings = given->n_axes == 0 && keeps_v(in, out) ? &alone : given;
  AstroLayout shape = in->layout, mapped = in->layout;
  gboolean real_in = astro_fft_is_real(in->format), real_out = astro_fft_is_real(out->format);
  gboolean splits = astro_fft_splits_time(settings, in->quantity);
  gboolean joins = astro_fft_joins_time(settings, in->quantity);

  if (!check_axes(settings, in, error))
    return FALSE;
  if (!astro_fft_map_layout(settings, in->quantity, TRUE, &mapped)) {
    g_autofree char *layout = astro_layout_to_string(&in->layout);
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS, "layout %s: %s", layout,
        splits ? "there are channels already"
               : "the channel axis must come right after time (astrotranspose puts it there)");
  }
  *kind = splits ? ASTRO_FFT_SPLITS_TIME : joins ? ASTRO_FFT_JOINS_TIME : ASTRO_FFT_SAME_STEPS;
  if (splits)
    astro_fft_split_time(&shape, settings->length);
  *config = (AstroFftConfig){
    .from = in->format, .to = out->format, .n_axes = shape.n_axes, .inverse = settings->inverse
  };
  gint halved = choose_axes(settings, in->quantity, &shape, config);
  if (!real_in && !real_out)
    halved = -1;
  if (halved >= 0 && real_out)
    config->extents[halved] = astro_fft_samples_of(settings, config->extents[halved], TRUE);
  const gint bins_in = real_out ? halved : -1, bins_out = real_in ? halved : -1;
  set_origins(settings, *kind, &shape, bins_in, bins_out, config);
  return !astro_fft_is_possible(settings, in->format, out->format) || /* backends refuse it */
         check_agreed(out, &mapped, config, bins_out, error);
}
