/* Shared by tests of pair counts: skies, a plain loop over all pairs, and counts compared with
 * it. */
#pragma once

#include "core/backend/module.h"
#include "core/histogram/histogram.h"
#include "tests/device.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TEST_MANY 300
#else
#define TEST_MANY 700
#endif

typedef struct {
  guint64 n;
  double *ra, *dec, *weight, *region;
} TestCatalogue;

static inline double test_uniform(guint64 *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / (double)(1ull << 53);
}

typedef void (*TestSky)(guint64 i, guint64 n, guint64 *state, double *ra, double *dec);

static inline void test_place_sphere(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 360 * test_uniform(state);
  *dec = asin(2 * test_uniform(state) - 1) * 180 / G_PI;
}

static inline void test_place_half(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  test_place_sphere(i, n, state, ra, dec);
  *dec = fabs(*dec);
}

/* Clumps within clumps, down to seconds of arc. */
static inline void test_place_clusters(guint64 i, guint64 n, guint64 *state, double *ra,
                                       double *dec)
{
  double scale = pow(10, -5 * test_uniform(state));
  *ra = 40 + 10 * (double)(i % 7) + scale * test_uniform(state);
  *dec = -20 + 5 * (double)(i % 5) + scale * test_uniform(state);
}

static inline void test_place_duplicates(guint64 i, guint64 n, guint64 *state, double *ra,
                                         double *dec)
{
  *ra = 10 * (double)(i % 5);
  *dec = 20 * (double)(i % 3);
}

static inline void test_place_one(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 123.456;
  *dec = -7.89;
}

static inline void test_place_antipodes(guint64 i, guint64 n, guint64 *state, double *ra,
                                        double *dec)
{
  guint64 pair = i / 2 + 17;
  test_place_sphere(i, n, &pair, ra, dec);
  if (i % 2) {
    *ra += 180;
    *dec = -*dec;
  }
}

static inline void test_place_poles(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 360 * test_uniform(state);
  *dec = (i % 2 ? 1 : -1) * (90 - (i % 3 ? 1e-3 * test_uniform(state) : 0));
}

static inline void test_place_wrap(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = (i % 3 == 0 ? 360 : i % 3 == 1 ? 0 : -720) + 0.02 * (test_uniform(state) - 0.5);
  *dec = 0.02 * (test_uniform(state) - 0.5);
}

/* Steps of one degree: the same separations over and over. */
static inline void test_place_lattice(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = (double)(i % 40);
  *dec = (double)(i / 40 % 40);
}

static const struct {
  const char *name;
  TestSky place;
} test_skies[] = {
  { "sphere", test_place_sphere },     { "half", test_place_half },
  { "clusters", test_place_clusters }, { "duplicates", test_place_duplicates },
  { "one", test_place_one },           { "antipodes", test_place_antipodes },
  { "poles", test_place_poles },       { "wrap", test_place_wrap },
  { "lattice", test_place_lattice },
};

static inline TestCatalogue test_catalogue_new(TestSky place, guint64 n, guint n_regions,
                                               guint64 seed)
{
  TestCatalogue catalogue = { n, g_new(double, MAX(n, 1)), g_new(double, MAX(n, 1)),
                              g_new(double, MAX(n, 1)), g_new(double, MAX(n, 1)) };
  guint64 state = seed;
  for (guint64 i = 0; i < n; i++) {
    place(i, n, &state, &catalogue.ra[i], &catalogue.dec[i]);
    catalogue.weight[i] = 0.5 + test_uniform(&state);
    catalogue.region[i] = floor(n_regions * test_uniform(&state));
  }
  return catalogue;
}

static inline void test_catalogue_clear(TestCatalogue *catalogue)
{
  g_free(catalogue->ra);
  g_free(catalogue->dec);
  g_free(catalogue->weight);
  g_free(catalogue->region);
}

/* The pairs of every step-th point from first on. Computed independently from the catalogue's
 * columns: only the two conversions of the bin rule are shared. */
