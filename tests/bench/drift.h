/* Rows of visibilities of an array with random places, while the sky rotates by a quarter circle.
 */
#pragma once

#include "core/gridder/gridder.h"
#include "core/stream/uvw.h"

#include <math.h>

typedef struct {
  guint stations, dumps, channels;
  double radius;                /* metres: most stations are near the middle */
  double latitude, declination; /* radians */
  double frequency, bandwidth;  /* Hz: lower end of the first channel; width of all */
} Drift;

static inline gsize drift_rows(const Drift *drift)
{
  return (gsize)drift->dumps * drift->stations * (drift->stations - 1) / 2;
}

/* x, y, z of each station, in the frame of hour angles. */
static inline double *drift_stations(const Drift *drift)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(1);
  double *stations = g_new(double, 3 * drift->stations);
  for (guint i = 0; i < drift->stations; i++) {
    const double r = drift->radius * pow(g_rand_double(random), 1.5),
                 angle = g_rand_double(random) * 2 * G_PI;
    const double east = r * cos(angle), north = r * sin(angle);
    stations[3 * i] = -north * sin(drift->latitude);
    stations[3 * i + 1] = east;
    stations[3 * i + 2] = north * cos(drift->latitude);
  }
  return stations;
}

/* Rows without values, with those of negative w reversed; longest: in wavelengths. */
static inline AstroGridRows make_drift(const Drift *drift, double *longest)
{
  g_autofree double *stations = drift_stations(drift);
  double *uvw = g_new(double, 3 * drift_rows(drift)), *at = uvw;
  double *wavenumbers = g_new(double, drift->channels);
  *longest = 0;
  for (guint d = 0; d < drift->dumps; d++) {
    const double angle = (d / (double)drift->dumps - 0.5) * G_PI / 2;
    for (guint i = 1; i < drift->stations; i++)
      for (guint j = 0; j < i; j++, at += 3) {
        const double *a = stations + 3 * i, *b = stations + 3 * j;
        const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
        const double along = x * cos(angle) - y * sin(angle);
        at[0] = x * sin(angle) + y * cos(angle);
        at[1] = z * cos(drift->declination) - along * sin(drift->declination);
        at[2] = z * sin(drift->declination) + along * cos(drift->declination);
        *longest = MAX(*longest, hypot(hypot(x, y), z));
        for (guint k = 0; at[2] < 0 && k < 2; k++)
          at[k] = -at[k];
        at[2] = fabs(at[2]);
      }
  }
  for (guint c = 0; c < drift->channels; c++)
    wavenumbers[c] =
        (drift->frequency + drift->bandwidth * (c + 0.5) / drift->channels) / ASTRO_LIGHT_SPEED;
  *longest *= wavenumbers[drift->channels - 1];
  return (AstroGridRows){
    .rows = drift_rows(drift), .channels = drift->channels, .uvw = uvw, .wavenumbers = wavenumbers
  };
}

static inline void clear_drift(AstroGridRows *rows)
{
  g_free((gpointer)rows->uvw);
  g_free((gpointer)rows->wavenumbers);
}
