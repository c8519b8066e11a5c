/* Sums of what points carry by the reference, which is held to a plain loop over angles on the
 * sphere, and by every variant, which is held to the reference. */
#include "core/histogram/fields.h"
#include "core/histogram/from-catalogues.h"
#include "core/kit/units.h"
#include "tests/core/histogram/histogram.h"

typedef struct {
  TestCatalogue sky;
  double *k, *g1, *g2;
} Carriers;

static Carriers carriers_new(TestSky place, guint64 n, guint n_regions, guint64 seed)
{
  Carriers c = { test_catalogue_new(place, n, n_regions, seed), g_new(double, MAX(n, 1)),
                 g_new(double, MAX(n, 1)), g_new(double, MAX(n, 1)) };
  guint64 state = seed + 99;
  for (guint64 i = 0; i < n; i++) {
    c.k[i] = test_uniform(&state) - 0.3;
    c.g1[i] = test_uniform(&state) - 0.5;
    c.g2[i] = test_uniform(&state) - 0.5;
  }
  return c;
}

static void carriers_clear(Carriers *c)
{
  test_catalogue_clear(&c->sky);
  g_free(c->k);
  g_free(c->g1);
  g_free(c->g2);
}

static AstroPoints *points_of(const AstroHistogramConfig *config, const Carriers *c,
                              gboolean second)
{
  GError *error = NULL;
  const PointColumns columns = {
    c->sky.n, c->sky.ra, c->sky.dec, NULL, c->sky.weight, config->n_regions ? c->sky.region : NULL
  };
  const FieldColumns fields = { c->k, c->g1, c->g2 };
  AstroPoints *points =
      points_with_fields(&columns, &fields, astro_pair_fields_carried(config->fields, second),
                         config->n_regions, 2, NULL, &error);
  g_assert_no_error(error);
  return points;
}

/* Outputs begin as garbage, with guards behind. */
static void count(const AstroBackend *backend, const AstroHistogramConfig *config, guint threads,
                  const Carriers *a, const Carriers *b, guint64 *counts, double *sums)
{
  test_count_points(backend, config, threads, NULL, points_of(config, a, FALSE),
                    a == b ? NULL : points_of(config, b, TRUE), TRUE, counts, sums);
}

/* Shear along the great circle to another point and across it, by spherical trigonometry. */
static void turn(const Carriers *c, guint64 i, const Carriers *to, guint64 j, double shear[2])
{
  const double ra = (to->sky.ra[j] - c->sky.ra[i]) * ASTRO_DEGREE,
               here = c->sky.dec[i] * ASTRO_DEGREE, there = to->sky.dec[j] * ASTRO_DEGREE;
  const double east = cos(there) * sin(ra),
               north = cos(here) * sin(there) - sin(here) * cos(there) * cos(ra);
  const double twice = 2 * atan2(east, north), weight = c->sky.weight[i];
  shear[0] = weight * (c->g1[i] * cos(twice) + c->g2[i] * sin(twice));
  shear[1] = weight * (c->g2[i] * cos(twice) - c->g1[i] * sin(twice));
}

/* Each plane gets what a pair adds. */
static void add_pair(AstroPairFields fields, const Carriers *a, guint64 i, const Carriers *b,
                     guint64 j, double angle, double *planes)
{
  const double wa = a->sky.weight[i], wb = b->sky.weight[j];
  double of_a[2], of_b[2];
  turn(a, i, b, j, of_a);
  turn(b, j, a, i, of_b);
  planes[0] = wa * wb;
  planes[1] = wa * wb * angle;
  planes += 2;
  if (fields == ASTRO_PAIR_FIELDS_KK || fields == ASTRO_PAIR_FIELDS_NK) {
    planes[0] = wa * wb * b->k[j] * (fields == ASTRO_PAIR_FIELDS_KK ? a->k[i] : 1);
    planes[1] = planes[0] * planes[0];
  } else if (fields == ASTRO_PAIR_FIELDS_NG) {
    planes[0] = wa * of_b[0];
    planes[1] = wa * of_b[1];
    planes[2] = wa * wa * (of_b[0] * of_b[0] + of_b[1] * of_b[1]) / 2;
  } else {
    planes[0] = of_a[0] * of_b[0] + of_a[1] * of_b[1];
    planes[1] = of_a[0] * of_b[0] - of_a[1] * of_b[1];
    planes[2] = a == b ? 0 : of_a[1] * of_b[0] - of_a[0] * of_b[1];
    planes[3] = of_a[1] * of_b[0] + of_a[0] * of_b[1];
    planes[4] =
        (of_a[0] * of_a[0] + of_a[1] * of_a[1]) * (of_b[0] * of_b[0] + of_b[1] * of_b[1]) / 2;
  }
}

