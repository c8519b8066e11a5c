/* The properties of a scene, for sources of simulated streams. */
#pragma once

#include <gst/gst.h>
#include "core/lib/sky/scene.h"
#include "elements/base/astrofields.h"

G_BEGIN_DECLS

/* Properties that are the same in all sources. */
extern const AstroField astro_scene_fields[];

/* Properties that differ: the meaning of bandwidth and the default of noise. */
#define ASTRO_SCENE_BANDWIDTH(help)                                                                \
  ASTRO_DOUBLE(AstroScene, bandwidth, "bandwidth", "Bandwidth", help, 1e-3, 1e13, 1e6)
#define ASTRO_SCENE_NOISE(jansky)                                                                  \
  ASTRO_DOUBLE(AstroScene, noise, "noise", "Noise",                                                \
               "System noise of each station and polarisation, Jy", 0, 1e12, jansky)

G_END_DECLS
