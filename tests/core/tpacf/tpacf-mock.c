/* From mock catalogues to w(theta): the clustering that is put in comes out, and errors match the
 * scatter of mocks. */
#include "core/lib/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "core/histogram/regions.h"
#include "core/tpacf/tpacf.h"
#include "tests/tests.h"

#include <math.h>

/* Counts of one kind for catalogues with regions, and the number of pairs of the regions. */
static void count_kind(const AstroHistogramConfig *config, AstroPoints *a, AstroPoints *b,
                       const guint64 *in_a, const guint64 *in_b, double *counts, double *pairs)
{
  const char *variant;
  guint regions = astro_histogram_regions(config);
  gsize values = astro_histogram_values(config);
  gpointer counter = astro_histogram_cpu.create(config, NULL, &variant, NULL);
  guint64 *found = g_new(guint64, values);
  AstroBlock in[2] = { { a, 0 }, { b, 0 } }, out = { found, values * sizeof *found };
  g_assert_true(astro_histogram_cpu.submit(counter, in, b ? 2 : 1, &out, 1, NULL, NULL, NULL));
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
                                         n_regions, 0, NULL, NULL);
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
      astro_regions_new(survey->random.ra, survey->random.dec, n_random, MOCK_REGIONS, NULL, NULL);
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

/* Points of that density (per square arcminute) in the ring of a bin. */
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

/* From mock to w(theta): the slope that was put in, and the analytic values within the errors. */
static void test_mock(void)
{
  AstroClustering clustering = { .slope = -0.8, .radius = 6, .levels = 7, .children = 3 };
  Survey survey;
  AstroTpacfResult result;
  AstroPowerLaw law;
  survey_init(&survey, 60000);
  survey_mock(&survey, &clustering, 30000, 0, &result);
  g_assert_true(astro_tpacf_fit(&result, 1, 100, &law));
  g_test_message("slope %g, amplitude %g", law.slope, law.amplitude);
  g_assert_cmpfloat_with_epsilon(law.slope, -0.8, 0.15);
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

/* Knuth's method, for small means. */
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
  g_test_add_func("/tpacf/mock", test_mock);
  g_test_add_func("/tpacf/scatter", test_scatter);
  return g_test_run();
}
