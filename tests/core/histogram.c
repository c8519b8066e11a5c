#include "core/backend/threads.h"
#include "core/histogram/collect.h"
#include "core/histogram/histogram.h"
#include "tests/tests.h"

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MANY 300
#else
#define MANY 700
#endif

typedef struct {
  guint64 n;
  double *ra, *dec, *weight, *region;
} Catalogue;

static double uniform(guint64 *state)
{
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) / (double)(1ull << 53);
}

typedef void (*Place)(guint64 i, guint64 n, guint64 *state, double *ra, double *dec);

static void place_sphere(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 360 * uniform(state);
  *dec = asin(2 * uniform(state) - 1) * 180 / G_PI;
}

static void place_half(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  place_sphere(i, n, state, ra, dec);
  *dec = fabs(*dec);
}

/* Clumps within clumps, down to seconds of arc. */
static void place_clusters(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  double scale = pow(10, -5 * uniform(state));
  *ra = 40 + 10 * (double)(i % 7) + scale * uniform(state);
  *dec = -20 + 5 * (double)(i % 5) + scale * uniform(state);
}

static void place_duplicates(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 10 * (double)(i % 5);
  *dec = 20 * (double)(i % 3);
}

static void place_one(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 123.456;
  *dec = -7.89;
}

static void place_antipodes(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  guint64 pair = i / 2 + 17;
  place_sphere(i, n, &pair, ra, dec);
  if (i % 2) {
    *ra += 180;
    *dec = -*dec;
  }
}

static void place_poles(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = 360 * uniform(state);
  *dec = (i % 2 ? 1 : -1) * (90 - (i % 3 ? 1e-3 * uniform(state) : 0));
}

static void place_wrap(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = (i % 3 == 0 ? 360 : i % 3 == 1 ? 0 : -720) + 0.02 * (uniform(state) - 0.5);
  *dec = 0.02 * (uniform(state) - 0.5);
}

/* Steps of one degree: the same separations over and over. */
static void place_lattice(guint64 i, guint64 n, guint64 *state, double *ra, double *dec)
{
  *ra = (double)(i % 40);
  *dec = (double)(i / 40 % 40);
}

static const struct {
  const char *name;
  Place place;
} skies[] = {
  { "sphere", place_sphere },         { "half", place_half }, { "clusters", place_clusters },
  { "duplicates", place_duplicates }, { "one", place_one },   { "antipodes", place_antipodes },
  { "poles", place_poles },           { "wrap", place_wrap }, { "lattice", place_lattice },
};

static Catalogue catalogue_new(Place place, guint64 n, guint n_regions, guint64 seed)
{
  Catalogue catalogue = { n, g_new(double, MAX(n, 1)), g_new(double, MAX(n, 1)),
                          g_new(double, MAX(n, 1)), g_new(double, MAX(n, 1)) };
  guint64 state = seed;
  for (guint64 i = 0; i < n; i++) {
    place(i, n, &state, &catalogue.ra[i], &catalogue.dec[i]);
    catalogue.weight[i] = 0.5 + uniform(&state);
    catalogue.region[i] = floor(n_regions * uniform(&state));
  }
  return catalogue;
}

static void catalogue_clear(Catalogue *catalogue)
{
  g_free(catalogue->ra);
  g_free(catalogue->dec);
  g_free(catalogue->weight);
  g_free(catalogue->region);
}

/* Everything anew, from the catalogue's columns: shares the bin rule's two conversions and no more.
 */
