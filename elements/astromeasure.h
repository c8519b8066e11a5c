/* The element astromeasure: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasetransform.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_MEASURE astro_measure_get_type()
G_DECLARE_FINAL_TYPE(AstroMeasure, astro_measure, ASTRO, MEASURE, GstBaseTransform)
GST_ELEMENT_REGISTER_DECLARE(astromeasure);

G_END_DECLS
