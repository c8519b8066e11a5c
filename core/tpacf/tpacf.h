/* The angular correlation function w(theta) from counts of pairs, with jackknife errors. */
#pragma once

#include "core/kit/power-law.h"

#include <glib-object.h>

G_BEGIN_DECLS

#define ASTRO_TPACF_ERROR astro_tpacf_error_quark()
typedef enum {
  ASTRO_TPACF_ERROR_PAIRS,
  ASTRO_TPACF_ERROR_WEIGHTS,
  ASTRO_TPACF_ERROR_MEMORY,
} AstroTpacfError;
GQuark astro_tpacf_error_quark(void);
/* FALSE and an error that names the sizes. */
gboolean astro_tpacf_no_memory(GError **error, guint bins, guint regions);

/* dd, dr, rr are counts divided by the pairs there are; rd is dr where one catalogue is meant. */
typedef enum {
  ASTRO_ESTIMATOR_LANDY_SZALAY,  /* (dd - dr - rd + rr) / rr */
  ASTRO_ESTIMATOR_NATURAL,       /* dd / rr - 1 */
  ASTRO_ESTIMATOR_DAVIS_PEEBLES, /* dd / dr - 1 */
  ASTRO_ESTIMATOR_HAMILTON,      /* dd rr / (dr rd) - 1 */
} AstroEstimator;
#define ASTRO_TYPE_ESTIMATOR astro_estimator_get_type()
GType astro_estimator_get_type(void);

/* Pairs of one kind by regions: counts, or sums of products of weights, in [region][region][bin],
 * and in [region][region] the pairs, or sums, at any separation. Sums over several random
 * catalogues are fine. counts NULL: there are none of this kind. */
typedef struct {
  const double *counts;
  const double *pairs;
} AstroPairs;

typedef struct {
  AstroEstimator estimator;
  gboolean integral_constraint;
  guint n_regions; /* 1: no jackknife */
  guint n_bins;
  const double *edges;       /* n_bins + 1 */
  AstroPairs dd, dr, rd, rr; /* rd may be none: dr then stands for both */
  /* How many pairs are behind dd's sums of weights, alike; NULL: dd holds counts. */
  const guint64 *dd_numbers;
} AstroTpacfConfig;

/* What cannot be told is NaN. errors: from the jackknife (the square roots of the covariance's
 * diagonal), without regions those of Poisson counts, (1 + w) / sqrt(DD); NaN in bins that have
 * none. */
typedef struct {
  guint n_bins, n_used; /* n_used: leave-one-out samples behind the covariance, 0 for none */
  guint n_undefined;    /* bins whose w is NaN since a divisor is 0 */
  /* NULL, or why that is so of all bins: a kind of which there are no pairs, or none that weigh
   * anything. */
  const char *kind_without_pairs;
  /* NULL, or points that have pairs, of which none is as near as the bins are wide, though others
   * are: they lie in different parts of the sky. Completes "no point of". */
  const char *apart;
  double *theta; /* geometric middles; of a bin that begins at 0, the middle */
  double *w, *error;
  double *pairs;      /* of the data in each bin, not their weights; NULL: not told */
  double *covariance; /* n_bins x n_bins; NULL without regions */
  double constraint;  /* added to w where the integral constraint is asked for */
  /* Of the random pairs there are, those in the bins: the constraint is their mean. It is too large
   * where others are wider. */
  double constraint_share;
  /* It was asked for and is not added: there are no random pairs, or w is no power law that tells
   * it. */
  gboolean is_unsettled;
} AstroTpacfResult;

/* Weights may be negative where the estimator does not divide by their sums. */
gboolean astro_tpacf_compute(const AstroTpacfConfig *config, AstroTpacfResult *result,
                             GError **error);
void astro_tpacf_clear(AstroTpacfResult *result);

/* Fits w = amplitude theta^slope to bins within the range. FALSE where w does not tell one. */
gboolean astro_tpacf_fit(const AstroTpacfResult *result, double min_theta, double max_theta,
                         AstroPowerLaw *law);

G_END_DECLS
