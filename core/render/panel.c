#include "core/render/panel.h"
#include "core/enum.h"

#include <math.h>

G_DEFINE_QUARK(astro_render_error, astro_render_error)

ASTRO_ENUM_TYPE(astro_theme_get_type, "AstroTheme",
                { ASTRO_THEME_DARK, "Light on dark, for screens", "dark" },
                { ASTRO_THEME_LIGHT, "Dark on light, for paper", "light" })

gboolean astro_render_refuse(GError **error, AstroRenderError code, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  g_autofree char *what = g_strdup_vprintf(format, arguments);
  va_end(arguments);
  g_set_error(error, ASTRO_RENDER_ERROR, code, "%s", what);
  return FALSE;
}

void astro_panel_set_size(AstroPanel *panel, guint width, guint height)
{
  gsize n = (gsize)width * height;
  panel->width = width;
  panel->height = height;
  panel->values = panel->own = g_try_new(float, n);
  for (gsize i = 0; panel->own && i < n; i++)
    panel->own[i] = NAN;
}

void astro_panel_clear(gpointer data)
{
  AstroPanel *panel = data;
  g_free(panel->title);
  g_free(panel->x.label);
  g_free(panel->y.label);
  g_free(panel->own);
  g_free(panel->points);
  g_clear_pointer(&panel->wcs, astro_wcs_free);
}
