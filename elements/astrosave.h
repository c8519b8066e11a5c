/* The element astrosave: its type, and its registration for the plugin. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_TYPE_SAVE astro_save_get_type()
G_DECLARE_FINAL_TYPE(AstroSave, astro_save, ASTRO, SAVE, GstBin)

GST_ELEMENT_REGISTER_DECLARE(astrosave)

G_END_DECLS
