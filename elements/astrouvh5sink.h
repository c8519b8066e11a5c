/* The element astrouvh5sink: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrorowsink.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_UVH5_SINK astro_uvh5_sink_get_type()
GType astro_uvh5_sink_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(astrouvh5sink)

G_END_DECLS
