/* Shared by tests of the voltage simulator: an array, a sky, a stream. */
#pragma once

#include "core/lib/sky/array.h"
#include "core/lib/sky/voltages.h"
#include "core/stream/uvw.h"
#include "tests/near.h"
#include "tests/tests.h"

static inline AstroStream stream_of(AstroFormat format, const char *layout, guint stations,
                                    guint pols, double frequency, gint bandwidth)
{
  AstroStream stream = { .quantity = ASTRO_QUANTITY_VOLTAGES,
                         .format = format,
                         .rate_n =
                             astro_format_info(format)->is_complex ? bandwidth : 2 * bandwidth,
                         .rate_d = 1,
                         .frequency = frequency,
                         .bandwidth = bandwidth };
  g_assert_true(astro_layout_parse(&stream.layout, layout, ASTRO_QUANTITY_VOLTAGES, NULL));
  for (guint i = 0; i < stream.layout.n_axes; i++)
    if (stream.layout.axes[i] != ASTRO_AXIS_TIME)
      stream.layout.extents[i] = stream.layout.axes[i] == ASTRO_AXIS_STATION ? stations : pols;
  return stream;
}

/* The phase centre is in the zenith at the start. */
static inline AstroObservation *observe(const char *positions)
{
  AstroLines lines;
  AstroSite site = { 0.6, -1.8 };
  g_autoptr(GError) error = NULL;
  double centre[3];
  astro_lines_init(&lines, "test", g_strdup(positions));
  AstroObservation *observation = astro_array_from_lines(&lines, 0, &site, &error);
  astro_lines_clear(&lines);
  g_assert_no_error(error);
  g_assert_true(astro_observation_set_start(observation, "2026-11-20T12:00:00", NULL));
  astro_array_centre(observation, centre);
  observation->has_phase_centre = TRUE;
  astro_zenith(observation, 0, centre, &observation->phase_ra, &observation->phase_dec);
  return observation;
}

static inline AstroVoltages *open_voltages(const AstroVoltagesConfig *config)
{
  g_autoptr(GError) error = NULL;
  AstroVoltages *voltages = astro_voltages_new(config, &error);
  g_assert_no_error(error);
  return voltages;
}

static inline AstroSky *sky_of(const char *text, const AstroObservation *observation)
{
  g_autoptr(GError) error = NULL;
  AstroSky *sky = astro_sky_new(text, &error);
  g_assert_no_error(error);
  g_assert_true(astro_sky_resolve(sky, observation, &error));
  return sky;
}