static void plain_loop(const AstroHistogramConfig *config, const Carriers *a, const Carriers *b,
                       double *sums)
{
  const guint regions = astro_histogram_regions(config), bins = config->n_edges - 1;
  const gsize values = astro_histogram_values(config);
  memset(sums, 0, astro_histogram_sums(config) * sizeof *sums);
  for (guint64 i = 0; i < a->sky.n; i++)
    for (guint64 j = a == b ? i + 1 : 0; j < b->sky.n; j++) {
      double p[3], q[3], planes[ASTRO_PAIR_MOST_PLANES];
      astro_unit_vector(a->sky.ra[i], a->sky.dec[i], &p[0], &p[1], &p[2]);
      astro_unit_vector(b->sky.ra[j], b->sky.dec[j], &q[0], &q[1], &q[2]);
      const double dx = p[0] - q[0], dy = p[1] - q[1], dz = p[2] - q[2];
      const double square = (dx * dx + dy * dy) + dz * dz;
      guint bin = 0;
      while (bin < config->n_edges && square >= astro_chord_square(config->edges[bin]))
        bin++;
      if (bin == 0 || bin > bins)
        continue;
      add_pair(config->fields, a, i, b, j, 120 * ASTRO_DEGREES * asin(sqrt(square) / 2), planes);
      guint ra = config->n_regions ? (guint)a->sky.region[i] : 0,
            rb = config->n_regions ? (guint)b->sky.region[j] : 0;
      if (a == b && ra > rb) {
        const guint swapped = ra;
        ra = rb;
        rb = swapped;
      }
      for (guint plane = 0; plane < astro_pair_fields_planes(config->fields); plane++)
        sums[plane * values + ((gsize)ra * regions + rb) * bins + bin - 1] += planes[plane];
    }
}

/* The last plane bounds how large a sum of products may be: its root times that of the pairs. */
static void check_sums(const AstroHistogramConfig *config, const guint64 *counts,
                       const double *found, const double *expected, double tolerance,
                       const char *what)
{
  const gsize values = astro_histogram_values(config);
  const guint planes = astro_pair_fields_planes(config->fields);
  for (guint p = 0; p < planes; p++)
    for (gsize k = 0; k < values; k++) {
      const double size = p >= ASTRO_PAIR_PLANE_FIRST && p + 1 < planes
                              ? sqrt(2 * expected[(planes - 1) * values + k] * (double)counts[k])
                              : expected[p * values + k];
      if (!(fabs(found[p * values + k] - expected[p * values + k]) <= tolerance * size))
        g_error("%s, fields=%s: plane %u, value %" G_GSIZE_FORMAT " is %.17g, expected %.17g", what,
                astro_pair_fields_name(config->fields), p, k, found[p * values + k],
                expected[p * values + k]);
    }
}

static void check_device(const AstroBackend *backend, AstroHistogramConfig *config,
                         const Carriers *a, const Carriers *b, const guint64 *counts,
                         const double *expected)
{
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const char *name = astro_backend_kind_name(backend->kind);
  const gsize values = astro_histogram_values(config), n = astro_histogram_sums(config);
  g_autofree guint64 *found = g_new(guint64, values);
  g_autofree double *sums = g_new(double, n);
  for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
    config->method = methods[m];
    count(backend, config, 0, a, b, found, sums);
    test_assert_counts(found, counts, values, name);
    check_sums(config, counts, sums, expected, 1e-12, name);
  }
}

/* plain: how near the reference comes to angles computed from right ascension and declination,
 * which lose digits where points are close; 0: they are not comparable. */
static void check_all(AstroHistogramConfig *config, const Carriers *a, const Carriers *b,
                      double plain, const char *what)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const gsize values = astro_histogram_values(config), n = astro_histogram_sums(config);
  g_autofree guint64 *counts = g_new(guint64, values), *found = g_new(guint64, values);
  g_autofree double *expected = g_new(double, n), *sums = g_new(double, n),
                    *again = g_new(double, n);
  count(&astro_histogram_reference, config, 1, a, b, counts, expected);
  if (plain > 0) {
    plain_loop(config, a, b, again);
    check_sums(config, counts, expected, again, plain, what);
  }
  for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
    setenv("ASTRO_CPU", levels[l], 1);
    for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
      config->method = methods[m];
      count(&astro_histogram_cpu, config, 1, a, b, found, sums);
      test_assert_counts(found, counts, values, levels[l]);
      check_sums(config, counts, sums, expected, 1e-12, levels[l]);
      count(&astro_histogram_cpu, config, 3, a, b, found, again);
      g_assert_cmpmem(sums, n * sizeof *sums, again, n * sizeof *again);
    }
  }
  unsetenv("ASTRO_CPU");
  AstroBackend devices[2];
  for (guint d = test_device_backends(devices); d-- > 0;)
    check_device(&devices[d], config, a, b, counts, expected);
  config->method = ASTRO_PAIR_METHOD_AUTO;
}

