/* The distribution of the generalised spectral kurtosis of Gaussian noise.
 *
 * Its central moments are exact, for one sample of complex noise per power (Nita and Gary 2010 with
 * N = 1, d = 1): moments of (sum p^2) over those of (sum p)^2, which are independent of the
 * quotient. Limits are quantiles of the distribution of Pearson's family that has these first four
 * moments. It is integrated from Pearson's differential equation, which is the same for all its
 * types. Both tails are right within a per cent from 1024 samples on. Below, the upper one still
 * is, and the lower one has fewer false alarms than asked for: at 64 samples about half. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

typedef struct {
  double variance, third, fourth; /* central moments; the mean is 1 */
} AstroFlagMoments;

AstroFlagMoments astro_flag_moments(double samples);

typedef struct {
  double low, high; /* noise lies below and above with the same probability */
} AstroFlagLimits;

AstroFlagLimits astro_flag_limits(double samples, double false_alarm);

/* Limits for any number of samples, made when they are first asked for. Between nodes, which are
 * close, they are interpolated. Not thread-safe. */
typedef struct AstroFlagLimitTable AstroFlagLimitTable;
AstroFlagLimitTable *astro_flag_limit_table_new(double false_alarm);
void astro_flag_limit_table_free(AstroFlagLimitTable *table);
AstroFlagLimits astro_flag_limit_table_find(AstroFlagLimitTable *table, guint32 samples);

G_END_DECLS
