/* The element astrocorrelator: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CORRELATOR astro_correlator_get_type()
G_DECLARE_FINAL_TYPE(AstroCorrelator, astro_correlator, ASTRO, CORRELATOR, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrocorrelator)

G_END_DECLS
