/* The observation and the sky of a simulation. */
#include "config.h"
#include "core/lib/sky/scene.h"

#include <string.h>

void astro_scene_clear(AstroScene *scene)
{
  astro_setup_clear(&scene->setup);
  g_free(scene->sky);
  memset(scene, 0, sizeof *scene);
}

/* A simulation needs all settings except for the phase centre. */
AstroObservation *astro_scene_observe(const AstroScene *scene, GError **error)
{
  AstroSetup setup = scene->setup;

  if (scene->pols < 1 || scene->pols > 2) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "pols=%u: expected 1 or 2",
                scene->pols);
    return NULL;
  }
  if (!setup.phase_centre || !*setup.phase_centre)
    setup.phase_centre = (char *)ASTRO_SETUP_ZENITH;
  g_autoptr(AstroObservation) observation = astro_setup_amend(&setup, NULL, scene->stations, error);
  if (observation && scene->basis == ASTRO_BASIS_CIRCULAR) {
    g_free(observation->basis);
    observation->basis = g_strdup("circular");
  }
  /* So that elements which correct the simulated delays know that UT1 was taken as UTC. */
  if (observation && !observation->earth)
    observation->earth = astro_earth_new_none();
  if (!observation || (observation->n_stations && observation->has_start))
    return g_steal_pointer(&observation);
  g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "%s is empty, expected %s",
              observation->has_start ? "array" : "start-time",
              observation->has_start ? "a preset's name or a file"
                                     : "a time such as 2026-11-20T12:00:00");
  return NULL;
}

AstroSky *astro_scene_sky(const AstroScene *scene, const AstroObservation *observation,
                          GError **error)
{
  g_autoptr(AstroSky) sky = astro_sky_new(scene->sky ? scene->sky : "", error);
  if (!sky || !astro_sky_resolve(sky, observation, error))
    return NULL;
  return g_steal_pointer(&sky);
}
