/* Divides gains out of visibilities. */
#pragma once

#include "core/calibrate/check.h"

G_BEGIN_DECLS

/* A station's gains as they are applied: the inverse of its matrix, and what it makes of the noise:
 * the sum of |inverse[a][b]|^2 over b, for each a. Noise of 0: the gain is not known. */
typedef struct {
  complex double inverse[4];
  double noise[2];
} AstroCalibrateInverse;

void astro_calibrate_invert(const AstroGainsAt *at, guint pols, AstroCalibrateInverse *inverse);

/* J_i^-1 V J_j^-H of a baseline, and its counts. Values of unknown gains, or made of lost ones,
 * become 0, with a count of 0. */
void astro_calibrate_correct(const AstroCalibrateInverse *i, const AstroCalibrateInverse *j,
                             gboolean mixes, guint pols, const complex double *from,
                             const double *counts, double count_scale, complex double *to,
                             guint32 *to_counts);

/* Writes n values of a block from number `at` on. */
void astro_calibrate_write(AstroFormat format, gpointer data, gsize at, const complex double *from,
                           guint n);

G_END_DECLS
