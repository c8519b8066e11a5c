/* Counts of so many points that the tree is deep, and a device needs several slices. */
#include "core/backend/threads.h"
#include "tests/core/histogram/histogram.h"

static void test_all_pairs(void)
{
  AstroHistogramConfig config = test_whole_range();
  for (guint s = 0; s < G_N_ELEMENTS(test_skies); s++) {
    guint64 counts[ASTRO_HISTOGRAM_MAX_EDGES], sum = 0;
    double sums[ASTRO_HISTOGRAM_MAX_EDGES];
    TestCatalogue a = test_catalogue_new(test_skies[s].place, 20000, 1, 12);
    test_count(&astro_histogram_cpu, &config, 0, &a, &a, counts, sums);
    for (guint k = 0; k + 1 < config.n_edges; k++)
      sum += counts[k];
    g_assert_cmpuint(sum, ==, a.n * (a.n - 1) / 2);
    test_catalogue_clear(&a);
  }
}

/* With -m slow, the sizes in the papers. */
static guint64 large_n(void)
{
  return g_test_slow() ? 97178 : TEST_MANY == 700 ? 20000 : 2400;
}

typedef struct {
  const AstroHistogramConfig *config;
  const TestCatalogue *catalogue;
  guint64 first, step, *counts;
} Rows;

static gpointer count_rows(gpointer data)
{
  const Rows *rows = data;
  g_autofree double *sums = g_new(double, astro_histogram_values(rows->config));
  test_plain_rows(rows->config, rows->catalogue, rows->catalogue, rows->first, rows->step,
                  rows->counts, sums);
  return NULL;
}

/* The plain loop on all cores, as it takes minutes. The threads are none of those under test. */
static void plain_loop_on_all_cores(const AstroHistogramConfig *config, const TestCatalogue *a,
                                    guint64 *counts)
{
  const gsize values = astro_histogram_values(config);
  const guint n = g_get_num_processors();
  g_autofree GThread **threads = g_new(GThread *, n);
  g_autofree Rows *rows = g_new(Rows, n);
  memset(counts, 0, values * sizeof *counts);
  for (guint t = 0; t < n; t++) {
    rows[t] = (Rows){ config, a, t, n, g_new(guint64, values) };
    threads[t] = g_thread_new("rows", count_rows, &rows[t]);
  }
  for (guint t = 0; t < n; t++) {
    g_thread_join(threads[t]);
    for (gsize v = 0; v < values; v++)
      counts[v] += rows[t].counts[v];
    g_free(rows[t].counts);
  }
}

/* Tree and brute force compared with the plain loop, where the tree is deep. */
static void test_large(void)
{
  AstroHistogramConfig config = test_standard_bins();
  config.n_regions = 10;
  gsize values = astro_histogram_values(&config);
  guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
  double *sums = g_new(double, values);
  TestCatalogue a = test_catalogue_new(test_place_half, large_n(), 10, 13);
  plain_loop_on_all_cores(&config, &a, expected);
  for (config.method = 0; config.method <= ASTRO_PAIR_METHOD_BRUTE; config.method++) {
    test_count(&astro_histogram_cpu, &config, 0, &a, &a, found, sums);
    test_assert_counts(found, expected, values, "large");
  }
  test_catalogue_clear(&a);
  g_free(expected);
  g_free(found);
  g_free(sums);
}

static void check_single(const AstroBackend *backend)
{
  AstroHistogramConfig config = test_standard_bins();
  guint64 exact[64], single[64];
  double sums[64];
  for (guint s = 0; s < 3; s++) {
    TestCatalogue a = test_catalogue_new(test_skies[s].place, 20000, 1, 14);
    config.precision = ASTRO_PRECISION_EXACT;
    test_count(&astro_histogram_cpu, &config, 0, &a, &a, exact, sums);
    config.precision = ASTRO_PRECISION_SINGLE;
    test_count(backend, &config, 0, &a, &a, single, sums);
    for (guint k = 0; k + 1 < config.n_edges; k++)
      g_assert_cmpfloat(fabs((double)single[k] - (double)exact[k]), <=,
                        2 + 1e-4 * (double)exact[k]);
    test_catalogue_clear(&a);
  }
}

static void test_single(void)
{
  check_single(&astro_histogram_cpu);
  if (test_cuda_device)
    check_single(&test_cuda_orders);
}

/* The device compared with the CPU, with long lists and several slices: every sky, dense and
 * clustered, one and two catalogues, weights and regions in turn. */
