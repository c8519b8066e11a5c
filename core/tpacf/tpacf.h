/* Correlation functions from counts of pairs, with jackknife errors: w(theta) of pairs by angle,
 * and xi in bins of (s, mu) or (rp, pi) of pairs in space, or sums of xi over mu or pi. */
#pragma once

#include "core/kit/power-law.h"
#include "core/stream/pair-fields.h"
#include "core/tpacf/sums.h"

#include <glib-object.h>

G_BEGIN_DECLS

#define ASTRO_TPACF_ERROR astro_tpacf_error_quark()
typedef enum {
  ASTRO_TPACF_ERROR_PAIRS,
  ASTRO_TPACF_ERROR_WEIGHTS,
  ASTRO_TPACF_ERROR_MEMORY,
  ASTRO_TPACF_ERROR_STATISTIC,
} AstroTpacfError;
GQuark astro_tpacf_error_quark(void);
/* FALSE, with an error that names the sizes. */
gboolean astro_tpacf_no_memory(GError **error, guint bins, guint regions);

/* dd, dr, rr are counts divided by the total number of pairs; with only one catalogue rd is dr. */
typedef enum {
  ASTRO_ESTIMATOR_LANDY_SZALAY,  /* (dd - dr - rd + rr) / rr */
  ASTRO_ESTIMATOR_NATURAL,       /* dd / rr - 1 */
  ASTRO_ESTIMATOR_DAVIS_PEEBLES, /* dd / dr - 1 */
  ASTRO_ESTIMATOR_HAMILTON,      /* dd rr / (dr rd) - 1 */
} AstroEstimator;
#define ASTRO_TYPE_ESTIMATOR astro_estimator_get_type()
GType astro_estimator_get_type(void);

/* Pairs of one kind by region: counts, or sums of products of weights, in [region][region][bin];
 * and in [region][region] the total number of pairs at any separation, or their sum. They may be
 * summed over several random catalogues. counts NULL: there are no pairs of this kind. */
typedef struct {
  const double *counts;
  const double *pairs;
} AstroPairs;

typedef struct {
  AstroPairFields fields; /* other than none: see fields-table.h; the estimator is not looked at */
  AstroEstimator estimator;
  gboolean integral_constraint;
  guint n_regions;     /* 1: no jackknife */
  guint n_bins;        /* in space those of all rows and columns */
  const double *edges; /* n_bins + 1; NULL: pairs in space */
  /* In space: what is made of the bins, [sum][row]; NULL: each is a value of its own, and has no
   * covariance with others, as there may be thousands. */
  const AstroTpacfSums *sums;
  AstroPairs dd, dr, rd, rr; /* rd may be missing: then dr is used for both */
  /* The numbers of pairs behind dd's sums of weights, in the same order; NULL: dd has counts. */
  const guint64 *dd_numbers;
} AstroTpacfConfig;

/* Undefined values are NaN. error: with regions from the jackknife (square roots of the
 * covariance's diagonal), else of Poisson counts, (1 + w) / sqrt(DD); NaN for bins without pairs.
 * In a sum of bins those without pairs of the data add no error. */
typedef struct {
  /* n_bins: of values, which are bins, or sums of bins. */
  guint n_bins, n_used; /* n_used: number of leave-one-out samples for the covariance; 0: none */
  guint n_undefined;    /* bins whose w is NaN because a divisor is 0 */
  /* NULL, or a kind of pairs that makes all bins undefined, because it has no pairs, or only pairs
   * of weight 0. */
  const char *kind_without_pairs;
  /* NULL, or the two sets of points that have pairs, but none as close as the bins, although other
   * sets have such pairs: they are in different parts of the sky. Completes "no point of". */
  const char *apart;
  double *theta; /* geometric middles; for a bin that begins at 0, the middle */
  double *w, *error;
  double *pairs; /* number of pairs of the data in each bin, not their weights; NULL: unknown */
  double *covariance; /* n_bins x n_bins; NULL without regions, and for bins in space */
  double constraint;  /* added to w if the integral constraint was requested */
  /* The share of random pairs that are in the bins: the constraint is their mean, and too large if
   * many pairs are wider. */
  double constraint_share;
  /* The constraint was requested but not added: there are no random pairs, or w is not a power law
   * from which it follows. */
  gboolean is_unsettled;
} AstroTpacfResult;

/* Weights may be negative if the estimator does not divide by their sums. */
gboolean astro_tpacf_compute(const AstroTpacfConfig *config, AstroTpacfResult *result,
                             GError **error);
void astro_tpacf_clear(AstroTpacfResult *result);

/* Fits w = amplitude theta^slope to bins within the range. FALSE if the fit fails. */
gboolean astro_tpacf_fit(const AstroTpacfResult *result, double min_theta, double max_theta,
                         AstroPowerLaw *law);

G_END_DECLS
