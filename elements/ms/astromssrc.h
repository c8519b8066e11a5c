/* The element astromssrc: its type, and its registration for the plugin. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_MS_SRC astro_ms_src_get_type()
GType astro_ms_src_get_type(void);

GST_ELEMENT_REGISTER_DECLARE(astromssrc)

G_END_DECLS
