/* The settings that simulators of voltages and of visibilities have in common, as a user writes
 * them: array, sky, time and direction. */
#pragma once

#include "core/lib/sky/setup.h"
#include "core/lib/sky/sky.h"

G_BEGIN_DECLS

typedef enum { ASTRO_BASIS_LINEAR, ASTRO_BASIS_CIRCULAR } AstroBasis;

typedef struct {
  guint stations; /* 0: all of a file, or the number of a preset */
  guint pols;
  AstroBasis basis; /* of the receivers */
  AstroSetup setup;
  char *sky;
  double frequency, bandwidth; /* Hz */
  double noise;                /* of each receiver, Jy */
  double duration;             /* seconds; 0: without end */
  guint64 seed;
} AstroScene;

void astro_scene_clear(AstroScene *scene);

/* Array, start and phase centre; the latter is the zenith of the array at the start if none is
 * given. */
AstroObservation *astro_scene_observe(const AstroScene *scene, GError **error);

/* The sources, resolved relative to the observation's phase centre. */
AstroSky *astro_scene_sky(const AstroScene *scene, const AstroObservation *observation,
                          GError **error);

G_END_DECLS
