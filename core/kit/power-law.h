/* The power law that measured values follow. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Values of n bins with their errors. pairs: how many are counted in each, which a value is an
 * excess of; NULL: not told. */
typedef struct {
  const double *x, *y, *error, *pairs;
  guint n;
} AstroPowerLawBins;

typedef struct {
  double amplitude, slope; /* NaN where none is fitted */
  double from, to;         /* x of the first and the last bin it is fitted to */
  guint n_used;            /* bins it is fitted to */
  char reason[128];        /* why none is fitted, as the end of a sentence; empty where one is */
} AstroPowerLaw;

/* The error that a bin is fitted with; NaN where it does not count. */
double astro_power_law_error(const AstroPowerLawBins *bins, guint k);

/* Fits y = amplitude x^slope, weighted by the errors, to bins with low <= x <= high whose x and y
 * are above 0, which have pairs, and an error that counts: not below a tenth of the Poisson error
 * of the pairs, which is the least that a bin is given. FALSE, with a reason, where fewer than
 * three of them stand out by their error, or all values agree with 0. */
gboolean astro_power_law_fit(const AstroPowerLawBins *bins, double low, double high,
                             AstroPowerLaw *law);

/* The same of any two bins, whether or not they stand out. */
gboolean astro_power_law_line(const AstroPowerLawBins *bins, double low, double high,
                              AstroPowerLaw *law);

G_END_DECLS
