/* The element astrohistogram: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstaggregator.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_HISTOGRAM astro_histogram_get_type()
G_DECLARE_FINAL_TYPE(AstroHistogram, astro_histogram, ASTRO, HISTOGRAM, GstAggregator)
GST_ELEMENT_REGISTER_DECLARE(astrohistogram);

G_END_DECLS