static inline void test_plain_rows(const AstroHistogramConfig *config, const TestCatalogue *a,
                                   const TestCatalogue *b, guint64 first, guint64 step,
                                   guint64 *counts, double *sums)
{
  guint regions = astro_histogram_regions(config), n_bins = config->n_edges - 1;
  double *squares = g_new(double, config->n_edges);
  for (guint k = 0; k < config->n_edges; k++)
    squares[k] = astro_chord_square(config->edges[k]);
  memset(counts, 0, astro_histogram_values(config) * sizeof *counts);
  memset(sums, 0, astro_histogram_values(config) * sizeof *sums);
  double *positions = g_new(double, 3 * b->n);
  for (guint64 j = 0; j < b->n; j++)
    astro_unit_vector(b->ra[j], b->dec[j], &positions[3 * j], &positions[3 * j + 1],
                      &positions[3 * j + 2]);
  for (guint64 i = first; i < a->n; i += step) {
    double x, y, z;
    astro_unit_vector(a->ra[i], a->dec[i], &x, &y, &z);
    for (guint64 j = a == b ? i + 1 : 0; j < b->n; j++) {
      double dx = x - positions[3 * j], dy = y - positions[3 * j + 1],
             dz = z - positions[3 * j + 2];
      double square = (dx * dx + dy * dy) + dz * dz;
      gint bin = (gint)n_bins; /* most pairs are far apart */
      while (bin >= 0 && square < squares[bin])
        bin--;
      if (bin < 0 || bin == (gint)n_bins)
        continue;
      guint ra = config->n_regions ? (guint)a->region[i] : 0,
            rb = config->n_regions ? (guint)b->region[j] : 0;
      if (a == b && ra > rb) {
        guint swapped = ra;
        ra = rb;
        rb = swapped;
      }
      gsize value = ((gsize)ra * regions + rb) * n_bins + (guint)bin;
      counts[value]++;
      sums[value] += config->weighted ? a->weight[i] * b->weight[j] : 1;
    }
  }
  g_free(positions);
  g_free(squares);
}

static inline void test_plain_loop(const AstroHistogramConfig *config, const TestCatalogue *a,
                                   const TestCatalogue *b, guint64 *counts, double *sums)
{
  test_plain_rows(config, a, b, 0, 1, counts, sums);
}

static inline AstroPoints *test_points_of(const AstroHistogramConfig *config,
                                          const TestCatalogue *catalogue, guint threads)
{
  GError *error = NULL;
  AstroPoints *points =
      astro_points_new(catalogue->ra, catalogue->dec, config->weighted ? catalogue->weight : NULL,
                       config->n_regions ? catalogue->region : NULL, catalogue->n,
                       config->n_regions, threads, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(astro_points_count(points), ==, catalogue->n);
  return points;
}

/* Points that the device orders. */
static inline AstroPoints *test_points_held(const AstroHistogramConfig *config,
                                            const TestCatalogue *catalogue)
{
  GError *error = NULL;
  AstroPoints *points = astro_points_held(
      catalogue->ra, catalogue->dec, config->weighted ? catalogue->weight : NULL,
      config->n_regions ? catalogue->region : NULL, catalogue->n, config->n_regions, 0, &error);
  g_assert_no_error(error);
  return points;
}

/* The CUDA backend, if there is a device: it takes the same pointers as the CPU's. */
static const AstroBackend *test_cuda_backend;
static AstroDevice *test_cuda_device;

static inline gpointer test_cuda_create(gconstpointer config, const AstroPlace *place,
                                        const char **variant, GError **error)
{
  AstroPlace there = { .device = test_cuda_device };
  return test_cuda_backend->create(config, &there, variant, error);
}

/* Waits, as the CPU's does. */
static inline gboolean test_cuda_submit(gpointer instance, const AstroBlock *in, guint n_in,
                                        const AstroBlock *out, guint n_out, gconstpointer arguments,
                                        AstroResult *result, GError **error)
{
  return test_cuda_backend->submit(instance, in, n_in, out, n_out, arguments, result, error) &&
         test_cuda_backend->drain(instance, result, error);
}

static inline void test_cuda_destroy(gpointer instance)
{
  test_cuda_backend->destroy(instance);
}

static const AstroBackend test_cuda = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_CUDA,
  .create = test_cuda_create,
  .submit = test_cuda_submit,
  .destroy = test_cuda_destroy,
};

/* OpenCL's, which waits by itself. */
static const AstroBackend *test_opencl_backend;
static AstroDevice *test_opencl_device;

static inline gpointer test_opencl_create(gconstpointer config, const AstroPlace *place,
                                          const char **variant, GError **error)
{
  AstroPlace there = { .device = test_opencl_device };
  return test_opencl_backend->create(config, &there, variant, error);
}

/* The backend with its device put in; for use where there is one. */
static inline AstroBackend test_opencl(void)
{
  AstroBackend backend = *test_opencl_backend;
  backend.create = test_opencl_create;
  return backend;
}

