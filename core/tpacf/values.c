/* Values of w: shares of pairs in an estimator, and the pairs that it needs. */
#include "core/tpacf/values.h"

#include <math.h>

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

Regions regions_of(const AstroTpacfConfig *config)
{
  return (Regions){ config->n_regions, config->n_bins };
}

static double share(const Sum *sum, guint bin)
{
  return sum->counts[bin] / sum->pairs;
}

double estimate(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint bin)
{
  guint rd = config->rd.counts ? RD : DR;
  Shares shares = { share(&sums[DD], bin), share(&sums[DR], bin), share(&sums[rd], bin),
                    share(&sums[RR], bin) };
  double w = estimators[config->estimator].estimate(shares);
  return isfinite(w) ? w : NAN;
}

gboolean in_space(const AstroTpacfConfig *config)
{
  return !config->edges;
}

guint n_rows(const AstroTpacfConfig *config)
{
  return config->n_bins / config->sums->n_columns;
}

guint n_values(const AstroTpacfConfig *config)
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

double value_of(const AstroTpacfConfig *config, const Sum sums[N_KINDS], guint value)
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

gboolean check_kinds(const AstroTpacfConfig *config, GError **error)
{
  const char *missing = missing_kind(config);
  if (!missing)
    return TRUE;
  g_set_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_PAIRS,
              "the estimator %s needs pairs of kind %s, but the histogram has none",
              estimators[config->estimator].name, missing);
  return FALSE;
}

gboolean check_signs(const AstroTpacfConfig *config, GError **error)
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

const char *kind_without_pairs(const AstroTpacfConfig *config, const AstroPairs *kinds[N_KINDS],
                               const Sum sums[N_KINDS])
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
