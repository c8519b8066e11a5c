/* Shared by tests of the voltage simulator: spectra of what it makes, and visibilities of them. */
#pragma once

#include "tests/core/lib/sky/voltages.h"

#include <complex.h>

/* In place, forward; a power of two. */
static inline void transform(double complex *x, guint n)
{
  for (guint i = 0, j = 0; i < n; i++) {
    if (i < j) {
      double complex t = x[i];
      x[i] = x[j];
      x[j] = t;
    }
    guint bit = n >> 1;
    for (; bit && (j & bit); bit >>= 1)
      j ^= bit;
    j |= bit;
  }
  for (guint half = 1; half < n; half *= 2)
    for (guint k = 0; k < half; k++) {
      double complex turn = cexp(-I * G_PI * k / half);
      for (guint i = k; i < n; i += 2 * half) {
        double complex odd = turn * x[i + half];
        x[i + half] = x[i] - odd;
        x[i] += odd;
      }
    }
}

/* The delay of source between two stations in seconds, from (u,v,w) alone. */
static inline double delay_between(const AstroObservation *observation, const AstroSource *source,
                                   guint a, guint b, gint64 ns)
{
  g_autofree double *uvw = g_new(double, 3 * observation->n_stations);
  double sum = 0;
  astro_uvw(observation, ns, uvw);
  for (guint k = 0; k < 3; k++)
    sum += (uvw[3 * a + k] - uvw[3 * b + k]) * source->lmn[k];
  return sum / ASTRO_LIGHT_SPEED;
}

typedef struct {
  guint stations, channels, segments; /* stations: inputs, if there are two polarisations */
  double complex *spectra;            /* segment, station, channel */
} Spectra;

static inline void make_spectra(AstroVoltages *voltages, Spectra *out)
{
  guint n = out->channels, steps = out->segments * n;
  g_autofree float complex *data = g_new(float complex, (gsize)steps * out->stations);
  astro_voltages_fill(voltages, 0, steps, data);
  out->spectra = g_new(double complex, (gsize)steps * out->stations);
  for (guint s = 0; s < out->segments; s++)
    for (guint i = 0; i < out->stations; i++) {
      double complex *x = &out->spectra[((gsize)s * out->stations + i) * n];
      for (guint k = 0; k < n; k++)
        x[k] = data[(gsize)i * steps + s * n + k] / sqrt(n);
      transform(x, n);
    }
}

static inline double complex visibility(const Spectra *spectra, guint a, guint b, guint channel)
{
  double complex sum = 0;
  for (guint s = 0; s < spectra->segments; s++) {
    const double complex *x = &spectra->spectra[(gsize)s * spectra->stations * spectra->channels];
    sum += x[a * spectra->channels + channel] * conj(x[b * spectra->channels + channel]);
  }
  return sum / spectra->segments;
}
