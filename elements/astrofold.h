/* The element astrofold: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_FOLD astro_fold_get_type()
G_DECLARE_FINAL_TYPE(AstroFold, astro_fold, ASTRO, FOLD, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrofold)

G_END_DECLS