static void plain_loop(const AstroHistogramConfig *config, const Catalogue *a, const Catalogue *b,
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
  for (guint64 i = 0; i < a->n; i++) {
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

static AstroPoints *points_of(const AstroHistogramConfig *config, const Catalogue *catalogue,
                              guint threads)
{
  GError *error = NULL;
  AstroPoints *points =
      astro_points_new(catalogue->ra, catalogue->dec, config->weighted ? catalogue->weight : NULL,
                       config->n_regions ? catalogue->region : NULL, catalogue->n,
                       config->n_regions, threads, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(astro_points_count(points), ==, catalogue->n);
  return points;
}

/* The CUDA backend, where there is a device: it takes the same pointers as the CPU's. */
static const AstroBackend *cuda_backend;
static AstroDevice *cuda_device;

static gpointer on_device_create(gconstpointer config, const AstroPlace *place,
                                 const char **variant, GError **error)
{
  AstroPlace on_device = { .device = cuda_device };
  return cuda_backend->create(config, &on_device, variant, error);
}

/* Waits, as the CPU's does. */
static gboolean on_device_submit(gpointer instance, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out, gpointer arguments,
                                 GError **error)
{
  return cuda_backend->submit(instance, in, n_in, out, n_out, arguments, error) &&
         cuda_backend->drain(instance, error);
}

static void on_device_destroy(gpointer instance)
{
  cuda_backend->destroy(instance);
}

static const AstroBackend on_device = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_CUDA,
  .create = on_device_create,
  .submit = on_device_submit,
  .destroy = on_device_destroy,
};

static void find_device(void)
{
  g_autoptr(GError) error = NULL;
  cuda_device = astro_device_open(0, &error);
  if (!cuda_device) {
    g_test_message("no device: %s", error->message);
    return;
  }
  cuda_backend = astro_module_backend("histogram");
  g_assert_nonnull(cuda_backend);
}

static gboolean skip_without_device(void)
{
  if (!cuda_device)
    g_test_skip("there is no CUDA device");
  return !cuda_device;
}

/* Outputs begin as garbage, with guards behind. */
static void count(const AstroBackend *backend, const AstroHistogramConfig *config, guint threads,
                  const Catalogue *a, const Catalogue *b, guint64 *counts, double *sums)
{
  AstroPlace place = { .threads = threads };
  GError *error = NULL;
  const char *variant = NULL;
  gsize bytes = astro_histogram_values(config) * sizeof *counts;
  gpointer instance = backend->create(config, &place, &variant, &error);
  g_assert_no_error(error);
  g_assert_nonnull(variant);
  AstroPoints *points_a = points_of(config, a, threads),
              *points_b = a == b ? NULL : points_of(config, b, threads);
  gpointer out_counts = test_alloc(bytes), out_sums = test_alloc(bytes);
  AstroBlock in[2] = { { points_a, 0 }, { points_b, 0 } };
  AstroBlock out[2] = { { out_counts, bytes }, { out_sums, bytes } };
  backend->submit(instance, in, points_b ? 2 : 1, out, config->weighted ? 2 : 1, NULL, &error);
  g_assert_no_error(error);
  test_check_guard(out_counts, bytes);
  test_check_guard(out_sums, bytes);
  memcpy(counts, out_counts, bytes);
  memcpy(sums, out_sums, bytes);
  test_free(out_counts);
  test_free(out_sums);
  astro_points_free(points_a);
  astro_points_free(points_b);
  backend->destroy(instance);
}

static void assert_counts(const guint64 *found, const guint64 *expected, gsize n, const char *what)
{
  for (gsize k = 0; k < n; k++)
    if (found[k] != expected[k])
      g_error("%s: value %" G_GSIZE_FORMAT " is %" G_GUINT64_FORMAT ", expected %" G_GUINT64_FORMAT,
              what, k, found[k], expected[k]);
}

static void assert_sums(const double *found, const double *expected, gsize n, const char *what)
{
  for (gsize k = 0; k < n; k++)
    if (!(fabs(found[k] - expected[k]) <= 1e-11 * fabs(expected[k])))
      g_error("%s: sum %" G_GSIZE_FORMAT " is %.17g, expected %.17g", what, k, found[k],
              expected[k]);
}

static void check_device(AstroHistogramConfig *config, const Catalogue *a, const Catalogue *b,
                         const char *what, const guint64 *expected, const double *expected_sums)
{
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  gsize values = astro_histogram_values(config);
  g_autofree guint64 *found = g_new(guint64, values);
  g_autofree double *sums = g_new(double, values);
  for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
    config->method = methods[m];
    g_autofree char *here = g_strdup_printf("%s, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                                            " points, on the device, method %d",
                                            what, a->n, b->n, methods[m]);
    count(&on_device, config, 0, a, b, found, sums);
    assert_counts(found, expected, values, here);
    if (config->weighted)
      assert_sums(sums, expected_sums, values, here);
  }
}

/* Every variant, method and number of threads against the plain loop. */
static void check_all(AstroHistogramConfig *config, const Catalogue *a, const Catalogue *b,
                      const char *what)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  gsize values = astro_histogram_values(config);
  guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
  double *expected_sums = g_new(double, values), *sums = g_new(double, values),
         *first_sums = g_new(double, values);
  plain_loop(config, a, b, expected, expected_sums);
  count(&astro_histogram_reference, config, 1, a, b, found, sums);
  assert_counts(found, expected, values, what);
  for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
    setenv("ASTRO_CPU", levels[l], 1);
    for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
      config->method = methods[m];
      char *here = g_strdup_printf("%s, %" G_GUINT64_FORMAT " and %" G_GUINT64_FORMAT
                                   " points, %s, method %d",
                                   what, a->n, b->n, levels[l], methods[m]);
      for (guint threads = 1; threads <= 3; threads += 2) {
        count(&astro_histogram_cpu, config, threads, a, b, found, sums);
        assert_counts(found, expected, values, here);
        if (!config->weighted)
          continue;
        assert_sums(sums, expected_sums, values, here);
        if (threads == 1)
          memcpy(first_sums, sums, values * sizeof *sums);
        g_assert_cmpmem(sums, values * sizeof *sums, first_sums, values * sizeof *sums);
      }
      g_free(here);
    }
  }
  unsetenv("ASTRO_CPU");
  if (cuda_device)
    check_device(config, a, b, what, expected, expected_sums);
  config->method = ASTRO_PAIR_METHOD_AUTO;
  g_free(expected);
  g_free(found);
  g_free(expected_sums);
  g_free(sums);
  g_free(first_sums);
}

static AstroHistogramConfig standard_bins(void)
{
  AstroHistogramConfig config = { 0 };
  GError *error = NULL;
  astro_histogram_edges_per_decade(&config, 0.01, 10000, 5, &error);
  g_assert_no_error(error);
  return config;
}

