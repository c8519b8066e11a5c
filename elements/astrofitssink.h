/* The element astrofitssink: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_FITS_SINK astro_fits_sink_get_type()
G_DECLARE_FINAL_TYPE(AstroFitsSink, astro_fits_sink, ASTRO, FITS_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE(astrofitssink)

G_END_DECLS
