#include "core/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "core/tpacf/tpacf.h"
#include "tests/tests.h"

#include <math.h>

enum { BINS = 3, REGIONS = 4 };

/* Counts and pairs that a seed makes, larger where asked so that w has a say. */
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

/* The share of a bin with one region left out, by adding up what stays. */
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

/* What the others sum up to without a region whose weights are far larger. */
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

/* Sums of weights below 0 are refused where an estimator divides by them, and nowhere else. */
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
  /* of sums of weights, which may cancel, the number of pairs tells */
  static const guint64 numbers[BINS] = { 25, 4, 1 };
  config.dd_numbers = numbers;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_cmpfloat_with_epsilon(result.error[0], (1 + result.w[0]) / 5, 1e-12);
  g_assert_cmpfloat(result.error[1], ==, 0);
  astro_tpacf_clear(&result);
}

/* A region that nothing lies in is no sample. */
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
  double amplitude, slope;
  g_assert_true(astro_tpacf_fit(&result, 0, INFINITY, &amplitude, &slope));
  g_assert_cmpfloat_with_epsilon(amplitude, 0.3, 1e-9);
  g_assert_cmpfloat_with_epsilon(slope, -0.8, 1e-9);
  g_assert_false(astro_tpacf_fit(&result, 6, INFINITY, &amplitude, &slope));
}