/* Everything from 0 on, in odd steps, with an edge past 180 degrees. */
static AstroHistogramConfig whole_range(void)
{
  AstroHistogramConfig config = { 0 };
  static const double edges[] = { 0, 1e-9, 0.5, 1, 1200, 1200.5, 1234, 5400, 10799, 10800, 10801 };
  config.n_edges = G_N_ELEMENTS(edges);
  memcpy(config.edges, edges, sizeof edges);
  return config;
}

static void test_edges(void)
{
  AstroHistogramConfig config = standard_bins();
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
    g_assert_null(astro_points_new(ra, dec, weight, region, 2, 4, 1, &error));
    g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_POINTS);
    g_assert_nonnull(strstr(error->message, "point 1"));
    g_assert_nonnull(strstr(error->message, wrong[w].says));
    g_clear_error(&error);
  }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* A catalogue with regions made of it, with so many bytes of memory left. */
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

/* Wherever memory ends, that is an error. */
static void test_no_memory(void)
{
  const gsize step = 4 << 20, most = 100 * step;
  Catalogue c = catalogue_new(place_sphere, 1000000, 1, 21);
  AstroCatalogue catalogue = { .n = c.n, .ra = c.ra, .dec = c.dec };
  gsize bytes = step;
  while (bytes < most && !collect_within(bytes, &catalogue))
    bytes += step;
  g_test_message("a million points take less than %" G_GSIZE_FORMAT " MiB", bytes >> 20);
  g_assert_cmpuint(bytes, >, step);
  g_assert_cmpuint(bytes, <, most);
  catalogue_clear(&c);
}
#endif

static void test_refused_blocks(void)
{
  AstroHistogramConfig config = standard_bins();
  const char *variant;
  gpointer counter = astro_histogram_cpu.create(&config, NULL, &variant, NULL);
  double zero = 0;
  AstroPoints *one = astro_points_new(&zero, &zero, NULL, NULL, 1, 0, 1, NULL),
              *in_regions = astro_points_new(&zero, &zero, NULL, &zero, 1, 3, 1, NULL);
  guint64 counts[30];
  AstroBlock in[2] = { { one, 0 }, { in_regions, 0 } }, out = { counts, sizeof counts },
             small = { counts, sizeof counts - 1 };
  g_assert_true(astro_histogram_cpu.submit(counter, in, 1, &out, 1, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 1, &small, 1, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 2, &out, 1, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 1, &out, 2, NULL, NULL));
  g_assert_false(astro_histogram_cpu.submit(counter, in, 0, &out, 1, NULL, NULL));
  astro_points_free(one);
  astro_points_free(in_regions);
  astro_histogram_cpu.destroy(counter);
}

static void test_sky(gconstpointer data)
{
  Place place = skies[GPOINTER_TO_UINT(data)].place;
  const char *name = skies[GPOINTER_TO_UINT(data)].name;
  static const guint64 sizes[] = { 0, 1, 2, 31, 32, 33, 97, MANY };
  AstroHistogramConfig configs[] = { standard_bins(), whole_range() };
  for (guint c = 0; c < G_N_ELEMENTS(configs); c++)
    for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
      Catalogue a = catalogue_new(place, sizes[s], 1, 1),
                b = catalogue_new(place, sizes[G_N_ELEMENTS(sizes) - 1 - s], 1, 2);
      check_all(&configs[c], &a, &a, name);
      check_all(&configs[c], &a, &b, name);
      catalogue_clear(&a);
      catalogue_clear(&b);
    }
}

/* The angle that the bin rule turns into exactly that square, where there is one. */
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

/* Edges on the very squares of pairs: a product and a sum fused into one, a wrong comparison or a
 * bound without margin falls on the other side of some. */
static void test_on_edges(void)
{
  static const Place places[] = { place_sphere, place_clusters, place_lattice };
  for (guint p = 0; p < G_N_ELEMENTS(places); p++) {
    Catalogue a = catalogue_new(places[p], MIN(MANY, 1500), 1, 5);
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
    check_all(&config, &a, &a, "edges on pairs");
    /* one bin that begins on a pair alone */
    config.edges[0] = config.edges[kept / 2];
    config.edges[1] = 10801;
    config.n_edges = 2;
    check_all(&config, &a, &a, "one edge on a pair");
    catalogue_clear(&a);
  }
}

static void test_above_the_sphere(void)
{
  AstroHistogramConfig config = { .n_edges = 3, .edges = { 10801, 10802, 20000 } };
  Catalogue a = catalogue_new(place_antipodes, 300, 1, 16);
  check_all(&config, &a, &a, "above 180 degrees");
  catalogue_clear(&a);
}

static void test_many_bins(void)
{
  AstroHistogramConfig config = { 0 };
  Catalogue a = catalogue_new(place_half, MIN(MANY, 1000), 1, 6),
            b = catalogue_new(place_sphere, 300, 1, 7);
  g_assert_true(astro_histogram_edges_linear(&config, 0, 10801, 1024, NULL));
  check_all(&config, &a, &a, "1024 bins");
  check_all(&config, &a, &b, "1024 bins");
  catalogue_clear(&a);
  catalogue_clear(&b);
}

