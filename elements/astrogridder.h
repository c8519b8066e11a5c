#pragma once

#include "elements/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_GRIDDER_STAGE astro_gridder_stage_get_type()
G_DECLARE_FINAL_TYPE(AstroGridderStage, astro_gridder_stage, ASTRO, GRIDDER_STAGE, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrogridder);

G_END_DECLS
