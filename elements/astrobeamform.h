/* The element astrobeamform: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_BEAMFORM astro_beamform_get_type()
G_DECLARE_FINAL_TYPE(AstroBeamform, astro_beamform, ASTRO, BEAMFORM, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrobeamform)

G_END_DECLS
