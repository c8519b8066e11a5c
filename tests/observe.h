/* Makes observations of the zenith. */
#pragma once

#include "core/lib/sky/scene.h"

/* An observation with this many stations of a preset array. */
static inline AstroObservation *test_observe(const char *array, guint stations)
{
  const AstroScene scene = { .setup = { .array = (char *)array,
                                        .start_time = (char *)"2026-11-20T12:00:00" },
                             .stations = stations,
                             .pols = 2 };
  GError *error = NULL;
  AstroObservation *observation = astro_scene_observe(&scene, &error);
  g_assert_no_error(error);
  return observation;
}
