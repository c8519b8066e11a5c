/* The element astromssink: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrorowsink.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_MS_SINK astro_ms_sink_get_type()
GType astro_ms_sink_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(astromssink)

G_END_DECLS
