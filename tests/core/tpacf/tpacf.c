/* Estimators and their errors, from counts that need not come from a catalogue. */
#include "core/lib/catalogue/catalogue.h"
#include "core/tpacf/tpacf.h"
#include "tests/tests.h"

#include <malloc.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

enum { BINS = 3, REGIONS = 4 };

/* Counts and pairs from a seed, larger where asked so that w matters. */
typedef struct {
  double counts[REGIONS * REGIONS * BINS], pairs[REGIONS * REGIONS];
} Kind;

static Kind kind_new(guint64 seed, double scale)
{
  Kind kind;
  AstroRandom random;
  astro_random_init(&random, seed, 0);
  for (guint i = 0; i < G_N_ELEMENTS(kind.counts); i++)
    kind.counts[i] = floor(100 * scale * (1 + astro_random_uniform(&random)));
  for (guint i = 0; i < G_N_ELEMENTS(kind.pairs); i++)
    kind.pairs[i] = 1000 + floor(1000 * astro_random_uniform(&random));
  return kind;
}

static const double edges[BINS + 1] = { 1, 4, 9, 25 };

static AstroTpacfConfig config_of(Kind *dd, Kind *dr, Kind *rd, Kind *rr)
{
  AstroTpacfConfig config = { .n_regions = REGIONS, .n_bins = BINS, .edges = edges };
  config.dd = (AstroPairs){ dd->counts, dd->pairs };
  if (dr)
    config.dr = (AstroPairs){ dr->counts, dr->pairs };
  if (rd)
    config.rd = (AstroPairs){ rd->counts, rd->pairs };
  if (rr)
    config.rr = (AstroPairs){ rr->counts, rr->pairs };
  return config;
}

/* The share of a bin with one region left out, by adding up the others. */
static double plain_share(const Kind *kind, guint without, guint bin)
{
  double count = 0, pairs = 0;
  for (guint a = 0; a < REGIONS; a++)
    for (guint b = 0; b < REGIONS; b++)
      if (a != without && b != without) {
        count += kind->counts[(a * REGIONS + b) * BINS + bin];
        pairs += kind->pairs[a * REGIONS + b];
      }
  return count / pairs;
}

static double plain_estimate(AstroEstimator estimator, double dd, double dr, double rd, double rr)
{
  switch (estimator) {
  case ASTRO_ESTIMATOR_LANDY_SZALAY:
    return (dd - dr - rd + rr) / rr;
  case ASTRO_ESTIMATOR_NATURAL:
    return dd / rr - 1;
  case ASTRO_ESTIMATOR_DAVIS_PEEBLES:
    return dd / dr - 1;
  case ASTRO_ESTIMATOR_HAMILTON:
    return dd * rr / (dr * rd) - 1;
  }
  g_assert_not_reached();
}

static void test_estimators(void)
{
  Kind dd = kind_new(1, 3), dr = kind_new(2, 1), rd = kind_new(3, 1.2), rr = kind_new(4, 1);
  for (guint cross = 0; cross < 2; cross++)
    for (AstroEstimator e = 0; e <= ASTRO_ESTIMATOR_HAMILTON; e++) {
      AstroTpacfConfig config = config_of(&dd, &dr, cross ? &rd : NULL, &rr);
      const Kind *other = cross ? &rd : &dr;
      AstroTpacfResult result;
      GError *error = NULL;
      config.estimator = e;
      g_assert_true(astro_tpacf_compute(&config, &result, &error));
      g_assert_no_error(error);
      g_assert_cmpuint(result.n_used, ==, REGIONS);
      g_assert_cmpuint(result.n_undefined, ==, 0);
      double samples[REGIONS + 1][BINS], mean[BINS] = { 0 };
      for (guint without = 0; without <= REGIONS; without++)
        for (guint k = 0; k < BINS; k++) {
          samples[without][k] =
              plain_estimate(e, plain_share(&dd, without, k), plain_share(&dr, without, k),
                             plain_share(other, without, k), plain_share(&rr, without, k));
          mean[k] += without < REGIONS ? samples[without][k] / REGIONS : 0;
        }
      for (guint i = 0; i < BINS; i++) {
        g_assert_cmpfloat_with_epsilon(result.w[i], samples[REGIONS][i], 1e-12);
        g_assert_cmpfloat_with_epsilon(result.theta[i], sqrt(edges[i] * edges[i + 1]), 1e-12);
        for (guint j = 0; j < BINS; j++) {
          double sum = 0;
          for (guint s = 0; s < REGIONS; s++)
            sum += (samples[s][i] - mean[i]) * (samples[s][j] - mean[j]);
          g_assert_cmpfloat_with_epsilon(result.covariance[i * BINS + j],
                                         sum * (REGIONS - 1) / REGIONS, 1e-12);
        }
        g_assert_cmpfloat_with_epsilon(result.error[i], sqrt(result.covariance[i * BINS + i]),
                                       1e-12);
      }
      astro_tpacf_clear(&result);
    }
}

