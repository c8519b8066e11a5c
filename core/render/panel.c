/* The choices of users for pictures, and the memory of panels. */
#include "core/render/panel.h"
#include "core/kit/enum.h"

#include <math.h>

/* Seconds up to which an axis of times is in seconds, and then in minutes. */
#define MOST_SECONDS 180
#define MOST_MINUTES (180 * 60)

G_DEFINE_QUARK(astro_render_error, astro_render_error)

ASTRO_ENUM_TYPE(astro_theme_get_type, "AstroTheme",
                { ASTRO_THEME_DARK, "Light on dark, for screens", "dark" },
                { ASTRO_THEME_LIGHT, "Dark on light, for paper", "light" })

ASTRO_ENUM_TYPE(astro_scaling_get_type, "AstroScaling",
                { ASTRO_SCALING_EXACT,
                  "Each value as a square of its own, enlarged by a whole number", "exact" },
                { ASTRO_SCALING_SMOOTH, "Interpolated, so that the image fills its place",
                  "smooth" })

ASTRO_ENUM_TYPE(astro_show_get_type, "AstroShow",
                { ASTRO_SHOW_VALUES, "Values of the stream", "values" },
                { ASTRO_SHOW_VALIDITY,
                  "The percentage of good samples of each channel, as a waterfall", "validity" },
                { ASTRO_SHOW_FLAGS, "Power before and after flags, as two waterfalls", "flags" })

ASTRO_ENUM_TYPE(astro_view_get_type, "AstroView",
                { ASTRO_VIEW_MATRIX, "Amplitude and phase of all pairs of stations", "matrix" },
                { ASTRO_VIEW_SPECTRUM, "Power of each station over frequency, in dB", "spectrum" },
                { ASTRO_VIEW_FRINGE, "Phase and lags of the first two stations over time",
                  "fringe" },
                { ASTRO_VIEW_AUTO,
                  "The spectrum of one station, the fringe of two, the matrix of more; of power, "
                  "spectrum and waterfall",
                  "auto" },
                { ASTRO_VIEW_WATERFALL, "Power over frequency and time", "waterfall" },
                { ASTRO_VIEW_SAMPLES, "Of spectra: bandpass, levels and power, as of voltages",
                  "samples" })

gboolean astro_panel_make_room(AstroPanel *panel, GError **error)
{
  gsize n = (gsize)panel->width * panel->height;
  if (n > 0)
    panel->values = panel->own = g_try_new(float, n);
  if (panel->n_points > 0)
    panel->points = g_try_new0(AstroPanelPoint, panel->n_points);
  if ((n > 0 && !panel->own) || (panel->n_points > 0 && !panel->points))
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "no memory for a picture of %" G_GSIZE_FORMAT " values",
                               n + panel->n_points);
  for (gsize i = 0; i < n; i++)
    panel->own[i] = NAN;
  return TRUE;
}

void astro_panel_clear(gpointer data)
{
  AstroPanel *panel = data;
  g_free(panel->title);
  g_free(panel->x.label);
  g_free(panel->y.label);
  g_free(panel->own);
  g_free(panel->points);
  g_free(panel->marks);
  g_clear_pointer(&panel->wcs, astro_wcs_free);
}

gboolean astro_render_check_channel(gint channel, guint64 channels, GError **error)
{
  if (channel < (gint64)channels)
    return TRUE;
  g_autofree char *to =
      channels > 1 ? g_strdup_printf(" to %" G_GUINT64_FORMAT, channels - 1) : NULL;
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "there is no channel %d, expected 0%s, or -1 for the mean of all",
                             channel, to ? to : "");
}

gboolean astro_render_check_auto(const AstroRenderStyle *style, const char *things, GError **error)
{
  static const char *const names[] = { [ASTRO_VIEW_MATRIX] = "matrix",
                                       [ASTRO_VIEW_SPECTRUM] = "spectrum",
                                       [ASTRO_VIEW_FRINGE] = "fringe",
                                       [ASTRO_VIEW_WATERFALL] = "waterfall",
                                       [ASTRO_VIEW_SAMPLES] = NULL };
  return style->view == ASTRO_VIEW_AUTO || !names[style->view] ||
         astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "property view is %s, expected auto for %s", names[style->view],
                             things);
}

double astro_panel_set_times(AstroPanelAxis *axis, double from, double to)
{
  const double unit = to <= MOST_SECONDS ? 1 : to <= MOST_MINUTES ? 60 : 3600;
  g_free(axis->label);
  axis->label = g_strdup_printf("Time since the start (%s)", unit == 1    ? "s"
                                                             : unit == 60 ? "min"
                                                                          : "h");
  axis->from = from / unit;
  axis->to = to / unit;
  return unit;
}
