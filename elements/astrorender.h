#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_RENDER_ELEMENT astro_render_element_get_type()
G_DECLARE_FINAL_TYPE(AstroRenderElement, astro_render_element, ASTRO, RENDER_ELEMENT,
                     GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(astrorender);

G_END_DECLS