/* The sums of the other regions, when a region with far larger weights is left out. */
static void test_heavy_region(void)
{
  Kind dd = kind_new(1, 1), rr = kind_new(2, 1);
  for (guint a = 0; a < REGIONS; a++)
    for (guint b = 0; b < REGIONS; b++) {
      gsize cell = a * REGIONS + b;
      double factor = a == 0 && b == 0 ? 1e16 : a == 0 || b == 0 ? 1e8 : 1;
      dd.pairs[cell] *= factor;
      for (guint k = 0; k < BINS; k++)
        dd.counts[cell * BINS + k] *= factor;
    }
  AstroTpacfConfig config = config_of(&dd, NULL, NULL, &rr);
  AstroTpacfResult result;
  config.estimator = ASTRO_ESTIMATOR_NATURAL;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  for (guint k = 0; k < BINS; k++) {
    double samples[REGIONS], mean = 0, square = 0;
    for (guint without = 0; without < REGIONS; without++) {
      samples[without] = plain_share(&dd, without, k) / plain_share(&rr, without, k) - 1;
      mean += samples[without] / REGIONS;
    }
    for (guint without = 0; without < REGIONS; without++)
      square += (samples[without] - mean) * (samples[without] - mean);
    g_assert_cmpfloat_with_epsilon(result.error[k], sqrt(square * (REGIONS - 1) / REGIONS), 1e-12);
  }
  astro_tpacf_clear(&result);
}

static void test_missing(void)
{
  Kind dd = kind_new(1, 1), dr = kind_new(2, 1), rr = kind_new(3, 1);
  static const gboolean needs_dr[] = { TRUE, FALSE, TRUE, TRUE },
                        needs_rr[] = { TRUE, TRUE, FALSE, TRUE };
  for (AstroEstimator e = 0; e <= ASTRO_ESTIMATOR_HAMILTON; e++)
    for (guint have = 0; have < 4; have++) {
      AstroTpacfConfig config = config_of(&dd, have & 1 ? &dr : NULL, NULL, have & 2 ? &rr : NULL);
      AstroTpacfResult result;
      GError *error = NULL;
      config.estimator = e;
      gboolean enough = (!needs_dr[e] || have & 1) && (!needs_rr[e] || have & 2);
      g_assert_true(astro_tpacf_compute(&config, &result, &error) == enough);
      if (!enough)
        g_assert_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_PAIRS);
      g_clear_error(&error);
      astro_tpacf_clear(&result);
    }
}