static AstroHistogramConfig config_of(AstroPairFields fields, gboolean whole)
{
  AstroHistogramConfig config = whole ? test_whole_range() : (AstroHistogramConfig){ 0 };
  if (!whole)
    g_assert_true(astro_histogram_edges_per_decade(&config, 10, 8000, 4, NULL));
  config.fields = fields;
  config.weighted = TRUE;
  return config;
}

static void test_sky(gconstpointer data)
{
  static const guint64 sizes[] = { 0, 1, 33, TEST_MANY / 4 };
  const guint sky = GPOINTER_TO_UINT(data);
  for (guint f = ASTRO_PAIR_FIELDS_KK; f <= ASTRO_PAIR_FIELDS_GG; f++)
    for (guint whole = 0; whole < 2; whole++)
      for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
        AstroHistogramConfig config = config_of((AstroPairFields)f, whole);
        Carriers a = carriers_new(test_skies[sky].place, sizes[s], 1, 1),
                 b = carriers_new(test_skies[sky].place, sizes[G_N_ELEMENTS(sizes) - 1 - s], 1, 2);
        check_all(&config, &a, &b, 0, test_skies[sky].name);
        if (f == ASTRO_PAIR_FIELDS_KK || f == ASTRO_PAIR_FIELDS_GG)
          check_all(&config, &a, &a, 0, test_skies[sky].name);
        carriers_clear(&a);
        carriers_clear(&b);
      }
}

/* Directions of shears by the other formula, on the whole sky and close to the poles. */
static void test_plain(void)
{
  for (guint f = ASTRO_PAIR_FIELDS_KK; f <= ASTRO_PAIR_FIELDS_GG; f++)
    for (guint regions = 0; regions <= 3; regions += 3) {
      AstroHistogramConfig config = config_of((AstroPairFields)f, FALSE);
      config.n_regions = regions;
      Carriers a = carriers_new(test_place_sphere, 180, 3, 5),
               b = carriers_new(test_place_sphere, 150, 3, 6),
               pole = carriers_new(test_place_poles, 20, 3, 7);
      check_all(&config, &a, &b, 1e-11, "plain");
      check_all(&config, &a, &pole, 1e-11, "to the poles");
      if (f == ASTRO_PAIR_FIELDS_GG)
        check_all(&config, &a, &a, 1e-11, "alone");
      carriers_clear(&a);
      carriers_clear(&b);
      carriers_clear(&pole);
    }
}

/* A source north of a lens that is stretched from east to west has gamma_t = g1, and one in the
 * north-west that is stretched from there to the lens has gamma_t < 0. */
static void test_signs(void)
{
  static const struct {
    double ra, dec, g1, g2, tangential, cross;
  } cases[] = { { 180, 1, 0.25, 0, 0.25, 0 },
                { 180, -1, 0, 0.25, 0, 0.25 },
                { 181, 0, 0.25, 0, -0.25, 0 },
                { 179.999, 0.001, 0, 0.25, -0.25, 0 } };
  AstroHistogramConfig config = { .fields = ASTRO_PAIR_FIELDS_NG, .weighted = TRUE };
  g_assert_true(astro_histogram_edges_linear(&config, 0.01, 100, 1, NULL));
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    Carriers lens = carriers_new(test_place_one, 1, 1, 1),
             source = carriers_new(test_place_one, 1, 1, 2);
    guint64 pairs;
    double sums[ASTRO_PAIR_MOST_PLANES];
    lens.sky.ra[0] = 180;
    lens.sky.dec[0] = 0;
    source.sky.ra[0] = cases[i].ra;
    source.sky.dec[0] = cases[i].dec;
    source.g1[0] = cases[i].g1;
    source.g2[0] = cases[i].g2;
    lens.sky.weight[0] = source.sky.weight[0] = 1;
    count(&astro_histogram_cpu, &config, 1, &lens, &source, &pairs, sums);
    g_assert_cmpuint(pairs, ==, 1);
    g_assert_cmpfloat(fabs(sums[2] - cases[i].tangential), <, 1e-7);
    g_assert_cmpfloat(fabs(sums[3] - cases[i].cross), <, 1e-7);
    carriers_clear(&lens);
    carriers_clear(&source);
  }
}

static void add_tests(void)
{
  for (guint s = 0; s < G_N_ELEMENTS(test_skies); s++) {
    g_autofree char *path = g_strconcat("/histogram-fields/sky/", test_skies[s].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(s), test_sky);
  }
  g_test_add_func("/histogram-fields/plain", test_plain);
  g_test_add_func("/histogram-fields/signs", test_signs);
}

int main(int argc, char **argv)
{
  return test_histogram(argc, argv, add_tests);
}