static void test_regions(void)
{
  static const guint regions[] = { 1, 2, 7, 40, 150 };
  for (guint r = 0; r < G_N_ELEMENTS(regions); r++)
    for (guint weighted = 0; weighted < 2; weighted++) {
      AstroHistogramConfig config = standard_bins();
      if (test_passes_over(2 * r + weighted))
        continue;
      config.n_regions = regions[r];
      config.weighted = weighted;
      Catalogue a = catalogue_new(place_half, 900, regions[r], 3),
                b = catalogue_new(place_clusters, 700, regions[r], 4);
      if (regions[r] > 2)
        for (guint64 i = 0; i < a.n; i++) /* region 1 empty, region 2 of one point */
          a.region[i] = i == 5 ? 2 : a.region[i] == 1 || a.region[i] == 2 ? 0 : a.region[i];
      check_all(&config, &a, &a, "regions");
      check_all(&config, &a, &b, "regions");
      check_all(&config, &b, &a, "regions");
      catalogue_clear(&a);
      catalogue_clear(&b);
    }
}

static void test_weights(void)
{
  AstroHistogramConfig configs[] = { standard_bins(), whole_range() };
  for (guint c = 0; c < G_N_ELEMENTS(configs); c++)
    for (guint s = 0; s < 3; s++) {
      configs[c].weighted = TRUE;
      Catalogue a = catalogue_new(skies[s].place, MANY, 1, 8),
                b = catalogue_new(skies[s].place, 400, 1, 9);
      check_all(&configs[c], &a, &a, "weights");
      check_all(&configs[c], &a, &b, "weights");
      catalogue_clear(&a);
      catalogue_clear(&b);
    }
}

/* Sums of few pairs, or of weights of 0 alone, are not what is left of the sums of all. */
static void test_small_weights(void)
{
  AstroHistogramConfig config = whole_range();
  config.weighted = TRUE;
  for (guint s = 0; s < G_N_ELEMENTS(skies); s++) {
    Catalogue a = catalogue_new(skies[s].place, MANY, 1, 12),
              b = catalogue_new(skies[s].place, 400, 1, 13);
    guint64 state = s;
    for (guint64 i = 0; i < a.n; i++)
      a.weight[i] = i % 3 ? pow(10, -40 * uniform(&state)) : 0;
    for (guint64 i = 0; i < b.n; i++)
      b.weight[i] = i < b.n / 2 ? pow(10, 40 * uniform(&state)) : 0;
    check_all(&config, &a, &a, "small weights");
    check_all(&config, &a, &b, "small weights");
    catalogue_clear(&a);
    catalogue_clear(&b);
  }
}

static void catalogue_without(const Catalogue *all, double region, Catalogue *without)
{
  *without = catalogue_new(place_one, all->n, 1, 1);
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

/* Counts and sums of weights of a bin, over all pairs of regions but those of one; region n_regions
 * leaves none out. */
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
  AstroHistogramConfig config = standard_bins(), plain = standard_bins();
  guint n_bins = config.n_edges - 1;
  config.n_regions = REGIONS;
  config.weighted = TRUE;
  plain.weighted = TRUE;
  gsize values = astro_histogram_values(&config);
  guint64 *counts = g_new(guint64, values), found[64], expected[64];
  double *sums = g_new(double, values), found_sums[64], expected_sums[64];
  Catalogue a = catalogue_new(place_half, 800, REGIONS, 10),
            b = catalogue_new(place_half, 600, REGIONS, 11);
  for (guint cross = 0; cross < 2; cross++) {
    count(&astro_histogram_cpu, &config, 0, &a, cross ? &b : &a, counts, sums);
    for (guint region = 0; region <= REGIONS; region++) {
      Catalogue some_a, some_b;
      catalogue_without(&a, region, &some_a);
      catalogue_without(&b, region, &some_b);
      count(&astro_histogram_cpu, &plain, 0, &some_a, cross ? &some_b : &some_a, expected,
            expected_sums);
      sum_without(counts, sums, REGIONS, n_bins, region, found, found_sums);
      assert_counts(found, expected, n_bins, "left out");
      assert_sums(found_sums, expected_sums, n_bins, "left out");
      catalogue_clear(&some_a);
      catalogue_clear(&some_b);
    }
  }
  catalogue_clear(&a);
  catalogue_clear(&b);
  g_free(counts);
  g_free(sums);
}

static void test_all_pairs(void)
{
  AstroHistogramConfig config = whole_range();
  for (guint s = 0; s < G_N_ELEMENTS(skies); s++) {
    guint64 counts[ASTRO_HISTOGRAM_MAX_EDGES], sum = 0;
    double sums[ASTRO_HISTOGRAM_MAX_EDGES];
    Catalogue a = catalogue_new(skies[s].place, 20000, 1, 12);
    count(&astro_histogram_cpu, &config, 0, &a, &a, counts, sums);
    for (guint k = 0; k + 1 < config.n_edges; k++)
      sum += counts[k];
    g_assert_cmpuint(sum, ==, a.n * (a.n - 1) / 2);
    catalogue_clear(&a);
  }
}