/* One random catalogue gives half of the pairs of two catalogues; the other is missing. */
static void test_missing_of_two(void)
{
  Kind dd = kind_new(1, 1), one = kind_new(2, 1);
  const struct {
    Kind *dr, *rd;
    AstroEstimator estimator;
    const char *says;
  } cases[] = {
    { NULL, &one, ASTRO_ESTIMATOR_LANDY_SZALAY, "dr (of points of pads data and random2)" },
    { NULL, &one, ASTRO_ESTIMATOR_NATURAL, "rr (of points of pads random and random2)" },
    { &one, NULL, ASTRO_ESTIMATOR_HAMILTON, "rr (of points of pads random and random2)" },
    { NULL, NULL, ASTRO_ESTIMATOR_NATURAL, "rr (of random points)" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    AstroTpacfConfig config = config_of(&dd, cases[i].dr, cases[i].rd, NULL);
    AstroTpacfResult result;
    g_autoptr(GError) error = NULL;
    config.estimator = cases[i].estimator;
    g_assert_false(astro_tpacf_compute(&config, &result, &error));
    g_assert_nonnull(strstr(error->message, cases[i].says));
  }
}

static void test_no_randoms_in_a_bin(void)
{
  Kind dd = kind_new(1, 1), dr = kind_new(2, 1), rr = kind_new(3, 1);
  for (guint cell = 0; cell < REGIONS * REGIONS; cell++)
    rr.counts[cell * BINS + 1] = 0;
  AstroTpacfConfig config = config_of(&dd, &dr, NULL, &rr);
  AstroTpacfResult result;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_cmpuint(result.n_undefined, ==, 1);
  g_assert_true(isnan(result.w[1]));
  g_assert_true(isnan(result.error[1]));
  for (guint k = 0; k < BINS; k += 2) {
    g_assert_true(isfinite(result.w[k]));
    g_assert_true(isfinite(result.error[k]));
  }
  astro_tpacf_clear(&result);
}

/* Negative sums of weights are refused if an estimator divides by them, and only then. */
static void test_negative_weights(void)
{
  static const gboolean refused[][4] = { /* dd, dr, rd, rr */
                                         [ASTRO_ESTIMATOR_LANDY_SZALAY] = { 0, 0, 0, 1 },
                                         [ASTRO_ESTIMATOR_NATURAL] = { 0, 0, 0, 1 },
                                         [ASTRO_ESTIMATOR_DAVIS_PEEBLES] = { 0, 1, 1, 0 },
                                         [ASTRO_ESTIMATOR_HAMILTON] = { 0, 1, 1, 0 }
  };
  for (AstroEstimator e = 0; e <= ASTRO_ESTIMATOR_HAMILTON; e++)
    for (guint negative = 0; negative < 4; negative++) {
      Kind kinds[4] = { kind_new(1, 1), kind_new(2, 1), kind_new(3, 1), kind_new(4, 1) };
      AstroTpacfConfig config = config_of(&kinds[0], &kinds[1], &kinds[2], &kinds[3]);
      AstroTpacfResult result;
      GError *error = NULL;
      config.estimator = e;
      kinds[negative].counts[REGIONS * REGIONS * BINS - 1] = -1;
      g_assert_true(astro_tpacf_compute(&config, &result, &error) == !refused[e][negative]);
      if (refused[e][negative])
        g_assert_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_WEIGHTS);
      g_clear_error(&error);
      astro_tpacf_clear(&result);
    }
}

static void test_poisson(void)
{
  Kind dd = kind_new(1, 1), rr = kind_new(3, 1);
  AstroTpacfConfig config = config_of(&dd, NULL, NULL, &rr);
  AstroTpacfResult result;
  config.estimator = ASTRO_ESTIMATOR_NATURAL;
  config.n_regions = 1;
  dd.counts[1] = 0;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_null(result.covariance);
  g_assert_cmpuint(result.n_used, ==, 0);
  g_assert_cmpfloat_with_epsilon(result.error[0], (1 + result.w[0]) / sqrt(dd.counts[0]), 1e-12);
  g_assert_cmpfloat(result.w[1], ==, -1);
  g_assert_true(isnan(result.error[1]));
  astro_tpacf_clear(&result);
  /* sums of weights may cancel, so the number of pairs decides */
  static const guint64 numbers[BINS] = { 25, 4, 1 };
  config.dd_numbers = numbers;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_cmpfloat_with_epsilon(result.error[0], (1 + result.w[0]) / 5, 1e-12);
  g_assert_cmpfloat(result.error[1], ==, 0);
  astro_tpacf_clear(&result);
}

/* An empty region is not a sample. */
static void test_empty_region(void)
{
  Kind dd = kind_new(1, 1), dr = kind_new(2, 1), rr = kind_new(3, 1), *all[] = { &dd, &dr, &rr };
  for (guint kind = 0; kind < 3; kind++)
    for (guint other = 0; other < REGIONS; other++) {
      all[kind]->pairs[2 * REGIONS + other] = all[kind]->pairs[other * REGIONS + 2] = 0;
      for (guint k = 0; k < BINS; k++)
        all[kind]->counts[(2 * REGIONS + other) * BINS + k] =
            all[kind]->counts[(other * REGIONS + 2) * BINS + k] = 0;
    }
  AstroTpacfConfig config = config_of(&dd, &dr, NULL, &rr);
  AstroTpacfResult result;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_cmpuint(result.n_used, ==, REGIONS - 1);
  g_assert_true(isfinite(result.error[0]));
  astro_tpacf_clear(&result);
}

