/* The element astrotranspose: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_TRANSPOSE astro_transpose_get_type()
G_DECLARE_FINAL_TYPE(AstroTranspose, astro_transpose, ASTRO, TRANSPOSE, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrotranspose)

G_END_DECLS
