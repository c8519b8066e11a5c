/* The element astrotpacf: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_TPACF astro_tpacf_get_type()
G_DECLARE_FINAL_TYPE(AstroTpacf, astro_tpacf, ASTRO, TPACF, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(astrotpacf);

G_END_DECLS
