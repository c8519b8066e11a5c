/* The element astrouvh5src: its type, and its registration for the plugin. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_UVH5_SRC astro_uvh5_src_get_type()
GType astro_uvh5_src_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(astrouvh5src)

G_END_DECLS
