/* The coherency of a source by the formulas of doc/conventions.md, written once more for tests. */
#pragma once

#include "core/lib/sky/source.h"
#include "core/stream/uvw.h"
#include <complex.h>
#include <math.h>

/* XX, XY, YX, YY or RR, RL, LR, LL at a frequency; lines are averaged over a width. */
static inline void coherency_of(const AstroSource *source, gboolean is_circular, double reference,
                                double frequency, double width, complex double products[4])
{
  double continuum = pow(frequency / reference, source->spectral_index), emission = 0;
  for (guint i = 0; i < source->n_lines; i++) {
    const AstroSpectralLine *line = &source->lines[i];
    double height = 0;
    enum { STEPS = 100 }; /* of Simpson's rule */
    for (guint k = 0; k <= STEPS; k++) {
      const double x = frequency + ((double)k / STEPS - 0.5) * width - line->frequency;
      const double weight = (k % STEPS == 0 ? 1 : k % 2 ? 4 : 2) / (3.0 * STEPS);
      height += weight * pow(2, -4 * (x / line->width) * (x / line->width));
    }
    if (line->flux > 0)
      emission += line->flux * height;
    else
      continuum *= 1 + line->flux / source->flux * height;
  }
  const double chi = source->rotation_measure * pow(ASTRO_LIGHT_SPEED / frequency, 2);
  const complex double linear = (source->quv[0] + I * source->quv[1]) * cexp(2 * I * chi);
  const double i = source->flux * continuum + emission, q = continuum * creal(linear),
               u = continuum * cimag(linear), v = continuum * source->quv[2];
  products[0] = i + (is_circular ? v : q);
  products[1] = is_circular ? q + I * u : u + I * v;
  products[2] = conj(products[1]);
  products[3] = i - (is_circular ? v : q);
}