/* The size of the papers with -m slow. */
static guint64 large_n(void)
{
  return g_test_slow() ? 97178 : MANY == 700 ? 20000 : 2400;
}

/* Tree and brute force against the plain loop where the tree is deep. */
static void test_large(void)
{
  AstroHistogramConfig config = standard_bins();
  config.n_regions = 10;
  gsize values = astro_histogram_values(&config);
  guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
  double *sums = g_new(double, values);
  Catalogue a = catalogue_new(place_half, large_n(), 10, 13);
  plain_loop(&config, &a, &a, expected, sums);
  for (config.method = 0; config.method <= ASTRO_PAIR_METHOD_BRUTE; config.method++) {
    count(&astro_histogram_cpu, &config, 0, &a, &a, found, sums);
    assert_counts(found, expected, values, "large");
  }
  catalogue_clear(&a);
  g_free(expected);
  g_free(found);
  g_free(sums);
}

static void check_single(const AstroBackend *backend)
{
  AstroHistogramConfig config = standard_bins();
  guint64 exact[64], single[64];
  double sums[64];
  for (guint s = 0; s < 3; s++) {
    Catalogue a = catalogue_new(skies[s].place, 20000, 1, 14);
    config.precision = ASTRO_PRECISION_EXACT;
    count(&astro_histogram_cpu, &config, 0, &a, &a, exact, sums);
    config.precision = ASTRO_PRECISION_SINGLE;
    count(backend, &config, 0, &a, &a, single, sums);
    for (guint k = 0; k + 1 < config.n_edges; k++)
      g_assert_cmpfloat(fabs((double)single[k] - (double)exact[k]), <=,
                        2 + 1e-4 * (double)exact[k]);
    catalogue_clear(&a);
  }
}

/* A backend that is as late as a device's may be: outputs are written when it is drained. */
typedef struct {
  gpointer counter;
  GArray *blocks; /* where what was counted is to go, and what that is */
} Late;
typedef struct {
  AstroBlock to;
  gpointer counts;
} LateBlock;

static gpointer late_create(gconstpointer config, const AstroPlace *place, const char **variant,
                            GError **error)
{
  Late *late = g_new(Late, 1);
  late->counter = astro_histogram_cpu.create(config, place, variant, error);
  late->blocks = g_array_new(FALSE, FALSE, sizeof(LateBlock));
  return late;
}

static gboolean late_submit(gpointer instance, const AstroBlock *in, guint n_in,
                            const AstroBlock *out, guint n_out, gpointer arguments, GError **error)
{
  Late *late = instance;
  LateBlock block = { out[0], g_malloc(out[0].bytes) };
  AstroBlock own = { block.counts, out[0].bytes };
  g_assert_cmpuint(n_out, ==, 1);
  memset(out[0].data, 0xa5, out[0].bytes);
  g_array_append_val(late->blocks, block);
  return astro_histogram_cpu.submit(late->counter, in, n_in, &own, 1, arguments, error);
}

static gboolean late_drain(gpointer instance, GError **error)
{
  Late *late = instance;
  for (guint i = 0; i < late->blocks->len; i++) {
    LateBlock *block = &g_array_index(late->blocks, LateBlock, i);
    memcpy(block->to.data, block->counts, block->to.bytes);
    g_free(block->counts);
  }
  g_array_set_size(late->blocks, 0);
  return TRUE;
}

static void late_destroy(gpointer instance)
{
  Late *late = instance;
  late_drain(late, NULL);
  g_array_unref(late->blocks);
  astro_histogram_cpu.destroy(late->counter);
  g_free(late);
}

static gboolean any_shape(gconstpointer config, GError **error)
{
  return TRUE;
}

/* Data, and random catalogues that come while those before them are counted. */
static guint64 *collect(const AstroBackend *backend, gsize *bytes)
{
  static const AstroFootprint band = { .ra_max = 30, .dec_max = 20 };
  static const gboolean is_there[ASTRO_N_SIDES] = { TRUE, TRUE };
  AstroHistogramConfig config = standard_bins();
  AstroPlace place = { 0 };
  GError *error = NULL;
  config.n_regions = 4;
  AstroCollector *collector = astro_collector_new(&config, is_there, backend, &place, &error);
  for (guint c = 0; c < 6; c++) {
    AstroCatalogue catalogue;
    AstroRandom random;
    astro_random_init(&random, c, 0);
    astro_catalogue_uniform(&band, 500 + 100 * c, &random, &catalogue, &error);
    if (c == 0)
      astro_collector_add_data(collector, &catalogue, NULL, NULL, &error);
    else
      astro_collector_add_random(collector, &catalogue, NULL, NULL, &error);
    g_assert_no_error(error);
    astro_catalogue_clear(&catalogue);
  }
  g_assert_true(astro_collector_finish(collector, &error));
  gconstpointer values = astro_collector_values(collector, bytes);
  guint64 *copy = g_memdup2(values, *bytes);
  astro_collector_free(collector);
  return copy;
}

