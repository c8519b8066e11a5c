/* The element astrosideband: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_SIDEBAND astro_sideband_get_type()
G_DECLARE_FINAL_TYPE(AstroSideband, astro_sideband, ASTRO, SIDEBAND, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrosideband)

G_END_DECLS
