/* Estimates w(theta). */
#include "core/tpacf/tpacf.h"
#include "core/kit/enum.h"
#include "core/tpacf/left-out.h"

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

typedef struct {
  double dd, dr, rd, rr;
} Shares;

static double landy_szalay(Shares s)
{
  return (s.dd - s.dr - s.rd + s.rr) / s.rr;
}

static double natural(Shares s)
{
  return s.dd / s.rr - 1;
}

static double davis_peebles(Shares s)
{
  return s.dd / s.dr - 1;
}

static double hamilton(Shares s)
{
  return s.dd * s.rr / (s.dr * s.rd) - 1;
}

static const struct {
  const char *name;
  double (*estimate)(Shares shares);
  gboolean needs_dr, needs_rr, divides_by_dr, divides_by_rr;
} estimators[] = {
  [ASTRO_ESTIMATOR_LANDY_SZALAY] = { "landy-szalay", landy_szalay, TRUE, TRUE, FALSE, TRUE },
  [ASTRO_ESTIMATOR_NATURAL] = { "natural", natural, FALSE, TRUE, FALSE, TRUE },
  [ASTRO_ESTIMATOR_DAVIS_PEEBLES] = { "davis-peebles", davis_peebles, TRUE, FALSE, TRUE, FALSE },
  [ASTRO_ESTIMATOR_HAMILTON] = { "hamilton", hamilton, TRUE, TRUE, TRUE, FALSE },
};

static Regions regions_of(const AstroTpacfConfig *config)
{
  return (Regions){ config->n_regions, config->n_bins };
}

enum { DD, DR, RD, RR, N_KINDS };

static double share(const Sum *sum, guint bin)
{
  return sum->counts[bin] / sum->pairs;
}

static double estimate(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint bin)
{
  guint rd = config->rd.counts ? RD : DR;
  Shares shares = { share(&sums[DD], bin), share(&sums[DR], bin), share(&sums[rd], bin),
                    share(&sums[RR], bin) };
  double w = estimators[config->estimator].estimate(shares);
  return isfinite(w) ? w : NAN;
}

static gboolean in_space(const AstroTpacfConfig *config)
{
  return !config->edges;
}

static guint n_rows(const AstroTpacfConfig *config)
{
  return config->n_bins / config->sums->n_columns;
}

static guint n_values(const AstroTpacfConfig *config)
{
  return config->sums ? config->sums->n_sums * n_rows(config) : config->n_bins;
}

/* A column without a share may be undefined. */
static double sum_row(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint value)
{
  const AstroTpacfSums *of = config->sums;
  const guint row = value % n_rows(config), sum = value / n_rows(config);
  double w = 0;
  for (guint column = 0; column < of->n_columns; column++) {
    const double share = of->shares[sum * of->n_columns + column];
    if (share != 0)
      w += share * estimate(config, sums, row * of->n_columns + column);
  }
  return w;
}

static double value_of(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint value)
{
  return config->sums ? sum_row(config, sums, value) : estimate(config, sums, value);
}

/* The first kind that is missing, and its points. With two data catalogues, one random catalogue
 * makes rd or dr, but never rr. */
static const char *missing_kind(const AstroTpacfConfig *config)
{
  const gboolean of_two = config->rd.counts || config->dr.counts;
  if (!config->dd.counts)
    return "dd (of points of the data)";
  if (estimators[config->estimator].needs_dr && !config->dr.counts)
    return of_two ? "dr (of points of pads data and random2)"
                  : "dr (of points of the data with random points)";
  if (estimators[config->estimator].needs_rr && !config->rr.counts)
    return of_two ? "rr (of points of pads random and random2)" : "rr (of random points)";
  return NULL;
}

static gboolean check_kinds(const AstroTpacfConfig *config, GError **error)
{
  const char *missing = missing_kind(config);
  if (!missing)
    return TRUE;
  g_set_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_PAIRS,
              "the estimator %s needs pairs of kind %s, but the histogram has none",
              estimators[config->estimator].name, missing);
  return FALSE;
}

