/* The element astroflag: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_FLAG astro_flag_get_type()
G_DECLARE_FINAL_TYPE(AstroFlag, astro_flag, ASTRO, FLAG, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroflag)

G_END_DECLS
