/* The element astroselect: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_SELECT astro_select_get_type()
G_DECLARE_FINAL_TYPE(AstroSelect, astro_select, ASTRO, SELECT, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroselect)

G_END_DECLS
