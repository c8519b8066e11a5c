/* The element astroopen: its type, and its registration for the plugin. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_OPEN astro_open_get_type()
G_DECLARE_FINAL_TYPE(AstroOpen, astro_open, ASTRO, OPEN, GstBin)

GST_ELEMENT_REGISTER_DECLARE(astroopen)

G_END_DECLS
