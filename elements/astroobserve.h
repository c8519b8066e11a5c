/* The element astroobserve: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_OBSERVE astro_observe_get_type()
G_DECLARE_FINAL_TYPE(AstroObserve, astro_observe, ASTRO, OBSERVE, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(astroobserve);

G_END_DECLS
