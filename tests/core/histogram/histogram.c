/* Pair counts by every backend and variant compared with the plain loop over all pairs. */
#include "tests/core/histogram/histogram.h"

static void test_sky(gconstpointer data)
{
  TestSky place = test_skies[GPOINTER_TO_UINT(data)].place;
  const char *name = test_skies[GPOINTER_TO_UINT(data)].name;
  static const guint64 sizes[] = { 0, 1, 2, 31, 32, 33, 97, TEST_MANY };
  AstroHistogramConfig configs[] = { test_standard_bins(), test_whole_range() };
  for (guint c = 0; c < G_N_ELEMENTS(configs); c++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      TestCatalogue a = test_catalogue_new(place, sizes[s], 1, 1),
                    b = test_catalogue_new(place, sizes[G_N_ELEMENTS(sizes) - 1 - s], 1, 2);
      test_check_all(&configs[c], &a, &a, name);
      test_check_all(&configs[c], &a, &b, name);
      test_catalogue_clear(&a);
      test_catalogue_clear(&b);
    }
}

/* The angle that the bin rule converts to exactly that square, if there is one. */
static gboolean find_angle(double square, double *arcmin)
{
  double angle = 2 * asin(sqrt(square) / 2) * 180 * 60 / G_PI;
  for (guint step = 0; step < 8; step++)
    angle = nextafter(angle, 0);
  for (guint step = 0; step < 16; step++, angle = nextafter(angle, INFINITY))
    if (astro_chord_square(angle) == square) {
      *arcmin = angle;
      return TRUE;
    }
  return FALSE;
}

