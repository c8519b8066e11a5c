/* The element astrouvh5src: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrofilesrc.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_UVH5_SRC astro_uvh5_src_get_type()
G_DECLARE_FINAL_TYPE(AstroUvh5Src, astro_uvh5_src, ASTRO, UVH5_SRC, AstroFileSrc)

GST_ELEMENT_REGISTER_DECLARE(astrouvh5src)

G_END_DECLS
