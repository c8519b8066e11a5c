/* Fits a power law to measured values. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Values of n bins with their errors. pairs: the pairs counted in each bin, of which y is an
 * excess; NULL if unknown. */
typedef struct {
  const double *x, *y, *error, *pairs;
  guint n;
} AstroPowerLawBins;

typedef struct {
  double amplitude, slope; /* NaN if the fit failed */
  double from, to;         /* x of the first and the last bin used */
  guint n_used;            /* number of bins used */
  char reason[128];        /* why the fit failed, as the end of a sentence; empty if it did not */
} AstroPowerLaw;

/* The error with which a bin is used in the fit; NaN if the bin is not used. */
double astro_power_law_error(const AstroPowerLawBins *bins, guint k);

/* Fits y = amplitude x^slope, weighted by the errors, to bins with low <= x <= high whose x and y
 * are above 0, which have pairs, and whose error is at least a tenth of the Poisson error of the
 * pairs. An error below the Poisson error is raised to it. FALSE, with a reason, if fewer than
 * three bins exceed their error, or all values agree with 0. */
gboolean astro_power_law_fit(const AstroPowerLawBins *bins, double low, double high,
                             AstroPowerLaw *law);

/* The same for any two or more bins, whether or not they exceed their errors. */
gboolean astro_power_law_line(const AstroPowerLawBins *bins, double low, double high,
                              AstroPowerLaw *law);

G_END_DECLS