/* A divisor summed from weights of both signs may be anything. */
static gboolean check_signs(const AstroTpacfConfig *config, GError **error)
{
  const AstroEstimator e = config->estimator;
  const struct {
    const char *name;
    const AstroPairs *pairs;
    gboolean divides;
  } kinds[] = { { "dr", &config->dr, estimators[e].divides_by_dr },
                { "rd", &config->rd, estimators[e].divides_by_dr },
                { "rr", &config->rr, estimators[e].divides_by_rr } };
  gsize cells = (gsize)config->n_regions * config->n_regions;
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++)
    for (gsize i = 0; kinds[k].divides && kinds[k].pairs->counts && i < cells * config->n_bins; i++)
      if (kinds[k].pairs->counts[i] < 0) {
        g_set_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_WEIGHTS,
                    "the estimator %s divides by %s, whose weights sum to %g in bin %u: expected "
                    "no negative weights",
                    estimators[e].name, kinds[k].name, kinds[k].pairs->counts[i],
                    (guint)(i % config->n_bins));
        return FALSE;
      }
  return TRUE;
}

/* The values of leave-one-out samples, and how many there are. FALSE: there is no memory. */
static gboolean make_samples(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                             guint n_values, double *samples, guint *n)
{
  const Regions regions = regions_of(config);
  Sum *left[N_KINDS];
  gboolean has_room = TRUE;
  for (guint kind = 0; kind < N_KINDS; kind++) {
    left[kind] = has_room ? sums_left(&regions, kinds[kind]->counts, kinds[kind]->pairs) : NULL;
    has_room = has_room && left[kind];
  }
  for (guint region = 0; has_room && region < config->n_regions; region++) {
    Sum sample[N_KINDS];
    gboolean touched = FALSE;
    for (guint kind = 0; kind < N_KINDS; kind++) {
      sample[kind] = left[kind][region];
      touched |= has_pairs(&regions, kinds[kind]->counts, kinds[kind]->pairs, region);
    }
    for (guint k = 0; k < n_values && touched; k++)
      samples[(gsize)*n * n_values + k] = value_of(config, sample, k);
    *n += touched;
  }
  for (guint kind = 0; kind < N_KINDS; kind++) {
    sums_free(left[kind], left[kind] ? config->n_regions : 0);
    g_free(left[kind]);
  }
  return has_room;
}

/* The covariance of leave-one-out samples; regions without pairs make no samples. FALSE if there is
 * no memory: with very many bins the covariance is far larger than the histogram. */
static gboolean jackknife(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                          AstroTpacfResult *result)
{
  const guint n_bins = result->n_bins;
  const gboolean whole = !in_space(config) || config->sums;
  if (whole && !(result->covariance = g_try_new(double, (gsize)n_bins *n_bins)))
    return FALSE;
  g_autofree double *samples = g_try_new(double, (gsize)config->n_regions *n_bins),
                    *mean = g_try_new0(double, MAX(n_bins, 1));
  if (!samples || !mean || !make_samples(config, kinds, n_bins, samples, &result->n_used))
    return FALSE;
  guint n = result->n_used;
  means_of(samples, n, n_bins, mean);
  for (guint i = 0; i < n_bins; i++) {
    result->error[i] = sqrt(covariance_of(samples, n, n_bins, mean, i, i));
    for (guint j = 0; whole && j < n_bins; j++)
      result->covariance[(gsize)i * n_bins + j] = covariance_of(samples, n, n_bins, mean, i, j);
  }
  return TRUE;
}

static double pairs_in_bin(const AstroTpacfConfig *config, const Sum *dd, guint bin)
{
  const gsize cells = (gsize)config->n_regions * config->n_regions;
  double pairs = 0;
  for (gsize cell = 0; config->dd_numbers && cell < cells; cell++)
    pairs += (double)config->dd_numbers[cell * config->n_bins + bin];
  return config->dd_numbers ? pairs : dd->counts[bin];
}

/* The error of a bin by the number of its pairs. */
static double poisson(double w, double pairs)
{
  return pairs > 0 ? fabs(1 + w) / sqrt(pairs) : NAN;
}

static void set_errors(const AstroTpacfConfig *config, const Sum sums[N_KINDS],
                       AstroTpacfResult *result)
{
  for (guint k = 0; k < result->n_bins; k++) {
    result->pairs[k] = pairs_in_bin(config, &sums[DD], k);
    if (config->n_regions < 2)
      result->error[k] = poisson(result->w[k], result->pairs[k]);
  }
}

