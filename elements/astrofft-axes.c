/* Which axes are transformed, and the names of axes and layouts after that. */
#include "config.h"
#include "elements/astrofft-parts.h"

#include <string.h>

/* In both directions. */
static const AstroAxis renamed[][2] = { { ASTRO_AXIS_U, ASTRO_AXIS_X },
                                        { ASTRO_AXIS_V, ASTRO_AXIS_Y },
                                        { ASTRO_AXIS_X, ASTRO_AXIS_U },
                                        { ASTRO_AXIS_Y, ASTRO_AXIS_V } };

AstroAxis astro_fft_other_name(AstroAxis axis)
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
          "property axes is \"%s\": \"%s\" is not an axis, or there are too many; expected names "
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

gboolean astro_fft_is_transformed(const AstroFftSettings *settings, AstroQuantity in,
                                  AstroAxis axis)
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
    return astro_fft_other_name(axis) != axis;
  case ASTRO_QUANTITY_SPECTRA:
    return axis == ASTRO_AXIS_CHANNEL;
  default:
    return FALSE;
  }
}

gboolean astro_fft_splits_time(const AstroFftSettings *settings, AstroQuantity in)
{
  return in == ASTRO_QUANTITY_VOLTAGES && astro_fft_is_transformed(settings, in, ASTRO_AXIS_TIME);
}

gboolean astro_fft_joins_time(const AstroFftSettings *settings, AstroQuantity in)
{
  return in == ASTRO_QUANTITY_SPECTRA && astro_fft_is_transformed(settings, in, ASTRO_AXIS_CHANNEL);
}

AstroQuantity astro_fft_quantity_out(const AstroFftSettings *settings, AstroQuantity in)
{
  if (astro_fft_splits_time(settings, in))
    return ASTRO_QUANTITY_SPECTRA;
  return astro_fft_joins_time(settings, in) ? ASTRO_QUANTITY_VOLTAGES : in;
}

gboolean astro_fft_split_time(AstroLayout *layout, guint64 channels)
{
  const gint time = astro_layout_find(layout, ASTRO_AXIS_TIME);
  if (time < 0 || layout->n_axes == ASTRO_MAX_AXES ||
      astro_layout_find(layout, ASTRO_AXIS_CHANNEL) >= 0)
    return FALSE;
  const guint at = (guint)time + 1, after = layout->n_axes - at;
  memmove(layout->axes + at + 1, layout->axes + at, after * sizeof *layout->axes);
  memmove(layout->extents + at + 1, layout->extents + at, after * sizeof *layout->extents);
  layout->axes[at] = ASTRO_AXIS_CHANNEL;
  layout->extents[at] = channels;
  layout->n_axes++;
  return TRUE;
}

gboolean astro_fft_join_time(AstroLayout *layout)
{
  gint time = astro_layout_find(layout, ASTRO_AXIS_TIME);
  if (time < 0 || astro_layout_find(layout, ASTRO_AXIS_CHANNEL) != time + 1)
    return FALSE;
  layout->n_axes--;
  memmove(layout->axes + time + 1, layout->axes + time + 2,
          (layout->n_axes - (guint)time - 1) * sizeof *layout->axes);
  return TRUE;
}

gboolean astro_fft_map_layout(const AstroFftSettings *settings, AstroQuantity in, gboolean to_src,
                              AstroLayout *layout)
{
  for (guint i = 0; i < layout->n_axes; i++) {
    AstroAxis other = astro_fft_other_name(layout->axes[i]);
    if (astro_fft_is_transformed(settings, in, to_src ? layout->axes[i] : other))
      layout->axes[i] = other;
  }
  if (astro_fft_splits_time(settings, in))
    return to_src ? astro_fft_split_time(layout, settings->length) : astro_fft_join_time(layout);
  if (astro_fft_joins_time(settings, in))
    return to_src ? astro_fft_join_time(layout) : astro_fft_split_time(layout, settings->length);
  return TRUE;
}