static void test_fit(void)
{
  double theta[] = { 1, 2, 5, 10, 100 }, w[5], sigma[5];
  for (guint k = 0; k < 5; k++) {
    w[k] = 0.3 * pow(theta[k], -0.8);
    sigma[k] = 0.01 * (k + 1);
  }
  w[4] = -1;
  AstroTpacfResult result = { .n_bins = 5, .theta = theta, .w = w, .error = sigma };
  AstroPowerLaw law;
  g_assert_true(astro_tpacf_fit(&result, 0, INFINITY, &law));
  g_assert_cmpfloat_with_epsilon(law.amplitude, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon(law.slope, -0.8, 1e-9);
  g_assert_cmpuint(law.n_used, ==, 4);
  g_assert_false(astro_tpacf_fit(&result, 6, INFINITY, &law));
}

/* Bins without pairs of the data, whose w of 1 only has an error from rounding, and bins with an
 * error of zero do not count; if nothing stands out no power law is reported. */
static void test_fit_of_few(void)
{
  enum { N = 6 };
  double theta[N] = { 1, 2, 4, 8, 16, 32 }, w[N], sigma[N], pairs[N];
  AstroTpacfResult result = { .n_bins = N, .theta = theta, .w = w, .error = sigma, .pairs = pairs };
  AstroPowerLaw law;
  for (guint k = 0; k < N; k++) {
    w[k] = 2 / theta[k];
    sigma[k] = 0.1 * w[k];
    pairs[k] = 1e6;
  }
  w[0] = 1; /* (0 - 0 + rr) / rr */
  sigma[0] = 1e-15;
  pairs[0] = 0;
  w[5] = 0.5;
  sigma[5] = 1e-15;
  pairs[5] = 1;
  g_assert_true(astro_tpacf_fit(&result, 0, INFINITY, &law));
  g_assert_cmpuint(law.n_used, ==, 4);
  g_assert_cmpfloat_with_epsilon(law.amplitude, 2, 1e-9);
  g_assert_cmpfloat_with_epsilon(law.slope, -1, 1e-9);
  g_assert_cmpfloat(law.from, ==, 2);
  g_assert_cmpfloat(law.to, ==, 16);
  /* The jackknife's error is at least the Poisson error: two pairs count no more than that. */
  pairs[1] = 2;
  w[1] = 10;
  sigma[1] = 1;
  g_assert_true(astro_tpacf_fit(&result, 0, INFINITY, &law));
  g_assert_cmpfloat_with_epsilon(law.slope, -1, 0.1);
  for (guint k = 0; k < N; k++) {
    w[k] = k % 2 ? 0.01 : -0.01;
    sigma[k] = 0.02;
    pairs[k] = 1e6;
  }
  g_assert_false(astro_tpacf_fit(&result, 0, INFINITY, &law));
  g_assert_true(isnan(law.amplitude) && isnan(law.slope));
  test_says(law.reason, "0 of 6 bins are above 0 by more than their error");
  for (guint k = 0; k < N; k++)
    w[k] = k < 3 ? 0.022 : 0.001;
  g_assert_false(astro_tpacf_fit(&result, 0, INFINITY, &law));
  test_says(law.reason, "all agree with 0 within their errors");
}

/* A power law lowered by its own mean over the randoms is found. */
static void test_integral_constraint(void)
{
  enum { N = 8 };
  /* So many that the counts determine w. */
  const double all = 1e12;
  double bin_edges[N + 1], rr[N], dd[N], sum_rr = 0, lost = 0;
  for (guint k = 0; k <= N; k++)
    bin_edges[k] = pow(2, k);
  for (guint k = 0; k < N; k++) {
    rr[k] = 1e-5 * all * pow(4, k);
    sum_rr += rr[k];
    lost += rr[k] * 0.5 * pow(sqrt(bin_edges[k] * bin_edges[k + 1]), -0.7);
  }
  lost /= sum_rr;
  for (guint k = 0; k < N; k++)
    dd[k] = rr[k] * (1 + 0.5 * pow(sqrt(bin_edges[k] * bin_edges[k + 1]), -0.7) - lost);
  AstroTpacfConfig config = { .estimator = ASTRO_ESTIMATOR_NATURAL,
                              .integral_constraint = TRUE,
                              .n_regions = 1,
                              .n_bins = N,
                              .edges = bin_edges,
                              .dd = { dd, &all },
                              .rr = { rr, &all } };
  AstroTpacfResult result;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_false(result.is_unsettled);
  g_assert_cmpfloat_with_epsilon(result.constraint, lost, 1e-6 * lost);
  g_assert_cmpfloat_with_epsilon(result.constraint_share, sum_rr / all, 1e-12);
  for (guint k = 0; k < N; k++)
    g_assert_cmpfloat_with_epsilon(result.w[k], 0.5 * pow(result.theta[k], -0.7), 1e-6 * lost);
  astro_tpacf_clear(&result);

  /* As flat as for points without clustering: the correction would grow with every round. */
  for (guint k = 0; k < N; k++)
    dd[k] = rr[k] * (1 + (k % 2 ? 0.05 : 0.04));
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_true(result.is_unsettled);
  g_assert_cmpfloat(result.constraint, ==, 0);
  for (guint k = 0; k < N; k++)
    g_assert_cmpfloat_with_epsilon(result.w[k], k % 2 ? 0.05 : 0.04, 1e-12);
  astro_tpacf_clear(&result);
  for (guint k = 0; k < N; k++)
    dd[k] = rr[k] / 2;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_true(result.is_unsettled);
  astro_tpacf_clear(&result);
  config.estimator = ASTRO_ESTIMATOR_DAVIS_PEEBLES;
  config.dr = config.rr;
  config.rr = (AstroPairs){ NULL, NULL };
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_true(result.is_unsettled);
  astro_tpacf_clear(&result);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Estimates with that many bytes of memory left. */
static gboolean compute_within(gsize bytes, const AstroTpacfConfig *config)
{
  AstroTpacfResult result;
  g_autoptr(GError) error = NULL;
  g_autofree char *pages = NULL;
  struct rlimit before, small;
  g_assert_true(g_file_get_contents("/proc/self/statm", &pages, NULL, NULL));
  getrlimit(RLIMIT_AS, &before);
  small = before;
  small.rlim_cur = g_ascii_strtoull(pages, NULL, 10) * (gsize)sysconf(_SC_PAGESIZE) + bytes;
  setrlimit(RLIMIT_AS, &small);
  const gboolean good = astro_tpacf_compute(config, &result, &error);
  setrlimit(RLIMIT_AS, &before);
  if (good) {
    astro_tpacf_clear(&result);
    return TRUE;
  }
  g_assert_error(error, ASTRO_TPACF_ERROR, ASTRO_TPACF_ERROR_MEMORY);
  test_says(error->message, "of 40000 bins and 3 regions");
  return FALSE;
}

/* Wherever memory runs out, there is an error. Bins are many enough to be mapped one by one. */
static void test_no_memory(void)
{
  enum { MANY = 40000, FEW = 3 };
  const gsize cells = FEW * FEW, step = MANY * sizeof(double) / 2, most = 100 * step;
  g_autofree double *counts = g_new(double, cells *MANY), *pairs = g_new(double, cells);
  mallopt(M_MMAP_THRESHOLD, 64 << 10);
  for (gsize k = 0; k < cells * MANY; k++)
    counts[k] = (double)(1 + k % 7);
  for (gsize k = 0; k < cells; k++)
    pairs[k] = 100;
  const AstroPairs all = { counts, pairs };
  const AstroTpacfConfig config = {
    .n_regions = FEW, .n_bins = MANY, .dd = all, .dr = all, .rr = all
  };
  gsize bytes = step;
  while (bytes < most && !compute_within(bytes, &config))
    bytes += step;
  g_assert_cmpuint(bytes, >, 20 * step);
  g_assert_cmpuint(bytes, <, most);
}
#endif

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tpacf/estimators", test_estimators);
  g_test_add_func("/tpacf/heavy-region", test_heavy_region);
  g_test_add_func("/tpacf/missing", test_missing);
  g_test_add_func("/tpacf/missing-of-two", test_missing_of_two);
  g_test_add_func("/tpacf/no-randoms-in-a-bin", test_no_randoms_in_a_bin);
  g_test_add_func("/tpacf/negative-weights", test_negative_weights);
  g_test_add_func("/tpacf/poisson", test_poisson);
  g_test_add_func("/tpacf/empty-region", test_empty_region);
  g_test_add_func("/tpacf/fit", test_fit);
  g_test_add_func("/tpacf/fit-of-few", test_fit_of_few);
  g_test_add_func("/tpacf/integral-constraint", test_integral_constraint);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  g_test_add_func("/tpacf/no-memory", test_no_memory);
#endif
  return g_test_run();
}
