/* The element astrodelay: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_DELAY astro_delay_get_type()
G_DECLARE_FINAL_TYPE(AstroDelay, astro_delay, ASTRO, DELAY, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrodelay)

G_END_DECLS
