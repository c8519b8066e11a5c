/* Edges of bins, and refusals: edges, points, blocks, and sizes beyond memory. */
#include "core/histogram/from-catalogues.h"
#include "tests/core/histogram/histogram.h"

#include <sys/resource.h>
#include <unistd.h>

static void test_edges(void)
{
  AstroHistogramConfig config = test_standard_bins();
  g_assert_cmpuint(config.n_edges, ==, 31);
  g_assert_cmpfloat(config.edges[0], ==, 0.01);
  g_assert_cmpfloat(config.edges[30], ==, 10000);
  g_assert_cmpfloat_with_epsilon(config.edges[15], 10, 1e-12);
  /* a last bin that reaches past the end rather than stopping short */
  g_assert_true(astro_histogram_edges_per_decade(&config, 1, 50, 1, NULL));
  g_assert_cmpuint(config.n_edges, ==, 3);
  g_assert_cmpfloat_with_epsilon(config.edges[2], 100, 1e-12);
  g_assert_true(astro_histogram_edges_linear(&config, 0, 60, 6, NULL));
  g_assert_cmpuint(config.n_edges, ==, 7);
  g_assert_cmpfloat(config.edges[0], ==, 0);
  g_assert_cmpfloat(config.edges[1], ==, 10);
  g_assert_cmpfloat(config.edges[6], ==, 60);
  g_assert_cmpfloat(astro_chord_square(0), ==, 0);
  g_assert_cmpfloat(astro_chord_square(10800), ==, 4);
  g_assert_cmpfloat_with_epsilon(astro_chord_square(5400), 2, 1e-15);
  g_assert_true(isinf(astro_chord_square(10800.001)));
}

static void test_refused_edges(void)
{
  AstroHistogramConfig config = { 0 };
  static const struct {
    guint n;
    double edges[3];
  } wrong[] = {
    { 0, { 0 } },         { 1, { 1 } },     { 2, { 1, 1 } },        { 2, { 2, 1 } },
    { 3, { 1, 2, NAN } }, { 2, { -1, 1 } }, { 2, { 1, INFINITY } }, { 2000, { 0, 1 } }
  };
  for (guint w = 0; w < G_N_ELEMENTS(wrong); w++) {
    GError *error = NULL;
    const char *variant;
    config.n_edges = wrong[w].n;
    memcpy(config.edges, wrong[w].edges, sizeof wrong[w].edges);
    g_assert_null(astro_histogram_cpu.create(&config, NULL, &variant, &error));
    g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_EDGES);
    g_clear_error(&error);
  }
  g_assert_false(astro_histogram_edges_per_decade(&config, 0, 1, 5, NULL));
  g_assert_false(astro_histogram_edges_per_decade(&config, 2, 1, 5, NULL));
  g_assert_false(astro_histogram_edges_per_decade(&config, 1, 2, 0, NULL));
  g_assert_false(astro_histogram_edges_per_decade(&config, 1, 2, NAN, NULL));
  g_assert_false(astro_histogram_edges_per_decade(&config, 1, 10, 2000, NULL));
  g_assert_false(astro_histogram_edges_linear(&config, 1, 10, 0, NULL));
  g_assert_false(astro_histogram_edges_linear(&config, 1, 10, 2000, NULL));
}

static void test_refused_points(void)
{
  static const struct {
    double ra, dec, weight, region;
    const char *says;
  } wrong[] = { { NAN, 0, 1, 0, "right ascension" },
                { 0, NAN, 1, 0, "declination" },
                { 0, 90.1, 1, 0, "declination" },
                { 0, -91, 1, 0, "declination" },
                { 0, 0, NAN, 0, "weight" },
                { 0, 0, 1, -1, "region" },
                { 0, 0, 1, 4, "region" },
                { 0, 0, 1, 0.5, "region" },
                { 0, 0, 1, NAN, "region" },
                { INFINITY, 0, 1, 0, "right ascension" } };
  for (guint w = 0; w < G_N_ELEMENTS(wrong); w++) {
    GError *error = NULL;
    double ra[2] = { 0, wrong[w].ra }, dec[2] = { 0, wrong[w].dec },
           weight[2] = { 1, wrong[w].weight }, region[2] = { 0, wrong[w].region };
    g_assert_null(astro_points_new(ra, dec, weight, region, 2, 4, 1, NULL, &error));
    g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS);
    g_assert_nonnull(strstr(error->message, "point 1"));
    g_assert_nonnull(strstr(error->message, wrong[w].says));
    g_clear_error(&error);
  }
}

