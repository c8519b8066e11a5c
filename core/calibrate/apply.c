/* Inverts gains, and corrects visibilities and their counts. */
#include "config.h"
#include "core/calibrate/apply.h"

#include <math.h>

#include "core/calibrate/complex.h"
#include "core/calibrate/solve.h"

void astro_calibrate_invert(const AstroGainsAt *at, guint pols, AstroCalibrateInverse *inverse)
{
  const complex double *j = at->jones;
  *inverse = (AstroCalibrateInverse){ 0 };
  if (j[1] != 0 || j[2] != 0) {
    if (!at->has[0] || !at->has[1] || !astro_jones_invert(j, inverse->inverse))
      return;
  } else {
    for (guint p = 0; p < pols; p++)
      inverse->inverse[3 * p] = at->has[p] && j[3 * p] != 0 ? 1 / j[3 * p] : 0;
  }
  for (guint a = 0; a < 2; a++)
    inverse->noise[a] =
        astro_power(inverse->inverse[2 * a]) + astro_power(inverse->inverse[2 * a + 1]);
}

/* A count of at least 1 stays at least 1: what is good stays so. */
static guint32 round_count(double count)
{
  return count >= (double)G_MAXUINT32 ? G_MAXUINT32 : count < 1 ? 1 : (guint32)(count + 0.5);
}

/* With matrices every product is made of all four. */
static double count_behind(const double *counts, guint product, gboolean mixes, guint products)
{
  double least = counts[product];
  for (guint k = 0; mixes && k < products; k++)
    least = MIN(least, counts[k]);
  return least;
}

void astro_calibrate_correct(const AstroCalibrateInverse *i, const AstroCalibrateInverse *j,
                             gboolean mixes, guint pols, const complex double *from,
                             const double *counts, double count_scale, complex double *to,
                             guint32 *to_counts)
{
  complex double corrected[4], half[4];
  if (mixes) {
    astro_jones_multiply(i->inverse, from, half);
    astro_jones_multiply_adjoint(half, j->inverse, corrected);
  } else {
    for (guint a = 0; a < pols; a++)
      for (guint b = 0; b < pols; b++)
        corrected[a * pols + b] =
            astro_times_conj(astro_times(i->inverse[3 * a], from[a * pols + b]), j->inverse[3 * b]);
  }
  for (guint a = 0; a < pols; a++)
    for (guint b = 0; b < pols; b++) {
      const guint product = a * pols + b;
      const double noise = i->noise[a] * j->noise[b],
                   count = count_behind(counts, product, mixes, pols * pols);
      const gboolean good = noise > 0 && isfinite(noise) && count > 0;
      to[product] = good ? corrected[product] : 0;
      to_counts[product] = good ? round_count(count * count_scale / noise) : 0;
    }
}

void astro_calibrate_write(AstroFormat format, gpointer data, gsize at, const complex double *from,
                           guint n)
{
  for (guint k = 0; k < n; k++, at++)
    if (format == ASTRO_FORMAT_CF64LE) {
      double *to = (double *)data + 2 * at;
      to[0] = creal(from[k]);
      to[1] = cimag(from[k]);
    } else {
      float *to = (float *)data + 2 * at;
      to[0] = (float)creal(from[k]);
      to[1] = (float)cimag(from[k]);
    }
}