static void test_cuda_large(void)
{
  if (test_skip_without_device())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(test_skies); s++) {
    AstroHistogramConfig config = s % 2 ? test_whole_range() : test_standard_bins();
    config.n_regions = s % 3 ? 7 : 0;
    config.weighted = s == 0 || s == 4;
    gsize values = astro_histogram_values(&config);
    g_autofree guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
    g_autofree double *expected_sums = g_new(double, values), *sums = g_new(double, values);
    TestCatalogue a = test_catalogue_new(test_skies[s].place, s == 1 ? 200001 : 30011, 7, 21),
                  b = test_catalogue_new(test_skies[(s + 1) % G_N_ELEMENTS(test_skies)].place,
                                         20077, 7, 22);
    for (guint two = 0; two < 2; two++) {
      config.method = ASTRO_PAIR_METHOD_AUTO;
      test_count(&astro_histogram_cpu, &config, 0, &a, two ? &b : &a, expected, expected_sums);
      for (; config.method <= ASTRO_PAIR_METHOD_BRUTE; config.method++) {
        for (guint orders = 0; orders < 2; orders++) {
          test_count(orders ? &test_cuda_orders : &test_cuda, &config, 0, &a, two ? &b : &a, found,
                     sums);
          test_assert_counts(found, expected, values, test_skies[s].name);
          if (config.weighted)
            test_assert_sums(sums, expected_sums, values, test_skies[s].name);
        }
      }
    }
    test_catalogue_clear(&a);
    test_catalogue_clear(&b);
  }
}

/* OpenCL compared with the CPU, with cells that are split and others that are counted as a whole.
 */
static void test_opencl_large(void)
{
  if (!test_opencl_device) {
    g_test_skip("there is no OpenCL device");
    return;
  }
  for (guint s = 0; s < 3; s++) {
    AstroHistogramConfig config = s % 2 ? test_whole_range() : test_standard_bins();
    config.n_regions = s == 1 ? 3 : 0;
    config.weighted = s == 2;
    const gsize values = astro_histogram_values(&config);
    g_autofree guint64 *expected = g_new(guint64, values);
    g_autofree double *expected_sums = g_new(double, values);
    TestCatalogue a = test_catalogue_new(test_skies[s].place, 4001, 3, 21),
                  b = test_catalogue_new(test_skies[s + 1].place, 2077, 3, 22);
    for (guint two = 0; two < 2; two++) {
      const TestCatalogue *other = two ? &b : &a;
      test_count(&astro_histogram_cpu, &config, 0, &a, other, expected, expected_sums);
      test_check_opencl(&config, &a, other, test_skies[s].name, expected, expected_sums);
      config.method = ASTRO_PAIR_METHOD_AUTO;
    }
    test_catalogue_clear(&a);
    test_catalogue_clear(&b);
  }
}

enum { HUGE_PARTS = 1000 };

static void place_part(gpointer data, guint64 part)
{
  const TestCatalogue *all = data;
  guint64 state = part;
  test_uniform(&state);
  for (guint64 i = all->n * part / HUGE_PARTS; i < all->n * (part + 1) / HUGE_PARTS; i++)
    test_place_sphere(i, all->n, &state, &all->ra[i], &all->dec[i]);
}

/* As many points as a survey may have (with -m slow, in 10 GB of memory): arc seconds, with few
 * enough pairs to count on the CPU too, and all the rest, whose number exceeds 32 bits. */
static void test_cuda_huge(void)
{
  if (test_skip_without_device())
    return;
  const guint64 n = g_test_slow() ? 100000000 : 3000000;
  AstroHistogramConfig config = { .n_edges = 5, .edges = { 0, 0.005, 0.02, 0.1, 10801 } };
  guint64 expected[4], found[4], sum = 0;
  double sums[4];
  TestCatalogue a = { n, g_new(double, n), g_new(double, n), NULL, NULL };
  astro_parallel(HUGE_PARTS, 0, place_part, &a);
  test_count(&astro_histogram_cpu, &config, 0, &a, &a, expected, sums);
  test_count(&test_cuda_orders, &config, 0, &a, &a, found, sums);
  for (guint k = 0; k < 4; k++) {
    g_test_message("bin %u: %" G_GUINT64_FORMAT, k, found[k]);
    sum += found[k];
  }
  g_assert_cmpuint(sum, ==, n * (n - 1) / 2);
  test_assert_counts(found, expected, 4, "huge");
  /* the number for random points, within six deviations */
  for (guint k = 0; k < 3; k++) {
    double mean = (double)n * (double)(n - 1) / 8 *
                  (astro_chord_square(config.edges[k + 1]) - astro_chord_square(config.edges[k]));
    g_assert_cmpfloat(fabs((double)found[k] - mean), <=, 6 * sqrt(mean) + 6);
  }
  test_catalogue_clear(&a);
}

static void add_tests(void)
{
  g_test_add_func("/histogram/all-pairs", test_all_pairs);
  g_test_add_func("/histogram/large", test_large);
  g_test_add_func("/histogram/single", test_single);
  g_test_add_func("/histogram/opencl/large", test_opencl_large);
  g_test_add_func("/histogram/cuda/large", test_cuda_large);
  g_test_add_func("/histogram/cuda/huge", test_cuda_huge);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
