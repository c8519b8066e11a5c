/* The element astrodedisperse: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_DEDISPERSE astro_dedisperse_get_type()
G_DECLARE_FINAL_TYPE(AstroDedisperse, astro_dedisperse, ASTRO, DEDISPERSE, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrodedisperse)

G_END_DECLS