static void set_errors_of_sums(const AstroTpacfConfig *config, const Sum sums[N_KINDS],
                               AstroTpacfResult *result)
{
  const AstroTpacfSums *of = config->sums;
  for (guint value = 0; value < result->n_bins; value++) {
    const guint row = value % n_rows(config), sum = value / n_rows(config);
    double variance = 0, all = 0;
    for (guint column = 0; column < of->n_columns; column++) {
      const guint bin = row * of->n_columns + column;
      const double share = of->shares[sum * of->n_columns + column],
                   pairs = share != 0 ? pairs_in_bin(config, &sums[DD], bin) : 0;
      const double error = pairs > 0 ? share * poisson(estimate(config, sums, bin), pairs) : 0;
      variance += error * error;
      all += pairs;
    }
    result->pairs[value] = all;
    if (config->n_regions < 2)
      result->error[value] = all > 0 ? sqrt(variance) : NAN;
  }
}

static double sum_bins(const Sum *sum, guint n_bins)
{
  double all = 0;
  for (guint k = 0; k < n_bins; k++)
    all += sum->counts[k];
  return all;
}

#define MOST_ROUNDS 1000
#define SETTLED 1e-9 /* relative change of the constraint in a round */

static AstroPowerLawBins bins_of(const AstroTpacfResult *result)
{
  return (AstroPowerLawBins){ result->theta, result->w, result->error, result->pairs,
                              result->n_bins };
}

/* sum(rr w) / sum(rr) for the power law that best fits w plus the constraint. */
static gboolean lost_by_fit(const Sum *rr, const AstroTpacfResult *result, double constraint,
                            AstroTpacfResult *raised, double *lost)
{
  AstroPowerLaw law;
  double above = 0, below = 0;
  for (guint k = 0; k < result->n_bins; k++)
    raised->w[k] = result->w[k] + constraint;
  const AstroPowerLawBins bins = bins_of(raised);
  if (!astro_power_law_line(&bins, 0, INFINITY, &law))
    return FALSE;
  for (guint k = 0; k < result->n_bins; k++) {
    above += rr->counts[k] * law.amplitude * pow(result->theta[k], law.slope);
    below += rr->counts[k];
  }
  *lost = above / below;
  return below > 0 && isfinite(*lost);
}

/* The estimated w is too low by C = sum(rr w) / sum(rr), since the mean density is that of the same
 * field. C follows from the power law that best fits w + C; this is iterated, for some 300 rounds
 * if w is nearly flat. If w is flat (points without clustering), every C gives a larger one, and
 * none is added. FALSE: there is no memory. */
static gboolean constrain(const Sum *rr, AstroTpacfResult *result)
{
  /* The errors are those of w without the constraint: otherwise the rounds would not converge. */
  g_autofree double *w = g_try_new(double, MAX(result->n_bins, 1)),
                    *errors = g_try_new(double, MAX(result->n_bins, 1));
  AstroTpacfResult raised = *result;
  const AstroPowerLawBins bins = bins_of(result);
  AstroPowerLaw law;
  double constraint = 0, lost;
  if (!w || !errors)
    return FALSE;
  result->is_unsettled = TRUE;
  raised.w = w;
  raised.error = errors;
  raised.pairs = NULL;
  for (guint k = 0; k < result->n_bins; k++)
    raised.error[k] = astro_power_law_error(&bins, k);
  for (guint round = 0; round < MOST_ROUNDS && result->is_unsettled; round++) {
    if (!lost_by_fit(rr, result, constraint, &raised, &lost))
      break;
    result->is_unsettled = !(fabs(lost - constraint) <= SETTLED * fabs(lost));
    constraint = lost;
  }
  result->is_unsettled = result->is_unsettled || !astro_tpacf_fit(&raised, 0, INFINITY, &law);
  if (result->is_unsettled)
    return TRUE;
  result->constraint = constraint;
  result->constraint_share = sum_bins(rr, result->n_bins) / rr->pairs;
  for (guint k = 0; k < result->n_bins; k++)
    result->w[k] += constraint;
  return TRUE;
}

static const char *kind_without_pairs(const AstroTpacfConfig *config,
                                      const AstroPairs *kinds[N_KINDS], const Sum sums[N_KINDS])
{
  static const char *const names[N_KINDS] = { "dd", "dr", "rd", "rr" };
  const gboolean needs_dr = estimators[config->estimator].needs_dr;
  const gboolean is_needed[N_KINDS] = { TRUE, needs_dr, needs_dr,
                                        estimators[config->estimator].needs_rr };
  for (guint kind = 0; kind < N_KINDS; kind++)
    if (is_needed[kind] && kinds[kind]->counts && sums[kind].pairs == 0)
      return names[kind];
  return NULL;
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
  if (good && config->sums)
    set_errors_of_sums(config, all, result);
  else if (good)
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
