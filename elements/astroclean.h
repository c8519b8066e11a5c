/* The element astroclean: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CLEAN astro_clean_get_type()
G_DECLARE_FINAL_TYPE(AstroClean, astro_clean, ASTRO, CLEAN, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroclean)

G_END_DECLS
