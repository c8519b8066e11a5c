/* The element astrosearch: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_SEARCH astro_search_get_type()
G_DECLARE_FINAL_TYPE(AstroSearch, astro_search, ASTRO, SEARCH, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrosearch)

G_END_DECLS