static inline void test_find_opencl_backend(void)
{
  g_autoptr(GError) error = NULL;
  test_opencl_device = test_find_opencl(&error);
  if (!test_opencl_device) {
    g_test_message("no device: %s", error->message);
    return;
  }
  test_opencl_backend = astro_module_backend_of(ASTRO_BACKEND_OPENCL, "histogram");
  g_assert_nonnull(test_opencl_backend);
}

/* The backends of devices that are there; returns how many these are. */
static inline guint test_device_backends(AstroBackend found[2])
{
  guint n = 0;
  if (test_cuda_device)
    found[n++] = test_cuda;
  if (test_opencl_device)
    found[n++] = test_opencl();
  return n;
}

static const AstroHistogramParts test_orders_points = { .orders_points = TRUE };
static const AstroBackend test_cuda_orders = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_CUDA,
  .create = test_cuda_create,
  .submit = test_cuda_submit,
  .destroy = test_cuda_destroy,
  .parts = &test_orders_points,
};

static inline void test_find_cuda(void)
{
  g_autoptr(GError) error = NULL;
  test_cuda_device = test_find_device(&error);
  if (!test_cuda_device) {
    g_test_message("no device: %s", error->message);
    return;
  }
  test_cuda_backend = astro_module_backend("histogram");
  g_assert_nonnull(test_cuda_backend);
}

static inline gboolean test_skip_without_device(void)
{
  if (!test_cuda_device)
    g_test_skip("there is no CUDA device");
  return !test_cuda_device;
}

/* Counts pairs of two sets of points, or within one (b NULL), and frees them. Outputs begin as
 * garbage, with guards behind. */
static inline void test_count_points(const AstroBackend *backend,
                                     const AstroHistogramConfig *config, guint threads,
                                     const AstroHistogramCall *call, AstroPoints *a, AstroPoints *b,
                                     gboolean has_sums, guint64 *counts, double *sums)
{
  const AstroPlace place = { .threads = threads };
  const gsize bytes = astro_histogram_values(config) * sizeof *counts,
              sum_bytes = astro_histogram_sums(config) * sizeof *sums;
  GError *error = NULL;
  const char *variant = NULL;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  gpointer out_counts = test_alloc(bytes), out_sums = test_alloc(sum_bytes);
  const AstroBlock in[2] = { { a, 0 }, { b, 0 } },
                   out[2] = { { out_counts, bytes }, { out_sums, sum_bytes } };
  backend->submit(instance, in, b ? 2 : 1, out, has_sums ? 2 : 1, call, NULL, &error);
  g_assert_no_error(error);
  test_check_guard(out_counts, bytes);
  test_check_guard(out_sums, sum_bytes);
  memcpy(counts, out_counts, bytes);
  memcpy(sums, out_sums, sum_bytes);
  test_free(out_counts);
  test_free(out_sums);
  astro_points_free(a);
  astro_points_free(b);
  backend->destroy(instance);
}

static inline void test_count(const AstroBackend *backend, const AstroHistogramConfig *config,
                              guint threads, const TestCatalogue *a, const TestCatalogue *b,
                              guint64 *counts, double *sums)
{
  AstroPoints *points_a =
                  backend->parts ? test_points_held(config, a) : test_points_of(config, a, threads),
              *points_b = a == b           ? NULL
                          : backend->parts ? test_points_held(config, b)
                                           : test_points_of(config, b, threads);
  test_count_points(backend, config, threads, NULL, points_a, points_b, config->weighted, counts,
                    sums);
}

static inline void test_assert_counts(const guint64 *found, const guint64 *expected, gsize n,
                                      const char *what)
{
  for (gsize k = 0; k < n; k++)
    if (found[k] != expected[k])
      g_error("%s: value %" G_GSIZE_FORMAT " is %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT,
              what, k, found[k], expected[k]);
}

static inline void test_assert_sums(const double *found, const double *expected, gsize n,
                                    const char *what)
{
  for (gsize k = 0; k < n; k++)
    if (!(fabs(found[k] - expected[k]) <= 1e-11 * fabs(expected[k])))
      g_error("%s: sum %" G_GSIZE_FORMAT " is %.17g, expected %.17g", what, k, found[k],
              expected[k]);
}