static void test_late(void)
{
  static const AstroBackend late = {
    .shape = any_shape,
    .create = late_create,
    .submit = late_submit,
    .drain = late_drain,
    .destroy = late_destroy,
  };
  gsize bytes, late_bytes;
  g_autofree guint64 *at_once = collect(&astro_histogram_cpu, &bytes),
                     *later = collect(&late, &late_bytes);
  g_assert_cmpmem(later, late_bytes, at_once, bytes);
}

static void test_single(void)
{
  check_single(&astro_histogram_cpu);
  if (cuda_device)
    check_single(&on_device);
}

/* The device against the CPU where the lists are long and a count takes several slices: every
 * sky, dense and clustered, one and two catalogues, weights and regions in turn. */
static void test_cuda_large(void)
{
  if (skip_without_device())
    return;
  for (guint s = 0; s < G_N_ELEMENTS(skies); s++) {
    AstroHistogramConfig config = s % 2 ? whole_range() : standard_bins();
    config.n_regions = s % 3 ? 7 : 0;
    config.weighted = s == 0 || s == 4;
    gsize values = astro_histogram_values(&config);
    g_autofree guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
    g_autofree double *expected_sums = g_new(double, values), *sums = g_new(double, values);
    Catalogue a = catalogue_new(skies[s].place, s == 1 ? 200001 : 30011, 7, 21),
              b = catalogue_new(skies[(s + 1) % G_N_ELEMENTS(skies)].place, 20077, 7, 22);
    for (guint two = 0; two < 2; two++) {
      config.method = ASTRO_PAIR_METHOD_AUTO;
      count(&astro_histogram_cpu, &config, 0, &a, two ? &b : &a, expected, expected_sums);
      for (; config.method <= ASTRO_PAIR_METHOD_BRUTE; config.method++) {
        count(&on_device, &config, 0, &a, two ? &b : &a, found, sums);
        assert_counts(found, expected, values, skies[s].name);
        if (config.weighted)
          assert_sums(sums, expected_sums, values, skies[s].name);
      }
    }
    catalogue_clear(&a);
    catalogue_clear(&b);
  }
}

enum { HUGE_PARTS = 1000 };

static void place_part(gpointer data, guint64 part)
{
  const Catalogue *all = data;
  guint64 state = part;
  uniform(&state);
  for (guint64 i = all->n * part / HUGE_PARTS; i < all->n * (part + 1) / HUGE_PARTS; i++)
    place_sphere(i, all->n, &state, &all->ra[i], &all->dec[i]);
}

/* As many points as a survey may have (with -m slow, in 10 GB of memory): seconds of arc, of which
 * there are few enough to be counted on the CPU too, and all the rest, which is no 32-bit number.
 */
static void test_cuda_huge(void)
{
  if (skip_without_device())
    return;
  const guint64 n = g_test_slow() ? 100000000 : 3000000;
  AstroHistogramConfig config = { .n_edges = 5, .edges = { 0, 0.005, 0.02, 0.1, 10801 } };
  guint64 expected[4], found[4], sum = 0;
  double sums[4];
  Catalogue a = { n, g_new(double, n), g_new(double, n), NULL, NULL };
  astro_parallel(HUGE_PARTS, 0, place_part, &a);
  count(&astro_histogram_cpu, &config, 0, &a, &a, expected, sums);
  count(&on_device, &config, 0, &a, &a, found, sums);
  for (guint k = 0; k < 4; k++) {
    g_test_message("bin %u: %" G_GUINT64_FORMAT, k, found[k]);
    sum += found[k];
  }
  g_assert_cmpuint(sum, ==, n * (n - 1) / 2);
  assert_counts(found, expected, 4, "huge");
  /* what points at random make of it, within six deviations */
  for (guint k = 0; k < 3; k++) {
    double mean = (double)n * (double)(n - 1) / 8 *
                  (astro_chord_square(config.edges[k + 1]) - astro_chord_square(config.edges[k]));
    g_assert_cmpfloat(fabs((double)found[k] - mean), <=, 6 * sqrt(mean) + 6);
  }
  catalogue_clear(&a);
}

/* Several counts queued before the first is waited for, of catalogues that are freed at once, so
 * that others lie where they lay. */
