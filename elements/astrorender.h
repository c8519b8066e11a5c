/* The element astrorender: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_RENDER astro_render_get_type()
G_DECLARE_FINAL_TYPE(AstroRender, astro_render, ASTRO, RENDER, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(astrorender);

G_END_DECLS
