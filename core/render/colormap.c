#include "core/render/colormap.h"
#include "core/kit/enum.h"

ASTRO_ENUM_TYPE(astro_colormap_get_type, "AstroColormap",
                { ASTRO_COLORMAP_VIRIDIS, "From dark blue over green to yellow, in even steps",
                  "viridis" },
                { ASTRO_COLORMAP_INFERNO, "From black over red to light yellow, in even steps",
                  "inferno" },
                { ASTRO_COLORMAP_GRAY, "From black to white", "gray" },
                { ASTRO_COLORMAP_TWILIGHT, "Cyclic, for angles", "twilight" })
