/* The element astrohttpsink: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_HTTP_SINK astro_http_sink_get_type()
G_DECLARE_FINAL_TYPE(AstroHttpSink, astro_http_sink, ASTRO, HTTP_SINK, GstBaseSink)
GST_ELEMENT_REGISTER_DECLARE(astrohttpsink);

G_END_DECLS
