/* The element astroadd: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astromerge.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_ADD astro_add_get_type()
G_DECLARE_FINAL_TYPE(AstroAdd, astro_add, ASTRO, ADD, AstroMerge)
GST_ELEMENT_REGISTER_DECLARE(astroadd)

G_END_DECLS