static void test_refused_blocks(void)
{
  AstroHistogramConfig config = test_standard_bins();
  const char *variant;
  gpointer counter = astro_histogram_cpu.create(&config, NULL, &variant, NULL);
  double zero = 0;
  AstroPoints *one = astro_points_new(&zero, &zero, NULL, NULL, 1, 0, 1, NULL, NULL),
              *in_regions = astro_points_new(&zero, &zero, NULL, &zero, 1, 3, 1, NULL, NULL);
  guint64 counts[30];
  AstroBlock in[2] = { { one, 0 }, { in_regions, 0 } }, out = { counts, sizeof counts },
             small = { counts, sizeof counts - 1 };
  g_assert_true(astro_histogram_cpu.submit(counter, in, 1, &out, 1, NULL, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 1, &small, 1, NULL, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 2, &out, 1, NULL, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 1, &out, 2, NULL, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 0, &out, 1, NULL, NULL, NULL));
  astro_points_free(one);
  astro_points_free(in_regions);
  astro_histogram_cpu.destroy(counter);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Makes a catalogue and its regions with that many bytes of memory left. */
static gboolean collect_within(gsize bytes, const AstroCatalogue *catalogue)
{
  static const gboolean is_there[ASTRO_N_SIDES] = { [ASTRO_SIDE_DATA] = TRUE };
  static const AstroPlace place = { .threads = 1 };
  AstroHistogramConfig config = { .n_edges = 2, .edges = { 0.01, 0.02 }, .n_regions = 4 };
  g_autoptr(GError) error = NULL;
  struct rlimit before, small;
  g_autofree char *pages = NULL;
  AstroCollector *collector =
      astro_collector_new(&config, is_there, &astro_histogram_cpu, &place, &error);
  g_assert_no_error(error);
  g_assert_true(g_file_get_contents("/proc/self/statm", &pages, NULL, NULL));
  getrlimit(RLIMIT_AS, &before);
  small = before;
  small.rlim_cur = g_ascii_strtoull(pages, NULL, 10) * (gsize)sysconf(_SC_PAGESIZE) + bytes;
  setrlimit(RLIMIT_AS, &small);
  gboolean good = astro_collector_add_data(collector, catalogue, NULL, NULL, &error);
  setrlimit(RLIMIT_AS, &before);
  if (!good)
    g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  astro_collector_free(collector);
  return good;
}

/* Wherever memory runs out, there is an error. */
static void test_no_memory(void)
{
  const gsize step = 4 << 20, most = 100 * step;
  TestCatalogue c = test_catalogue_new(test_place_sphere, 1000000, 1, 21);
  AstroCatalogue catalogue = { .n = c.n, .ra = c.ra, .dec = c.dec };
  gsize bytes = step;
  while (bytes < most && !collect_within(bytes, &catalogue))
    bytes += step;
  g_test_message("a million points take less than %" G_GSIZE_FORMAT " MiB", bytes >> 20);
  g_assert_cmpuint(bytes, >, step);
  g_assert_cmpuint(bytes, <, most);
  test_catalogue_clear(&c);
}
#endif

static void add_tests(void)
{
  g_test_add_func("/histogram/edges", test_edges);
  g_test_add_func("/histogram/refused-edges", test_refused_edges);
  g_test_add_func("/histogram/refused-points", test_refused_points);
  g_test_add_func("/histogram/refused-blocks", test_refused_blocks);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  g_test_add_func("/histogram/no-memory", test_no_memory);
#endif
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
