/* Arrays that look at their zenith. */
#pragma once

#include "core/sky/scene.h"

/* Of so many stations of a preset. */
static inline AstroObservation *test_observe(const char *array, guint stations)
{
  const AstroScene scene = { .array = (char *)array,
                             .stations = stations,
                             .pols = 2,
                             .start_time = (char *)"2026-11-20T12:00:00" };
  GError *error = NULL;
  AstroObservation *observation = astro_scene_observe(&scene, &error);
  g_assert_no_error(error);
  return observation;
}
