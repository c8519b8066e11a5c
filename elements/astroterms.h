/* The element astroterms: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_TERMS astro_terms_get_type()
G_DECLARE_FINAL_TYPE(AstroTerms, astro_terms, ASTRO, TERMS, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroterms)

G_END_DECLS
