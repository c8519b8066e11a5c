/* The element astrophaseshift: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_PHASESHIFT astro_phaseshift_get_type()
G_DECLARE_FINAL_TYPE(AstroPhaseshift, astro_phaseshift, ASTRO, PHASESHIFT, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrophaseshift)

G_END_DECLS
