/* The element astroring: its type, and its registration for the plugin. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_RING astro_ring_get_type()
G_DECLARE_FINAL_TYPE(AstroRing, astro_ring, ASTRO, RING, GstElement)
GST_ELEMENT_REGISTER_DECLARE(astroring)

G_END_DECLS
