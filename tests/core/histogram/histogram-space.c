/* Pairs in space by every backend and variant compared with the plain loop over all pairs. */
#include "tests/core/histogram/space.h"

/* Both kinds of bins, with edges that rise evenly, by decades and from 0 on. */
static AstroHistogramConfig config_of(AstroBinning kind, guint variant)
{
  AstroHistogramConfig config = { .kind = kind,
                                  .n_columns = variant == 0   ? 1
                                               : variant == 1 ? 7
                                                              : 40,
                                  .most_across =
                                      kind == ASTRO_BINNING_SMU ? (variant == 1 ? 0.7 : 1) : 200 };
  GError *error = NULL;
  if (variant == 0)
    astro_histogram_edges_linear(&config, 0, 2000, 11, &error);
  else if (variant == 1)
    astro_histogram_edges_per_decade(&config, 0.001, 500, 6, &error);
  else
    astro_histogram_edges_linear(&config, 3, 150, 49, &error);
  g_assert_no_error(error);
  return config;
}

static void test_sky(gconstpointer data)
{
  const TestSky place = test_skies[GPOINTER_TO_UINT(data)].place;
  static const guint64 sizes[] = { 0, 1, 2, 31, 33, 97, TEST_MANY / 2 };
  for (AstroBinning kind = ASTRO_BINNING_SMU; kind <= ASTRO_BINNING_RPPI; kind++)
    for (guint variant = 0; variant < 3; variant++)
      for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
        AstroHistogramConfig config = config_of(kind, variant);
        SpaceCatalogue a = space_catalogue_new(place, sizes[s], 1, 1),
                       b = space_catalogue_new(place, sizes[G_N_ELEMENTS(sizes) - 1 - s], 1, 2);
        space_check_all(&config, &a, &a, test_skies[GPOINTER_TO_UINT(data)].name);
        space_check_all(&config, &a, &b, test_skies[GPOINTER_TO_UINT(data)].name);
        space_catalogue_clear(&a);
        space_catalogue_clear(&b);
      }
}

static void test_regions(void)
{
  for (AstroBinning kind = ASTRO_BINNING_SMU; kind <= ASTRO_BINNING_RPPI; kind++)
    for (guint weighted = 0; weighted < 2; weighted++) {
      AstroHistogramConfig config = config_of(kind, 1);
      config.n_regions = 5;
      config.weighted = weighted;
      SpaceCatalogue a = space_catalogue_new(test_place_half, 400, 5, 1),
                     b = space_catalogue_new(test_place_half, 300, 4, 2); /* one is empty */
      space_check_all(&config, &a, &a, "regions");
      space_check_all(&config, &a, &b, "regions");
      space_catalogue_clear(&a);
      space_catalogue_clear(&b);
    }
}

/* More bins than a group of a device has local memory for. */
static void test_many_bins(void)
{
  for (AstroBinning kind = ASTRO_BINNING_SMU; kind <= ASTRO_BINNING_RPPI; kind++) {
    AstroHistogramConfig config = config_of(kind, 2);
    config.n_columns = 211;
    config.weighted = kind == ASTRO_BINNING_RPPI;
    config.n_regions = 2;
    SpaceCatalogue a = space_catalogue_new(test_place_half, 350, 2, 5);
    space_check_all(&config, &a, &a, "many bins");
    space_catalogue_clear(&a);
  }
}

/* Enough points that most balls are left out. */
static void test_far(void)
{
  for (AstroBinning kind = ASTRO_BINNING_SMU; kind <= ASTRO_BINNING_RPPI; kind++) {
    AstroHistogramConfig config = config_of(kind, 2);
    config.weighted = TRUE;
    SpaceCatalogue a = space_catalogue_new(test_place_sphere, 4 * TEST_MANY, 1, 3);
    space_check_all(&config, &a, &a, "far");
    space_catalogue_clear(&a);
  }
}

/* Points on one line of sight at distances 1 to 100: n - k pairs are k apart, all with mu = 1 or pi
 * = k, and rp = 0. A separation on an edge belongs to the bin above it. */
