/* The element astrocatsrc: its type, and its registration for the plugin. */
#pragma once

#include <gst/base/gstpushsrc.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_CAT_SRC astro_cat_src_get_type()
G_DECLARE_FINAL_TYPE(AstroCatSrc, astro_cat_src, ASTRO, CAT_SRC, GstPushSrc)
GST_ELEMENT_REGISTER_DECLARE(astrocatsrc);

G_END_DECLS
