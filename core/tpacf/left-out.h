/* Sums over regions of the sky, of all and without each of them, for the jackknife. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* How sums are ordered: [region][region][bin]. */
typedef struct {
  guint n_regions, n_bins;
} Regions;

/* A sum over all regions, or over those without one. */
typedef struct {
  double *counts; /* n_bins */
  double pairs;
} Sum;

/* n sums of 0. FALSE: there is no memory; they may be freed all the same. */
gboolean sums_init(Sum *sums, guint n, guint n_bins);
void sums_free(Sum *sums, guint n); /* what they hold */

/* Adds all of counts [region][region][bin] and pairs [region][region]; counts may be NULL. */
void sum_all(const Regions *regions, const double *counts, const double *pairs, Sum *sum);
double sum_bins(const Sum *sum, guint n_bins);
/* The sums without each of the regions: n_regions of them, to be freed with what they hold. Always
 * added up, never the whole less a part. NULL: there is no memory. */
Sum *sums_left(const Regions *regions, const double *counts, const double *pairs);
/* Whether a region has any pairs. */
gboolean has_pairs(const Regions *regions, const double *counts, const double *pairs, guint region);

/* For leave-one-out samples [sample][value]; NaN for fewer than two. */
double covariance_of(const double *samples, guint n, guint n_values, const double *mean, guint i,
                     guint j);
void means_of(const double *samples, guint n, guint n_values, double *means);

G_END_DECLS
