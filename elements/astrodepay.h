/* astrodepay: packets of any source to voltages or spectra. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_DEPAY astro_depay_get_type()
G_DECLARE_FINAL_TYPE(AstroDepay, astro_depay, ASTRO, DEPAY, GstElement)
GST_ELEMENT_REGISTER_DECLARE(astrodepay);

G_END_DECLS