static void test_cuda_queued(void)
{
  enum { CATALOGUES = 12 };
  if (skip_without_device())
    return;
  AstroHistogramConfig config = standard_bins();
  AstroPlace place = { .device = cuda_device };
  const char *variant;
  GError *error = NULL;
  guint64 found[CATALOGUES][2][30], expected[30];
  double sums[30];
  Catalogue data = catalogue_new(place_half, 20000, 1, 30), random[CATALOGUES];
  gpointer instance = cuda_backend->create(&config, &place, &variant, &error);
  g_assert_no_error(error);
  memset(found, 0xa5, sizeof found);
  AstroPoints *points = points_of(&config, &data, 0);
  for (guint c = 0; c < CATALOGUES; c++) {
    random[c] = catalogue_new(place_sphere, 20000, 1, 31 + c);
    AstroPoints *other = points_of(&config, &random[c], 0);
    AstroBlock in[2] = { { points, 0 }, { other, 0 } };
    for (guint n_in = 1; n_in <= 2; n_in++) {
      AstroBlock out = { found[c][n_in - 1], sizeof found[c][n_in - 1] };
      cuda_backend->submit(instance, n_in == 1 ? in + 1 : in, n_in, &out, 1, NULL, &error);
      g_assert_no_error(error);
    }
    astro_points_free(other);
  }
  astro_points_free(points);
  cuda_backend->drain(instance, &error);
  g_assert_no_error(error);
  cuda_backend->destroy(instance);
  for (guint c = 0; c < CATALOGUES; c++) {
    count(&astro_histogram_cpu, &config, 0, &random[c], &random[c], expected, sums);
    assert_counts(found[c][0], expected, 30, "queued, one catalogue");
    count(&astro_histogram_cpu, &config, 0, &data, &random[c], expected, sums);
    assert_counts(found[c][1], expected, 30, "queued, two catalogues");
    catalogue_clear(&random[c]);
  }
  catalogue_clear(&data);
}

typedef struct {
  guint64 done, total;
  guint calls, stop_at;
} Watch;

static gboolean watch(guint64 done, guint64 total, gpointer data)
{
  Watch *seen = data;
  g_assert_cmpuint(done, >=, seen->done);
  g_assert_cmpuint(done, <=, total);
  seen->done = done;
  seen->total = total;
  return ++seen->calls != seen->stop_at;
}

