/* The reference backend's part in SumThreshold. */
#pragma once

#include "core/flag/plane.h"

G_BEGIN_DECLS

extern const AstroFlagPlaneWork astro_flag_plane_reference;

G_END_DECLS
