/* The element astroconvert: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CONVERT astro_convert_get_type()
G_DECLARE_FINAL_TYPE(AstroConvert, astro_convert, ASTRO, CONVERT, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroconvert)

G_END_DECLS
