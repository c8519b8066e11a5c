/* The element astromssrc: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_MS_SRC astro_ms_src_get_type()
G_DECLARE_FINAL_TYPE(AstroMsSrc, astro_ms_src, ASTRO, MS_SRC, GstPushSrc)

GST_ELEMENT_REGISTER_DECLARE(astromssrc)

G_END_DECLS
