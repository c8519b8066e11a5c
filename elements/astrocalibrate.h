/* The element astrocalibrate: its type, and its registration for the plugin. */
#pragma once

#include "elements/base/astrostage.h"

G_BEGIN_DECLS

#define ASTRO_TYPE_CALIBRATE astro_calibrate_get_type()
G_DECLARE_FINAL_TYPE(AstroCalibrate, astro_calibrate, ASTRO, CALIBRATE, AstroStage)
GST_ELEMENT_REGISTER_DECLARE(astrocalibrate)

G_END_DECLS
