/* Checks layouts of what stages integrate. */
#include "config.h"
#include "core/lib/integration/axes.h"

#include "core/backend/backend.h"

gboolean astro_axes_check(const AstroLayout *layout, guint64 channels, guint64 stations,
                          guint64 pols, const char *what, const char *why, GError **error)
{
  const struct {
    const char *name;
    gint at;
    guint64 extent;
  } axes[] = {
    { "time", astro_layout_find(layout, ASTRO_AXIS_TIME), 0 },
    { "channel", astro_layout_find(layout, ASTRO_AXIS_CHANNEL), channels },
    { "station", astro_axes_find_stations(layout), stations },
    { "pol", astro_layout_find(layout, ASTRO_AXIS_POL), pols },
  };
  guint found = 0;
  for (guint i = 0; i < G_N_ELEMENTS(axes); i++) {
    if (axes[i].at < 0 && axes[i].extent > 1)
      return astro_backend_refuse(error, "the layout of the %s has no axis %s", what, axes[i].name);
    if (axes[i].at < 0)
      continue;
    found++;
    if (layout->extents[axes[i].at] != axes[i].extent)
      return astro_backend_refuse(
          error, "axis %s of the %s has extent %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT,
          axes[i].name, what, layout->extents[axes[i].at], axes[i].extent);
  }
  if (found == layout->n_axes)
    return TRUE;
  g_autofree char *text = astro_layout_to_string(layout);
  return astro_backend_refuse(error,
                              "%s of layout %s, expected axes time, channel, station (or beam) and "
                              "pol, each once%s",
                              what, text, why);
}
