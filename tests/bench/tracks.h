/* The observation for benchmarks of gridding: 44 stations, six hours in steps of 10 s, 16 channels
 * of a subband. */
#pragma once

#include "core/lib/sky/array.h"
#include "core/stream/uvw.h"

#include <math.h>

#define STATIONS 44
#define CHANNELS 16
#define STEPS 2160
#define SECONDS 10
#define FREQUENCY 150e6
#define BANDWIDTH 195312.5

typedef struct {
  guint64 rows; /* in a step */
  double *uvw;  /* steps x rows x 3, metres, w >= 0 */
  double wavenumbers[CHANNELS];
  gpointer values; /* of a step, the same for all steps */
  double longest;  /* metres */
} Tracks;

/* Takes one in `baselines` baselines and one in `steps` time steps. */
static inline Tracks make_tracks(guint baselines, guint steps, guint products)
{
  g_autoptr(AstroObservation) observation = astro_array_new("lofar-like", STATIONS, NULL, NULL);
  Tracks tracks = { .rows = (STATIONS * (STATIONS - 1) / 2 + baselines - 1) / baselines };
  double uvw[STATIONS][3];
  guint64 row = 0;

  astro_observation_set_start(observation, "2026-11-20T21:00:00", NULL);
  observation->has_phase_centre = TRUE;
  astro_zenith(observation, 3 * 3600 * (gint64)1000000000, observation->positions,
               &observation->phase_ra, &observation->phase_dec);
  for (guint i = 0; i < CHANNELS; i++)
    tracks.wavenumbers[i] =
        (FREQUENCY + BANDWIDTH * ((i + 0.5) / CHANNELS - 0.5)) / ASTRO_LIGHT_SPEED;
  tracks.uvw = g_new(double, 3 * tracks.rows * (STEPS / steps));
  for (guint step = 0; step < STEPS / steps; step++) {
    guint baseline = 0;
    astro_uvw(observation, (gint64)step * steps * SECONDS * 1000000000, uvw[0]);
    for (guint i = 0; i < STATIONS; i++)
      for (guint j = 0; j < i; j++, baseline++) {
        if (baseline % baselines)
          continue;
        double *to = tracks.uvw + 3 * row++, sign = uvw[i][2] < uvw[j][2] ? -1 : 1;
        for (guint k = 0; k < 3; k++)
          to[k] = sign * (uvw[i][k] - uvw[j][k]);
      }
  }
  for (guint64 i = 0; i < row; i++)
    for (guint k = 0; k < 2; k++)
      tracks.longest = MAX(tracks.longest, fabs(tracks.uvw[3 * i + k]));
  gsize n = tracks.rows * CHANNELS * products * 2;
  float *values = g_new(float, n);
  for (gsize i = 0; i < n; i++)
    values[i] = (float)(g_random_double() - 0.5);
  tracks.values = values;
  return tracks;
}

static inline void clear_tracks(Tracks *tracks)
{
  g_free(tracks->uvw);
  g_free(tracks->values);
}
