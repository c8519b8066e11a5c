/* The colormaps that users may choose. */
#include "core/render/colormap.h"
#include "core/kit/enum.h"

ASTRO_ENUM_TYPE(astro_colormap_get_type, "AstroColormap",
                { ASTRO_COLORMAP_VIRIDIS,
                  "From dark blue through green to yellow, perceptually uniform", "viridis" },
                { ASTRO_COLORMAP_INFERNO,
                  "From black through red to light yellow, perceptually uniform", "inferno" },
                { ASTRO_COLORMAP_GRAY, "From black to white", "gray" },
                { ASTRO_COLORMAP_TWILIGHT, "Cyclic, for angles", "twilight" })
