/* astrogridder: visibilities to grids. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_GRIDDER astro_gridder_get_type()
G_DECLARE_FINAL_TYPE(AstroGridder, astro_gridder, ASTRO, GRIDDER, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrogridder);

G_END_DECLS