/* A power law lowered by its own mean over the randoms comes back. */
static void test_integral_constraint(void)
{
  enum { N = 8 };
  double bin_edges[N + 1], rr[N], dd[N], one = 1, sum_rr = 0, lost = 0;
  for (guint k = 0; k <= N; k++)
    bin_edges[k] = pow(2, k);
  for (guint k = 0; k < N; k++) {
    rr[k] = 1e-5 * pow(4, k);
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
                              .dd = { dd, &one },
                              .rr = { rr, &one } };
  AstroTpacfResult result;
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  g_assert_false(result.is_unsettled);
  g_assert_cmpfloat_with_epsilon(result.constraint, lost, 1e-6 * lost);
  for (guint k = 0; k < N; k++)
    g_assert_cmpfloat_with_epsilon(result.w[k], 0.5 * pow(result.theta[k], -0.7), 1e-6 * lost);
  astro_tpacf_clear(&result);

  /* As flat as that of points without clustering: what is added would grow with every round. */
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

/* Counts of one kind for catalogues in regions, and the pairs that regions make. */
static void count_kind(const AstroHistogramConfig *config, AstroPoints *a, AstroPoints *b,
                       const guint64 *in_a, const guint64 *in_b, double *counts, double *pairs)
{
  const char *variant;
  guint regions = astro_histogram_regions(config);
  gsize values = astro_histogram_values(config);
  gpointer counter = astro_histogram_cpu.create(config, NULL, &variant, NULL);
  guint64 *found = g_new(guint64, values);
  AstroBlock in[2] = { { a, 0 }, { b, 0 } }, out = { found, values * sizeof *found };
  g_assert_true(astro_histogram_cpu.submit(counter, in, b ? 2 : 1, &out, 1, NULL, NULL));
  for (gsize i = 0; i < values; i++)
    counts[i] = (double)found[i];
  for (guint i = 0; i < regions; i++)
    for (guint j = 0; j < regions; j++) {
      double x = (double)in_a[i], y = (double)in_b[j];
      pairs[i * regions + j] = b ? x * y : i < j ? x * y : i == j ? x * (x - 1) / 2 : 0;
    }
  astro_histogram_cpu.destroy(counter);
  g_free(found);
}

static AstroPoints *in_regions(const AstroRegions *regions, guint n_regions,
                               const AstroCatalogue *catalogue, guint64 *counts)
{
  double *region = g_new(double, catalogue->n);
  memset(counts, 0, n_regions * sizeof *counts);
  for (guint64 i = 0; i < catalogue->n; i++) {
    region[i] = astro_regions_find(regions, catalogue->ra[i], catalogue->dec[i]);
    counts[(guint)region[i]]++;
  }
  AstroPoints *points = astro_points_new(catalogue->ra, catalogue->dec, NULL, region, catalogue->n,
                                         n_regions, 0, NULL);
  g_free(region);
  return points;
}

enum { MOCK_REGIONS = 25 };

/* The randoms, their regions and their counts, shared by mocks of one footprint. */
typedef struct {
  AstroFootprint band;
  AstroHistogramConfig config;
  AstroCatalogue random;
  AstroRegions *regions;
  AstroPoints *points;
  guint64 in_regions[MOCK_REGIONS];
  double *dd, *dr, *rr, pairs[3][MOCK_REGIONS * MOCK_REGIONS];
} Survey;

static void survey_init(Survey *survey, guint64 n_random)
{
  *survey = (Survey){ .band = { ASTRO_FOOTPRINT_BAND, .ra_max = 60, .dec_min = -20, .dec_max = 20 },
                      .config = { .n_regions = MOCK_REGIONS } };
  AstroRandom random;
  astro_random_init(&random, 99, 0);
  g_assert_true(astro_histogram_edges_per_decade(&survey->config, 1, 100, 3, NULL));
  g_assert_true(astro_catalogue_uniform(&survey->band, n_random, &random, &survey->random, NULL));
  survey->regions =
      astro_regions_new(survey->random.ra, survey->random.dec, n_random, MOCK_REGIONS, NULL);
  survey->points = in_regions(survey->regions, MOCK_REGIONS, &survey->random, survey->in_regions);
  gsize values = astro_histogram_values(&survey->config);
  survey->dd = g_new(double, values);
  survey->dr = g_new(double, values);
  survey->rr = g_new(double, values);
  count_kind(&survey->config, survey->points, NULL, survey->in_regions, survey->in_regions,
             survey->rr, survey->pairs[2]);
}

static void survey_clear(Survey *survey)
{
  astro_catalogue_clear(&survey->random);
  astro_regions_free(survey->regions);
  astro_points_free(survey->points);
  g_free(survey->dd);
  g_free(survey->dr);
  g_free(survey->rr);
}

static void survey_mock(Survey *survey, const AstroClustering *clustering, guint64 n, guint64 index,
                        AstroTpacfResult *result)
{
  AstroCatalogue data;
  AstroRandom random;
  guint64 in_data[MOCK_REGIONS];
  astro_random_init(&random, 7, index);
  g_assert_true(astro_catalogue_clustered(&survey->band, clustering, n, &random, &data, NULL));
  g_autoptr(AstroPoints) points = in_regions(survey->regions, MOCK_REGIONS, &data, in_data);
  count_kind(&survey->config, points, NULL, in_data, in_data, survey->dd, survey->pairs[0]);
  count_kind(&survey->config, points, survey->points, in_data, survey->in_regions, survey->dr,
             survey->pairs[1]);
  AstroTpacfConfig tpacf = { .n_regions = MOCK_REGIONS,
                             .n_bins = survey->config.n_edges - 1,
                             .edges = survey->config.edges,
                             .dd = { survey->dd, survey->pairs[0] },
                             .dr = { survey->dr, survey->pairs[1] },
                             .rr = { survey->rr, survey->pairs[2] } };
  g_assert_true(astro_tpacf_compute(&tpacf, result, NULL));
  astro_catalogue_clear(&data);
}

/* A point's w(theta) from the clusters alone: children of one disc are apart by what both were
 * moved at that level and at all below it, and of the points in a cluster those that part at a
 * level are known. So w = (how many of them fall in a bin) / (how many a point has there anyway),
 * drawn on the plane. */
static void clustering_in_bins(const AstroClustering *clustering,
                               const AstroHistogramConfig *config, double *others)
{
  enum { DRAWS = 200000 };
  double shrink = pow(clustering->children, 1 / (2 + clustering->slope));
  AstroRandom random;
  astro_random_init(&random, 123, 0);
  memset(others, 0, (config->n_edges - 1) * sizeof *others);
  for (guint level = 0; level < clustering->levels; level++) {
    double parting =
        (clustering->children - 1) * pow(clustering->children, clustering->levels - 1. - level);
    for (guint draw = 0; draw < DRAWS; draw++) {
      double x = 0, y = 0, radius = clustering->radius * 60 / pow(shrink, level);
      for (guint below = level; below < clustering->levels; below++, radius /= shrink)
        for (guint side = 0; side < 2; side++) {
          double r = radius * sqrt(astro_random_uniform(&random)),
                 angle = 2 * G_PI * astro_random_uniform(&random);
          x += r * cos(angle);
          y += r * sin(angle);
        }
      double apart = hypot(x, y);
      for (guint k = 0; k + 1 < config->n_edges; k++)
        if (apart >= config->edges[k] && apart < config->edges[k + 1])
          others[k] += parting / DRAWS;
    }
  }
}

/* Points of a density (a square arcminute) in the ring that a bin is. */
static double in_ring(const AstroHistogramConfig *config, guint bin, double density)
{
  double low = config->edges[bin], high = config->edges[bin + 1];
  return density * G_PI * (high * high - low * low);
}

static double area_of(const AstroFootprint *band)
{
  double rise = sin(band->dec_max * G_PI / 180) - sin(band->dec_min * G_PI / 180);
  return (band->ra_max - band->ra_min) * 60 * rise * 180 * 60 / G_PI;
}

/* From mock to w(theta): the slope that is put in, and the analytic values within the errors. */
static void test_mock(void)
{
  AstroClustering clustering = { .slope = -0.8, .radius = 6, .levels = 7, .children = 3 };
  Survey survey;
  AstroTpacfResult result;
  double amplitude, slope;
  survey_init(&survey, 60000);
  survey_mock(&survey, &clustering, 30000, 0, &result);
  g_assert_true(astro_tpacf_fit(&result, 1, 100, &amplitude, &slope));
  g_test_message("slope %g, amplitude %g", slope, amplitude);
  g_assert_cmpfloat_with_epsilon(slope, -0.8, 0.15);
  double others[ASTRO_HISTOGRAM_MAX_EDGES], chi_square = 0;
  clustering_in_bins(&clustering, &survey.config, others);
  for (guint k = 0; k < result.n_bins; k++) {
    double w = others[k] / in_ring(&survey.config, k, 30000 / area_of(&survey.band));
    double off = (result.w[k] - w) / result.error[k];
    g_test_message("bin %u: w %g, error %g, analytic %g", k, result.w[k], result.error[k], w);
    g_assert_cmpfloat(fabs(off), <, 3);
    chi_square += off * off;
  }
  g_assert_cmpfloat(chi_square, <, 2.5 * result.n_bins);
  astro_tpacf_clear(&result);
  survey_clear(&survey);
}

/* Knuth's way, for small means. */
static guint random_poisson(AstroRandom *random, double mean)
{
  double left = exp(mean);
  guint n = 0;
  while ((left *= astro_random_uniform(random)) > 1)
    n++;
  return n;
}

/* The mean is the analytic one, and the errors are those that mocks scatter by, where the number of
 * clusters in the field is free: with a fixed number of points mocks would be more alike than
 * fields of the sky are. */
static void test_scatter(void)
{
  enum { MOCKS = 100, SCATTER_BINS = 6 };
  AstroClustering clustering = { .slope = -0.8, .radius = 3, .levels = 4, .children = 3 };
  double sum[SCATTER_BINS] = { 0 }, squares[SCATTER_BINS] = { 0 }, errors[SCATTER_BINS] = { 0 },
         analytic[SCATTER_BINS] = { 0 }, others[SCATTER_BINS];
  Survey survey;
  AstroRandom random;
  astro_random_init(&random, 8, 0);
  survey_init(&survey, 20000);
  g_assert_cmpuint(survey.config.n_edges, ==, SCATTER_BINS + 1);
  clustering_in_bins(&clustering, &survey.config, others);
  for (guint mock = 0; mock < MOCKS; mock++) {
    AstroTpacfResult result;
    guint clusters = random_poisson(&random, 100);
    guint points = 81 * MAX(clusters, 1);
    survey_mock(&survey, &clustering, points, mock, &result);
    for (guint k = 0; k < SCATTER_BINS; k++) {
      analytic[k] += others[k] / in_ring(&survey.config, k, points / area_of(&survey.band)) / MOCKS;
      sum[k] += result.w[k];
      squares[k] += result.w[k] * result.w[k];
      errors[k] += result.error[k] * result.error[k];
    }
    astro_tpacf_clear(&result);
  }
  for (guint k = 0; k < SCATTER_BINS; k++) {
    double mean = sum[k] / MOCKS, scatter = sqrt((squares[k] - sum[k] * mean) / (MOCKS - 1));
    double ratio = sqrt(errors[k] / MOCKS) / scatter;
    g_test_message("bin %u: w %g, analytic %g, scatter %g, error / scatter %g", k, mean,
                   analytic[k], scatter, ratio);
    g_assert_cmpfloat_with_epsilon(ratio, 1, 0.2);
    /* the mean of many is closer than one, less what a field of so few clusters lacks itself */
    g_assert_cmpfloat_with_epsilon(mean, analytic[k], 4 * scatter / sqrt(MOCKS) + 2. / 100);
  }
  survey_clear(&survey);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/tpacf/estimators", test_estimators);
  g_test_add_func("/tpacf/heavy-region", test_heavy_region);
  g_test_add_func("/tpacf/missing", test_missing);
  g_test_add_func("/tpacf/no-randoms-in-a-bin", test_no_randoms_in_a_bin);
  g_test_add_func("/tpacf/negative-weights", test_negative_weights);
  g_test_add_func("/tpacf/poisson", test_poisson);
  g_test_add_func("/tpacf/empty-region", test_empty_region);
  g_test_add_func("/tpacf/fit", test_fit);
  g_test_add_func("/tpacf/integral-constraint", test_integral_constraint);
  g_test_add_func("/tpacf/mock", test_mock);
  g_test_add_func("/tpacf/scatter", test_scatter);
  return g_test_run();
}