static void check_progress(const AstroBackend *backend, guint64 n)
{
  AstroHistogramConfig config = standard_bins();
  Catalogue a = catalogue_new(place_half, n, 1, 15);
  AstroPoints *points = points_of(&config, &a, 0);
  guint64 counts[64];
  AstroBlock in[2] = { { points, 0 }, { points, 0 } }, out = { counts, sizeof counts };
  const char *variant;
  GError *error = NULL;
  gpointer counter = backend->create(&config, NULL, &variant, NULL);
  for (guint n_in = 1; n_in <= 2; n_in++) {
    Watch seen = { 0 };
    AstroHistogramCall call = { watch, &seen };
    g_assert_true(backend->submit(counter, in, n_in, &out, 1, &call, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(seen.total, ==, n_in == 1 ? a.n * (a.n - 1) / 2 : a.n * a.n);
    g_assert_cmpuint(seen.done, ==, seen.total);
  }
  Watch seen = { .stop_at = 3 };
  AstroHistogramCall call = { watch, &seen };
  g_assert_false(backend->submit(counter, in, 1, &out, 1, &call, &error));
  g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
  g_clear_error(&error);
  g_assert_cmpuint(seen.done, <, seen.total);
  backend->destroy(counter);
  astro_points_free(points);
  catalogue_clear(&a);
}

static void test_progress(void)
{
  check_progress(&astro_histogram_reference, 500);
  check_progress(&astro_histogram_cpu, 500);
}

/* Called once a slice: a catalogue of several. */
static void test_cuda_progress(void)
{
  if (!skip_without_device())
    check_progress(&on_device, 300000);
}

static guint64 free_bytes(void)
{
  /* what can be had in blocks of 8 MiB */
  enum { BLOCK = 8 << 20 };
  g_autoptr(GPtrArray) blocks = g_ptr_array_new();
  gpointer block;
  gsize bytes = (gsize)64 << 30;
  guint64 sum = 0;
  while (bytes >= BLOCK)
    if (cuda_device->funcs->alloc(cuda_device, bytes, &block, NULL)) {
      g_ptr_array_add(blocks, block);
      sum += bytes;
    } else {
      bytes /= 2;
    }
  for (guint i = 0; i < blocks->len; i++)
    cuda_device->funcs->free(cuda_device, blocks->pdata[i]);
  return sum;
}

/* Stopped in mid-count again and again: with slices at work, and with counts that nobody waits for
 * any more. */
static void test_cuda_stops(void)
{
  enum { STOPS = 1000 };
  static Watch seen[STOPS];
  if (skip_without_device())
    return;
  AstroHistogramConfig config = standard_bins();
  AstroPlace place = { .device = cuda_device };
  guint64 counts[30], before = 0;
  AstroBlock out = { counts, sizeof counts };
  Catalogue a = catalogue_new(place_half, 300000, 1, 40), b = catalogue_new(place_half, 100, 1, 41);
  AstroPoints *many = points_of(&config, &a, 0), *few = points_of(&config, &b, 0);
  gpointer kept = NULL;
  guint in_mid_count = 0;
  for (guint i = 0; i < STOPS; i++) {
    const char *variant;
    GError *error = NULL;
    /* most of them of one instance, since making one takes as long as counting */
    gpointer instance =
        kept && i % 20 ? kept : cuda_backend->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    /* may be called until the count is drained or the instance destroyed */
    seen[i] = (Watch){ .stop_at = 1 + i % 20 / 10 };
    AstroHistogramCall call = { watch, &seen[i] };
    AstroBlock in = { i % 10 ? few : many, 0 };
    gboolean good = cuda_backend->submit(instance, &in, 1, &out, 1, &call, &error);
    if (!good) {
      g_assert_error(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED);
      g_assert_cmpuint(seen[i].done, <, seen[i].total);
      g_clear_error(&error);
      in_mid_count++;
    }
    if (instance != kept) {
      if (kept)
        cuda_backend->destroy(kept);
      kept = instance;
    }
    if (i == 100)
      before = free_bytes();
  }
  g_assert_cmpuint(in_mid_count, ==, STOPS / 10);
  g_assert_cmpuint(free_bytes() + ((guint64)256 << 20), >=, before);
  cuda_backend->destroy(kept);
  astro_points_free(many);
  astro_points_free(few);
  catalogue_clear(&a);
  catalogue_clear(&b);
}

/* Little memory is made do with; less is refused in words. */
static void test_cuda_memory(void)
{
  static const gsize left[] = { (gsize)24 << 20, (gsize)1 << 20 };
  if (skip_without_device())
    return;
  AstroHistogramConfig config = standard_bins();
  AstroPlace place = { .device = cuda_device };
  guint64 counts[30], expected[30];
  double sums[30];
  AstroBlock out = { counts, sizeof counts };
  Catalogue a = catalogue_new(place_half, 97178, 1, 50);
  count(&astro_histogram_cpu, &config, 0, &a, &a, expected, sums);
  AstroPoints *points = points_of(&config, &a, 0);
  AstroBlock in = { points, 0 };
  for (guint l = 0; l < G_N_ELEMENTS(left); l++) {
    g_autoptr(GPtrArray) blocks = g_ptr_array_new();
    const char *variant;
    GError *error = NULL;
    gpointer block, instance = cuda_backend->create(&config, &place, &variant, &error);
    g_assert_no_error(error);
    cuda_device->funcs->alloc(cuda_device, left[l], &block, &error);
    g_assert_no_error(error);
    gpointer hole = block;
    for (gsize bytes = (gsize)64 << 30; bytes >= 1 << 20;)
      if (cuda_device->funcs->alloc(cuda_device, bytes, &block, NULL))
        g_ptr_array_add(blocks, block);
      else
        bytes /= 2;
    cuda_device->funcs->free(cuda_device, hole);
    gboolean good = cuda_backend->submit(instance, &in, 1, &out, 1, NULL, &error) &&
                    cuda_backend->drain(instance, &error);
    if (l == 0) {
      g_assert_no_error(error);
      assert_counts(counts, expected, 30, "little memory");
    } else {
      g_assert_false(good);
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
      g_assert_nonnull(strstr(error->message, "bytes of"));
      g_clear_error(&error);
    }
    for (guint i = 0; i < blocks->len; i++)
      cuda_device->funcs->free(cuda_device, blocks->pdata[i]);
    /* the same one goes on when there is memory again */
    cuda_backend->submit(instance, &in, 1, &out, 1, NULL, &error);
    g_assert_no_error(error);
    cuda_backend->drain(instance, &error);
    g_assert_no_error(error);
    assert_counts(counts, expected, 30, "memory again");
    cuda_backend->destroy(instance);
  }
  astro_points_free(points);
  catalogue_clear(&a);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  find_device();
  g_test_add_func("/histogram/edges", test_edges);
  g_test_add_func("/histogram/refused-edges", test_refused_edges);
  g_test_add_func("/histogram/refused-points", test_refused_points);
  g_test_add_func("/histogram/refused-blocks", test_refused_blocks);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  g_test_add_func("/histogram/no-memory", test_no_memory);
#endif
  for (guint s = 0; s < G_N_ELEMENTS(skies); s++) {
    char *name = g_strdup_printf("/histogram/exact/%s", skies[s].name);
    g_test_add_data_func(name, GUINT_TO_POINTER(s), test_sky);
    g_free(name);
  }
  g_test_add_func("/histogram/on-edges", test_on_edges);
  g_test_add_func("/histogram/above-the-sphere", test_above_the_sphere);
  g_test_add_func("/histogram/many-bins", test_many_bins);
  g_test_add_func("/histogram/regions", test_regions);
  g_test_add_func("/histogram/weights", test_weights);
  g_test_add_func("/histogram/small-weights", test_small_weights);
  g_test_add_func("/histogram/leave-one-out", test_leave_one_out);
  g_test_add_func("/histogram/all-pairs", test_all_pairs);
  g_test_add_func("/histogram/large", test_large);
  g_test_add_func("/histogram/single", test_single);
  g_test_add_func("/histogram/progress", test_progress);
  g_test_add_func("/histogram/late", test_late);
  g_test_add_func("/histogram/cuda/large", test_cuda_large);
  g_test_add_func("/histogram/cuda/huge", test_cuda_huge);
  g_test_add_func("/histogram/cuda/queued", test_cuda_queued);
  g_test_add_func("/histogram/cuda/progress", test_cuda_progress);
  g_test_add_func("/histogram/cuda/stops", test_cuda_stops);
  g_test_add_func("/histogram/cuda/memory", test_cuda_memory);
  int status = g_test_run();
  g_clear_pointer(&cuda_device, astro_device_unref);
  return status;
}
