/* The element astroskysrc: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrosimulator.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_SKY_SRC astro_sky_src_get_type()
G_DECLARE_FINAL_TYPE(AstroSkySrc, astro_sky_src, ASTRO, SKY_SRC, AstroSimulator)
GST_ELEMENT_REGISTER_DECLARE(astroskysrc);

G_END_DECLS
