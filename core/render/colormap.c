#include "core/render/colormap.h"

GType astro_colormap_get_type(void)
{
  static gsize type = 0;
  static const GEnumValue values[] = {
    { ASTRO_COLORMAP_VIRIDIS, "From dark blue over green to yellow, in even steps", "viridis" },
    { ASTRO_COLORMAP_INFERNO, "From black over red to light yellow, in even steps", "inferno" },
    { ASTRO_COLORMAP_GRAY, "From black to white", "gray" },
    { ASTRO_COLORMAP_TWILIGHT, "Cyclic, for angles", "twilight" },
    { 0, NULL, NULL }
  };
  if (g_once_init_enter(&type))
    g_once_init_leave(&type, g_enum_register_static("AstroColormap", values));
  return type;
}
