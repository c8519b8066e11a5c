/* Colormaps. */
#pragma once

#include <glib-object.h>

G_BEGIN_DECLS

typedef enum {
  ASTRO_COLORMAP_VIRIDIS,
  ASTRO_COLORMAP_INFERNO,
  ASTRO_COLORMAP_GRAY,
  ASTRO_COLORMAP_TWILIGHT,
  ASTRO_N_COLORMAPS
} AstroColormap;
#define ASTRO_TYPE_COLORMAP astro_colormap_get_type()
GType astro_colormap_get_type(void);

#define ASTRO_COLORMAP_LEVELS 256
extern const guint32 astro_colormap_colours[ASTRO_N_COLORMAPS][ASTRO_COLORMAP_LEVELS];

G_END_DECLS
