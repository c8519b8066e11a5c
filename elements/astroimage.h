/* astroimage: transformed grids to images. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_IMAGE astro_image_get_type()
G_DECLARE_FINAL_TYPE(AstroImage, astro_image, ASTRO, IMAGE, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astroimage)

G_END_DECLS
