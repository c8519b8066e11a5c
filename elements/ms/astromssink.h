/* The element astromssink: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_MS_SINK astro_ms_sink_get_type()
G_DECLARE_FINAL_TYPE(AstroMsSink, astro_ms_sink, ASTRO, MS_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE(astromssink)

G_END_DECLS
