/* The element astrorecordsink: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstbasesink.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_RECORD_SINK astro_record_sink_get_type()
G_DECLARE_FINAL_TYPE(AstroRecordSink, astro_record_sink, ASTRO, RECORD_SINK, GstBaseSink)

GST_ELEMENT_REGISTER_DECLARE(astrorecordsink)

G_END_DECLS