static void test_line(void)
{
  enum { N = 100, BINS = 20 };
  SpaceCatalogue line = space_catalogue_new(test_place_one, N, 1, 1);
  for (guint i = 0; i < N; i++) {
    line.sky.ra[i] = line.sky.dec[i] = 0;
    line.distance[i] = i + 1;
  }
  AstroHistogramConfig smu = { .kind = ASTRO_BINNING_SMU, .n_columns = 4, .most_across = 1 },
                       rppi = { .kind = ASTRO_BINNING_RPPI,
                                .n_columns = BINS,
                                .most_across = BINS };
  guint64 counts[BINS * BINS];
  double sums[BINS * BINS];
  astro_histogram_edges_linear(&smu, 0, BINS, BINS, NULL);
  astro_histogram_edges_linear(&rppi, 0, 5, 5, NULL);
  space_check_all(&smu, &line, &line, "line");
  space_check_all(&rppi, &line, &line, "line");
  space_test_count(&astro_histogram_cpu, &smu, 1, &line, &line, counts, sums);
  for (guint k = 0; k < BINS; k++)
    for (guint m = 0; m < 4; m++)
      g_assert_cmpuint(counts[4 * k + m], ==, k > 0 && m == 3 ? N - k : 0);
  space_test_count(&astro_histogram_cpu, &rppi, 1, &line, &line, counts, sums);
  for (guint k = 0; k < 5; k++)
    for (guint m = 0; m < BINS; m++)
      g_assert_cmpuint(counts[BINS * k + m], ==, k == 0 && m > 0 ? N - m : 0);
  /* mu = 1 is not below a smaller limit */
  smu.most_across = 0.999;
  space_test_count(&astro_histogram_cpu, &smu, 1, &line, &line, counts, sums);
  for (guint k = 0; k < 4 * BINS; k++)
    g_assert_cmpuint(counts[k], ==, 0);
  space_catalogue_clear(&line);
}

/* The same points turned on the sky and doubled in scale have the same pairs in doubled bins. */
static void test_scale(void)
{
  for (AstroBinning kind = ASTRO_BINNING_SMU; kind <= ASTRO_BINNING_RPPI; kind++) {
    AstroHistogramConfig config = config_of(kind, 2), twice = config;
    SpaceCatalogue a = space_catalogue_new(test_place_half, 900, 1, 8);
    const gsize values = astro_histogram_values(&config);
    g_autofree guint64 *one = g_new(guint64, values), *two = g_new(guint64, values);
    g_autofree double *sums = g_new(double, values);
    for (guint k = 0; k < config.n_edges; k++)
      twice.edges[k] *= 2;
    twice.most_across *= kind == ASTRO_BINNING_RPPI ? 2 : 1;
    space_test_count(&astro_histogram_cpu, &config, 0, &a, &a, one, sums);
    for (guint i = 0; i < 900; i++)
      a.distance[i] *= 2;
    space_test_count(&astro_histogram_cpu, &twice, 0, &a, &a, two, sums);
    test_assert_counts(two, one, values, "twice as far");
    space_catalogue_clear(&a);
  }
}

typedef struct {
  guint64 done, total, limit;
} Progress;

static gboolean watch(guint64 done, guint64 total, gpointer data)
{
  Progress *progress = data;
  g_assert_cmpuint(done, >=, progress->done);
  g_assert_cmpuint(done, <=, total);
  progress->done = done;
  progress->total = total;
  return done < progress->limit;
}

/* All pairs are reported, also those that are left out; a count can be stopped on the way. A device
 * reports a slice at a time, of which there is one here. */
static void test_progress(void)
{
  AstroHistogramConfig config = config_of(ASTRO_BINNING_RPPI, 2);
  AstroBackend devices[2] = { astro_histogram_cpu, astro_histogram_cpu };
  test_device_backends(devices);
  const AstroBackend *const backends[] = { &astro_histogram_cpu, &astro_histogram_reference,
                                           &devices[0], &devices[1] };
  SpaceCatalogue sky = space_catalogue_new(test_place_sphere, 2000, 1, 4);
  AstroPoints *points = space_points_of(&config, &sky, 0);
  const gsize bytes = astro_histogram_values(&config) * sizeof(guint64);
  g_autofree guint64 *counts = g_malloc(bytes);
  for (guint b = 0; b < G_N_ELEMENTS(backends); b++)
    for (guint two = 0; two < 2; two++)
      for (guint stops = 0; stops < (b < 2 ? 2 : 1); stops++) {
        const guint64 all = two ? 2000 * 2000 : 2000 * 1999 / 2;
        Progress progress = { .limit = stops ? all / 4 : G_MAXUINT64 };
        const AstroHistogramCall call = { watch, &progress, NULL };
        const AstroPlace place = { 0 };
        const char *variant;
        g_autoptr(GError) error = NULL;
        gpointer counter = backends[b]->create(&config, &place, &variant, NULL);
        AstroBlock in[2] = { { points, 0 }, { points, 0 } }, out = { counts, bytes };
        const gboolean counted =
            backends[b]->submit(counter, in, 1 + two, &out, 1, &call, NULL, &error);
        g_assert_cmpint(counted, ==, !stops);
        g_assert_cmpuint(progress.total, ==, all);
        if (stops)
          g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
        else
          g_assert_cmpuint(progress.done, ==, all);
        g_assert_true(!stops || progress.done < all);
        backends[b]->destroy(counter);
      }
  astro_points_free(points);
  space_catalogue_clear(&sky);
}