static int compare_doubles(gconstpointer a, gconstpointer b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Edges exactly at the squares of pairs: a fused multiply-add, a wrong comparison or a bound
 * without margin puts some on the other side. */
static void test_on_edges(void)
{
  static const TestSky places[] = { test_place_sphere, test_place_clusters, test_place_lattice };
  for (guint p = 0; p < G_N_ELEMENTS(places); p++) {
    TestCatalogue a = test_catalogue_new(places[p], MIN(TEST_MANY, 1500), 1, 5);
    AstroHistogramConfig config = { 0 };
    for (guint64 i = 0; i + 1 < a.n && config.n_edges < 200; i++) {
      double x, y, z, u, v, w;
      astro_unit_vector(a.ra[i], a.dec[i], &x, &y, &z);
      astro_unit_vector(a.ra[i + 1], a.dec[i + 1], &u, &v, &w);
      double dx = x - u, dy = y - v, dz = z - w;
      if (find_angle((dx * dx + dy * dy) + dz * dz, &config.edges[config.n_edges]))
        config.n_edges++;
    }
    g_assert_cmpuint(config.n_edges, >, 50);
    qsort(config.edges, config.n_edges, sizeof(double), compare_doubles);
    guint kept = 1;
    for (guint k = 1; k < config.n_edges; k++)
      if (config.edges[k] > config.edges[kept - 1])
        config.edges[kept++] = config.edges[k];
    config.n_edges = kept;
    test_check_all(&config, &a, &a, "edges on pairs");
    /* one bin that begins on a pair alone */
    config.edges[0] = config.edges[kept / 2];
    config.edges[1] = 10801;
    config.n_edges = 2;
    test_check_all(&config, &a, &a, "one edge on a pair");
    test_catalogue_clear(&a);
  }
}

static void test_above_the_sphere(void)
{
  AstroHistogramConfig config = { .n_edges = 3, .edges = { 10801, 10802, 20000 } };
  TestCatalogue a = test_catalogue_new(test_place_antipodes, 300, 1, 16);
  test_check_all(&config, &a, &a, "above 180 degrees");
  test_catalogue_clear(&a);
}

static void test_many_bins(void)
{
  AstroHistogramConfig config = { 0 };
  TestCatalogue a = test_catalogue_new(test_place_half, MIN(TEST_MANY, 1000), 1, 6),
                b = test_catalogue_new(test_place_sphere, 300, 1, 7);
  g_assert_true(astro_histogram_edges_linear(&config, 0, 10801, 1024, NULL));
  test_check_all(&config, &a, &a, "1024 bins");
  test_check_all(&config, &a, &b, "1024 bins");
  test_catalogue_clear(&a);
  test_catalogue_clear(&b);
}

static void test_regions(void)
{
  static const guint regions[] = { 1, 2, 7, 40, 150 };
  for (guint r = 0; r < G_N_ELEMENTS(regions); r++)
    for (guint weighted = 0; weighted < 2; weighted++) {
      AstroHistogramConfig config = test_standard_bins();
      if (test_passes_over(2 * r + weighted))
        continue;
      config.n_regions = regions[r];
      config.weighted = weighted;
      TestCatalogue a = test_catalogue_new(test_place_half, 900, regions[r], 3),
                    b = test_catalogue_new(test_place_clusters, 700, regions[r], 4);
      if (regions[r] > 2)
        for (guint64 i = 0; i < a.n; i++) /* region 1 empty, region 2 of one point */
          a.region[i] = i == 5 ? 2 : a.region[i] == 1 || a.region[i] == 2 ? 0 : a.region[i];
      test_check_all(&config, &a, &a, "regions");
      test_check_all(&config, &a, &b, "regions");
      test_check_all(&config, &b, &a, "regions");
      test_catalogue_clear(&a);
      test_catalogue_clear(&b);
    }
}

static void test_weights(void)
{
  AstroHistogramConfig configs[] = { test_standard_bins(), test_whole_range() };
  for (guint c = 0; c < G_N_ELEMENTS(configs); c++)
    for (guint s = 0; s < 3; s++) {
      configs[c].weighted = TRUE;
      TestCatalogue a = test_catalogue_new(test_skies[s].place, TEST_MANY, 1, 8),
                    b = test_catalogue_new(test_skies[s].place, 400, 1, 9);
      test_check_all(&configs[c], &a, &a, "weights");
      test_check_all(&configs[c], &a, &b, "weights");
      test_catalogue_clear(&a);
      test_catalogue_clear(&b);
    }
}

/* Sums over few pairs, or of weights that are all 0, are not made by subtracting from the sums of
 * all. */
static void test_small_weights(void)
{
  AstroHistogramConfig config = test_whole_range();
  config.weighted = TRUE;
  for (guint s = 0; s < G_N_ELEMENTS(test_skies); s++) {
    TestCatalogue a = test_catalogue_new(test_skies[s].place, TEST_MANY, 1, 12),
                  b = test_catalogue_new(test_skies[s].place, 400, 1, 13);
    guint64 state = s;
    for (guint64 i = 0; i < a.n; i++)
      a.weight[i] = i % 3 ? pow(10, -40 * test_uniform(&state)) : 0;
    for (guint64 i = 0; i < b.n; i++)
      b.weight[i] = i < b.n / 2 ? pow(10, 40 * test_uniform(&state)) : 0;
    test_check_all(&config, &a, &a, "small weights");
    test_check_all(&config, &a, &b, "small weights");
    test_catalogue_clear(&a);
    test_catalogue_clear(&b);
  }
}

static void catalogue_without(const TestCatalogue *all, double region, TestCatalogue *without)
{
  *without = test_catalogue_new(test_place_one, all->n, 1, 1);
  without->n = 0;
  for (guint64 i = 0; i < all->n; i++) {
    if (all->region[i] == region)
      continue;
    without->ra[without->n] = all->ra[i];
    without->dec[without->n] = all->dec[i];
    without->weight[without->n] = all->weight[i];
    without->region[without->n++] = all->region[i];
  }
}

/* Counts and sums of weights of a bin, over all pairs of regions except those with one region;
 * region n_regions excludes none. */
static void sum_without(const guint64 *counts, const double *sums, guint n_regions, guint n_bins,
                        guint region, guint64 *count, double *sum)
{
  memset(count, 0, n_bins * sizeof *count);
  memset(sum, 0, n_bins * sizeof *sum);
  for (guint a = 0; a < n_regions; a++)
    for (guint b = 0; b < n_regions; b++)
      for (guint k = 0; k < n_bins && a != region && b != region; k++) {
        count[k] += counts[((gsize)a * n_regions + b) * n_bins + k];
        sum[k] += sums[((gsize)a * n_regions + b) * n_bins + k];
      }
}

static void test_leave_one_out(void)
{
  enum { REGIONS = 6 };
  AstroHistogramConfig config = test_standard_bins(), plain = test_standard_bins();
  guint n_bins = config.n_edges - 1;
  config.n_regions = REGIONS;
  config.weighted = TRUE;
  plain.weighted = TRUE;
  gsize values = astro_histogram_values(&config);
  guint64 *counts = g_new(guint64, values), found[64], expected[64];
  double *sums = g_new(double, values), found_sums[64], expected_sums[64];
  TestCatalogue a = test_catalogue_new(test_place_half, 800, REGIONS, 10),
                b = test_catalogue_new(test_place_half, 600, REGIONS, 11);
  for (guint cross = 0; cross < 2; cross++) {
    test_count(&astro_histogram_cpu, &config, 0, &a, cross ? &b : &a, counts, sums);
    for (guint region = 0; region <= REGIONS; region++) {
      TestCatalogue some_a, some_b;
      catalogue_without(&a, region, &some_a);
      catalogue_without(&b, region, &some_b);
      test_count(&astro_histogram_cpu, &plain, 0, &some_a, cross ? &some_b : &some_a, expected,
                 expected_sums);
      sum_without(counts, sums, REGIONS, n_bins, region, found, found_sums);
      test_assert_counts(found, expected, n_bins, "left out");
      test_assert_sums(found_sums, expected_sums, n_bins, "left out");
      test_catalogue_clear(&some_a);
      test_catalogue_clear(&some_b);
    }
  }
  test_catalogue_clear(&a);
  test_catalogue_clear(&b);
  g_free(counts);
  g_free(sums);
}

static void add_tests(void)
{
  for (guint s = 0; s < G_N_ELEMENTS(test_skies); s++) {
    g_autofree char *path = g_strdup_printf("/histogram/exact/%s", test_skies[s].name);
    g_test_add_data_func(path, GUINT_TO_POINTER(s), test_sky);
  }
  g_test_add_func("/histogram/on-edges", test_on_edges);
  g_test_add_func("/histogram/above-the-sphere", test_above_the_sphere);
  g_test_add_func("/histogram/many-bins", test_many_bins);
  g_test_add_func("/histogram/regions", test_regions);
  g_test_add_func("/histogram/weights", test_weights);
  g_test_add_func("/histogram/small-weights", test_small_weights);
  g_test_add_func("/histogram/leave-one-out", test_leave_one_out);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
