/* The element astrovissrc: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrosimulator.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_VIS_SRC astro_vis_src_get_type()
G_DECLARE_FINAL_TYPE(AstroVisSrc, astro_vis_src, ASTRO, VIS_SRC, AstroSimulator)
GST_ELEMENT_REGISTER_DECLARE(astrovissrc);

G_END_DECLS
