/* phases EPHEMERIS [KERNEL]: phases of a pulsar, for comparison with another program. Each line of
 * the standard input has a time (the day, MJD in UTC, and seconds in it), a frequency in Hz (0:
 * infinity), the telescope's x, y and z in metres, the pole's x and y in arcsec and UT1 - UTC in
 * seconds; the answer is a line with the turns. */
#include "core/lib/ephemeris/phases.h"

#include <stdio.h>

static AstroObservation *observe(gint32 mjd, const double position[3], const AstroEarthDay *earth)
{
  AstroObservation *observation = astro_observation_new(1);
  const AstroEarthDay days[5] = { *earth, *earth, *earth, *earth, *earth };
  for (guint i = 0; i < 3; i++)
    observation->positions[i] = position[i];
  observation->has_start = TRUE;
  observation->start_mjd = mjd;
  observation->earth = astro_earth_new("given", mjd - 1, days, 5, NULL);
  return observation;
}

static gboolean answer(const char *par, const char *kernel_file, const char *line, GError **error)
{
  double position[3], frequency;
  long double seconds, turns;
  AstroEarthDay earth;
  gint32 mjd;
  if (sscanf(line, "%d %Lf %lf %lf %lf %lf %lf %lf %lf", &mjd, &seconds, &frequency, &position[0],
             &position[1], &position[2], &earth.pole_x, &earth.pole_y, &earth.ut1_utc) != 9)
    return astro_fail(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_SYNTAX, "not nine numbers: %s", line);
  AstroEphemeris *ephemeris = astro_ephemeris_open(par, error);
  AstroKernel *kernel = ephemeris && kernel_file ? astro_kernel_open(kernel_file, error) : NULL;
  if (!ephemeris || (kernel_file && !kernel)) {
    astro_ephemeris_free(ephemeris);
    return FALSE;
  }
  g_autoptr(AstroObservation) observation = observe(mjd, position, &earth);
  g_autoptr(AstroPhases) phases =
      astro_phases_new(ephemeris, kernel, observation, frequency, error);
  if (!phases || !astro_phases_exact(phases, seconds, frequency, &turns, error))
    return FALSE;
  printf("%.9Lf\n", turns);
  return TRUE;
}

int main(int argc, char **argv)
{
  char line[1000];
  while (argc > 1 && fgets(line, sizeof line, stdin)) {
    g_autoptr(GError) error = NULL;
    if (!answer(argv[1], argc > 2 ? argv[2] : NULL, line, &error)) {
      g_printerr("phases: %s\n", error->message);
      return 1;
    }
  }
  return argc < 2;
}