static void refuse_distance(double distance, const char *says)
{
  const double angle[2] = { 0, 1 }, far[2] = { 100, distance };
  g_autoptr(GError) error = NULL;
  AstroPoints *points = astro_points_in_space(angle, angle, far, NULL, NULL, 2, 0, 1, NULL, &error);
  g_assert_null(points);
  test_says(error->message, "point 1: distance is");
  test_says(error->message, says);
}

static void refuse_config(const AstroHistogramConfig *config, const char *says)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(astro_histogram_cpu.shape(config, &error));
  test_says(error->message, says);
}

static void test_refused(void)
{
  refuse_distance(0, "expected a distance above 0");
  refuse_distance(-3, "distance is -3");
  refuse_distance(NAN, "distance is nan");
  refuse_distance(INFINITY, "distance is inf");
  refuse_distance(1e300, "1e50 at most");
  AstroHistogramConfig config = config_of(ASTRO_BINNING_SMU, 2);
  config.most_across = 1.5;
  refuse_config(&config, "mu up to 1.5, expected a number above 0, at most 1");
  config.most_across = NAN;
  refuse_config(&config, "mu up to nan");
  config = config_of(ASTRO_BINNING_RPPI, 2);
  config.n_columns = 0;
  refuse_config(&config, "0 bins of pi, expected 1 to 1024");
  config = config_of(ASTRO_BINNING_RPPI, 2);
  config.edges[config.n_edges - 1] = 1e200;
  refuse_config(&config, "is 1e+200");
}

static void test_no_distances(void)
{
  AstroHistogramConfig config = config_of(ASTRO_BINNING_SMU, 0);
  const double angle[2] = { 0, 1 };
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroPoints) points = astro_points_new(angle, angle, NULL, NULL, 2, 0, 1, NULL, NULL);
  const char *variant;
  AstroPlace place = { 0 };
  gpointer counter = astro_histogram_cpu.create(&config, &place, &variant, NULL);
  guint64 counts[64];
  AstroBlock in = { points, 0 }, out = { counts, sizeof counts };
  g_assert_false(astro_histogram_cpu.submit(counter, &in, 1, &out, 1, NULL, NULL, &error));
  test_says(error->message, "no distances, expected some for kind=smu");
  astro_histogram_cpu.destroy(counter);
}

/* A device without doubles is named, with what it lacks. */
static void test_no_doubles(void)
{
  if (g_test_subprocess()) {
    const AstroBackend backend = test_opencl();
    for (AstroBinning kind = ASTRO_BINNING_SMU; kind <= ASTRO_BINNING_RPPI; kind++) {
      const AstroHistogramConfig config = config_of(kind, 0);
      const AstroPlace place = { 0 };
      const char *variant;
      g_autoptr(GError) error = NULL;
      g_assert_null(backend.create(&config, &place, &variant, &error));
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE);
      test_says(error->message, "histogram computes in double precision, which ");
      test_says(error->message, test_opencl_device->name);
    }
    return;
  }
  if (!test_opencl_device) {
    g_test_skip("there is no OpenCL device");
    return;
  }
  g_setenv("ASTRO_OPENCL_DOUBLES", "no", TRUE);
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_unsetenv("ASTRO_OPENCL_DOUBLES");
  g_test_trap_assert_passed();
}

static void add_tests(void)
{
  for (guint s = 0; s < G_N_ELEMENTS(test_skies); s++) {
    g_autofree char *path = g_strdup_printf("/histogram-space/%s", test_skies[s].name);
    g_test_add_data_func(path, GUINT_TO_POINTER(s), test_sky);
  }
  g_test_add_func("/histogram-space/regions", test_regions);
  g_test_add_func("/histogram-space/many-bins", test_many_bins);
  g_test_add_func("/histogram-space/far", test_far);
  g_test_add_func("/histogram-space/line", test_line);
  g_test_add_func("/histogram-space/scale", test_scale);
  g_test_add_func("/histogram-space/progress", test_progress);
  g_test_add_func("/histogram-space/refused", test_refused);
  g_test_add_func("/histogram-space/no-doubles", test_no_doubles);
  g_test_add_func("/histogram-space/no-distances", test_no_distances);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