static inline void test_check_cuda(AstroHistogramConfig *config, const TestCatalogue *a,
                                   const TestCatalogue *b, const char *what,
                                   const guint64 *expected, const double *expected_sums)
{
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  gsize values = astro_histogram_values(config);
  g_autofree guint64 *found = g_new(guint64, values);
  g_autofree double *sums = g_new(double, values);
  for (guint m = 0; m < 2 * G_N_ELEMENTS(methods); m++) {
    config->method = methods[m / 2];
    g_autofree char *here = g_strdup_printf(
        "%s, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT " points, on the device, method %d%s",
        what, a->n, b->n, methods[m / 2], m % 2 ? ", ordered there" : "");
    test_count(m % 2 ? &test_cuda_orders : &test_cuda, config, 0, a, b, found, sums);
    test_assert_counts(found, expected, values, here);
    if (config->weighted)
      test_assert_sums(sums, expected_sums, values, here);
  }
}

static inline void test_check_opencl(AstroHistogramConfig *config, const TestCatalogue *a,
                                     const TestCatalogue *b, const char *what,
                                     const guint64 *expected, const double *expected_sums)
{
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const AstroBackend backend = test_opencl();
  gsize values = astro_histogram_values(config);
  g_autofree guint64 *found = g_new(guint64, values);
  g_autofree double *sums = g_new(double, values);
  for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
    config->method = methods[m];
    g_autofree char *here = g_strdup_printf("%s, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                                            " points, by OpenCL, method %d",
                                            what, a->n, b->n, methods[m]);
    test_count(&backend, config, 0, a, b, found, sums);
    test_assert_counts(found, expected, values, here);
    if (config->weighted)
      test_assert_sums(sums, expected_sums, values, here);
  }
}

/* Compares every variant, method and number of threads with the plain loop. */
static inline void test_check_all(AstroHistogramConfig *config, const TestCatalogue *a,
                                  const TestCatalogue *b, const char *what)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  gsize values = astro_histogram_values(config);
  guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
  double *expected_sums = g_new(double, values), *sums = g_new(double, values),
         *first_sums = g_new(double, values);
  test_plain_loop(config, a, b, expected, expected_sums);
  test_count(&astro_histogram_reference, config, 1, a, b, found, sums);
  test_assert_counts(found, expected, values, what);
  for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
    setenv("ASTRO_CPU", levels[l], 1);
    for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
      config->method = methods[m];
      char *here = g_strdup_printf("%s, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                                   " points, %s, method %d",
                                   what, a->n, b->n, levels[l], methods[m]);
      for (guint threads = 1; threads <= 3; threads += 2) {
        test_count(&astro_histogram_cpu, config, threads, a, b, found, sums);
        test_assert_counts(found, expected, values, here);
        if (!config->weighted)
          continue;
        test_assert_sums(sums, expected_sums, values, here);
        if (threads == 1)
          memcpy(first_sums, sums, values * sizeof *sums);
        g_assert_cmpmem(sums, values * sizeof *sums, first_sums, values * sizeof *sums);
      }
      g_free(here);
    }
  }
  unsetenv("ASTRO_CPU");
  if (test_cuda_device)
    test_check_cuda(config, a, b, what, expected, expected_sums);
  if (test_opencl_device)
    test_check_opencl(config, a, b, what, expected, expected_sums);
  config->method = ASTRO_PAIR_METHOD_AUTO;
  g_free(expected);
  g_free(found);
  g_free(expected_sums);
  g_free(sums);
  g_free(first_sums);
}

static inline AstroHistogramConfig test_standard_bins(void)
{
  AstroHistogramConfig config = { 0 };
  GError *error = NULL;
  astro_histogram_edges_per_decade(&config, 0.01, 10000, 5, &error);
  g_assert_no_error(error);
  return config;
}

/* Everything from 0 on, in odd steps, with an edge past 180 degrees. */
static inline AstroHistogramConfig test_whole_range(void)
{
  AstroHistogramConfig config = { 0 };
  static const double edges[] = { 0, 1e-9, 0.5, 1, 1200, 1200.5, 1234, 5400, 10799, 10800, 10801 };
  config.n_edges = G_N_ELEMENTS(edges);
  memcpy(config.edges, edges, sizeof edges);
  return config;
}

static inline int test_histogram(int argc, char **argv, void (*add_tests)(void))
{
  g_test_init(&argc, &argv, NULL);
  test_find_cuda();
  test_find_opencl_backend();
  add_tests();
  int status = g_test_run();
  g_clear_pointer(&test_cuda_device, astro_device_unref);
  g_clear_pointer(&test_opencl_device, astro_device_unref);
  return status;
}
