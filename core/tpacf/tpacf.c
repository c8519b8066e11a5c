/* Estimates w(theta). */
#include "core/tpacf/tpacf.h"
#include "core/kit/enum.h"
#include "core/tpacf/constraint.h"
#include "core/tpacf/errors.h"

#include <math.h>

G_DEFINE_QUARK(astro_tpacf_error, astro_tpacf_error)

ASTRO_ENUM_TYPE(astro_estimator_get_type, "AstroEstimator",
                { ASTRO_ESTIMATOR_LANDY_SZALAY, "(DD - 2 DR + RR) / RR", "landy-szalay" },
                { ASTRO_ESTIMATOR_NATURAL, "DD / RR - 1", "natural" },
                { ASTRO_ESTIMATOR_DAVIS_PEEBLES, "DD / DR - 1", "davis-peebles" },
                { ASTRO_ESTIMATOR_HAMILTON, "DD RR / DR^2 - 1", "hamilton" })

gboolean astro_tpacf_no_memory(GError **error, guint bins, guint regions)
{
  g_set_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_MEMORY,
              "no memory for the correlation function of %u bins and %u regions", bins, regions);
  return FALSE;
}

#define MORE_THAN_CHANCE 10 /* expected number of pairs in the bins */

/* Finds a kind of which no bin has pairs, although there should be many, judging by the share of
 * random pairs in the bins (or of another kind if there are none). Sums of weights have no such
 * scale. */
static const char *find_apart(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                              const Sum sums[N_KINDS])
{
  static const char *const of_one[N_KINDS] = { [DR] = "the data lies near a random one" };
  static const char *const of_two[N_KINDS] = { "pad data lies near one of pad data2",
                                               "pad data lies near one of pad random2",
                                               "pad random lies near one of pad data2",
                                               "pad random lies near one of pad random2" };
  const char *const *texts = config->rd.counts ? of_two : of_one;
  const double least = config->dd_numbers ? 0 : MORE_THAN_CHANCE;
  static const guint by_trust[] = { RR, DR, RD, DD };
  double share_there = 0;
  for (guint i = 0; i < N_KINDS && !(share_there > 0); i++)
    if (sums[by_trust[i]].pairs > 0)
      share_there = sum_bins(&sums[by_trust[i]], config->n_bins) / sums[by_trust[i]].pairs;
  for (guint kind = 0; kind < N_KINDS; kind++)
    if (texts[kind] && kinds[kind]->counts && sum_bins(&sums[kind], config->n_bins) == 0 &&
        share_there * sums[kind].pairs > least)
      return texts[kind];
  return NULL;
}

/* FALSE: there is no memory; the result is to be cleared all the same. */
static gboolean make_room(const AstroTpacfConfig *config, AstroTpacfResult *result)
{
  const guint n = MAX(result->n_bins, 1);
  return (in_space(config) || (result->theta = g_try_new(double, MAX(config->n_bins, 1)))) &&
         (result->w = g_try_new(double, n)) && (result->error = g_try_new(double, n)) &&
         (result->pairs = g_try_new(double, n));
}

/* All but the errors. */
static void set_values(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                       Sum all[N_KINDS], AstroTpacfResult *result)
{
  const Regions regions = regions_of(config);
  for (guint kind = 0; kind < N_KINDS; kind++)
    sum_all(&regions, kinds[kind]->counts, kinds[kind]->pairs, &all[kind]);
  result->kind_without_pairs = kind_without_pairs(config, kinds, all);
  result->apart = find_apart(config, kinds, all);
  for (guint k = 0; k < config->n_bins && !in_space(config); k++) {
    double low = config->edges[k], high = config->edges[k + 1];
    result->theta[k] = low > 0 ? sqrt(low * high) : high / 2;
  }
  for (guint k = 0; k < result->n_bins; k++) {
    result->w[k] = value_of(config, all, k);
    result->n_undefined += isnan(result->w[k]);
  }
}

gboolean astro_tpacf_compute(const AstroTpacfConfig *config, AstroTpacfResult *result,
                             GError **error)
{
  *result = (AstroTpacfResult){ 0 };
  if (!check_kinds(config, error) || !check_signs(config, error))
    return FALSE;
  const AstroPairs *kinds[N_KINDS] = { &config->dd, &config->dr, &config->rd, &config->rr };
  guint n_bins = config->n_bins;
  Sum all[N_KINDS];
  result->n_bins = n_values(config);
  gboolean good = sums_init(all, N_KINDS, n_bins) && make_room(config, result);
  if (good)
    set_values(config, kinds, all, result);
  good = good && (config->n_regions < 2 || jackknife(config, kinds, result));
  if (good)
    set_errors(config, all, result);
  if (config->integral_constraint)
    good = good && constrain(&all[RR], result);
  sums_free(all, N_KINDS);
  if (good)
    return TRUE;
  astro_tpacf_clear(result);
  return astro_tpacf_no_memory(error, n_bins, config->n_regions);
}

void astro_tpacf_clear(AstroTpacfResult *result)
{
  g_clear_pointer(&result->theta, g_free);
  g_clear_pointer(&result->w, g_free);
  g_clear_pointer(&result->error, g_free);
  g_clear_pointer(&result->pairs, g_free);
  g_clear_pointer(&result->covariance, g_free);
}

gboolean astro_tpacf_fit(const AstroTpacfResult *result, double min_theta, double max_theta,
                         AstroPowerLaw *law)
{
  const AstroPowerLawBins bins = bins_of(result);
  return astro_power_law_fit(&bins, min_theta, max_theta, law);
}
