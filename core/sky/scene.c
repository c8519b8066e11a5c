#include "config.h"
#include "core/sky/scene.h"

#include <math.h>
#include <string.h>

#include "core/sky/array.h"
#include "core/stream/uvw.h"
#include "core/units.h"

void astro_scene_clear(AstroScene *scene)
{
  g_free(scene->array);
  g_free(scene->sky);
  g_free(scene->phase_centre);
  g_free(scene->start_time);
  memset(scene, 0, sizeof *scene);
}

static AstroObservation *read_array(const AstroScene *scene, GError **error)
{
  AstroSite site = { scene->latitude * ASTRO_DEGREE, scene->longitude * ASTRO_DEGREE };
  if (scene->has_latitude != scene->has_longitude) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "%s is set and %s is not: a place needs both",
                scene->has_latitude ? "latitude" : "longitude",
                scene->has_latitude ? "longitude" : "latitude");
    return NULL;
  }
  return astro_array_new(scene->array ? scene->array : "", scene->stations,
                         scene->has_latitude ? &site : NULL, error);
}

static gboolean read_phase_centre(AstroObservation *observation, const char *text, GError **error)
{
  double centre[3], ra, dec;

  observation->has_phase_centre = TRUE;
  if (!text || !*text) {
    astro_array_centre(observation, centre);
    astro_zenith(observation, 0, centre, &observation->phase_ra, &observation->phase_dec);
    return TRUE;
  }
  g_auto(GStrv) fields = g_strsplit(text, ",", -1);
  if (g_strv_length(fields) != 2 || !astro_number_parse(g_strstrip(fields[0]), &ra) ||
      !astro_number_parse(g_strstrip(fields[1]), &dec) || fabs(ra) > 360 || fabs(dec) > 90) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE,
                "phase-centre=%s: expected \"ra,dec\" in degrees", text);
    return FALSE;
  }
  observation->phase_ra = ra * ASTRO_DEGREE;
  observation->phase_dec = dec * ASTRO_DEGREE;
  return TRUE;
}

AstroObservation *astro_scene_observe(const AstroScene *scene, GError **error)
{
  if (scene->pols < 1 || scene->pols > 2) {
    g_set_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE, "pols=%u: expected 1 or 2",
                scene->pols);
    return NULL;
  }
  g_autoptr(AstroObservation) observation = read_array(scene, error);
  if (!observation ||
      !astro_observation_set_start(observation, scene->start_time ? scene->start_time : "",
                                   error) ||
      !read_phase_centre(observation, scene->phase_centre, error))
    return NULL;
  return g_steal_pointer(&observation);
}

AstroSky *astro_scene_sky(const AstroScene *scene, const AstroObservation *observation,
                          GError **error)
{
  g_autoptr(AstroSky) sky = astro_sky_new(scene->sky ? scene->sky : "", error);
  if (!sky || !astro_sky_resolve(sky, observation, error))
    return NULL;
  return g_steal_pointer(&sky);
}
