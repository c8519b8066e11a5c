/* The element astropower: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_POWER astro_power_get_type()
G_DECLARE_FINAL_TYPE(AstroPower, astro_power, ASTRO, POWER, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astropower)

G_END_DECLS
