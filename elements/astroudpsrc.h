/* astroudpsrc: packets from the network to voltages or spectra. */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_UDP_SRC astro_udp_src_get_type()
G_DECLARE_FINAL_TYPE(AstroUdpSrc, astro_udp_src, ASTRO, UDP_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE(astroudpsrc);

G_END_DECLS
