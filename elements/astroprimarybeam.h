/* The element astroprimarybeam: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_PRIMARY_BEAM astro_primary_beam_get_type()
G_DECLARE_FINAL_TYPE(AstroPrimaryBeam, astro_primary_beam, ASTRO, PRIMARY_BEAM, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroprimarybeam)

G_END_DECLS
