/* astrodegridder: what a model of the sky predicts for visibilities, or what is left without it. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_DEGRIDDER astro_degridder_get_type()
G_DECLARE_FINAL_TYPE(AstroDegridder, astro_degridder, ASTRO, DEGRIDDER, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrodegridder);

G_END_DECLS
