/* The reader of .par files on any text, and phases by what it takes. */
#include "core/lib/ephemeris/phases.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const guint8 *data, gsize size)
{
  g_autoptr(GError) error = NULL;
  AstroLines lines;
  astro_lines_init(&lines, "fuzz", g_strndup((const char *)data, size));
  AstroEphemeris *ephemeris = astro_ephemeris_from_lines(&lines, &error);
  astro_lines_clear(&lines);
  if (!ephemeris == !error)
    abort();
  if (!ephemeris)
    return 0;
  g_autoptr(AstroObservation) observation = astro_observation_new(1);
  observation->positions[0] = 6378e3;
  astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL);
  g_autoptr(AstroPhases) phases = astro_phases_new(ephemeris, NULL, observation, 150e6, &error);
  const AstroPhaseSteps steps = { 0, 1000, 1 };
  double turns[3];
  if (!phases)
    return 0;
  const gboolean ok = astro_phases_of_steps(phases, &steps, 59999, 3, turns, &error);
  if (ok != !error)
    abort();
  for (guint i = 0; ok && i < 3; i++)
    if (!(turns[i] >= 0 && turns[i] < 1))
      abort();
  return 0;
}
