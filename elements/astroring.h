/* The element astroring: its type, and its registration for the plugin. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_RING astro_ring_element_get_type()
G_DECLARE_FINAL_TYPE(AstroRingElement, astro_ring_element, ASTRO, RING_ELEMENT, GstElement)
GST_ELEMENT_REGISTER_DECLARE(astroring)

G_END_DECLS
