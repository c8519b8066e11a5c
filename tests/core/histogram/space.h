/* Shared by tests of pairs in space: skies with distances, and a plain loop that only shares the
 * unit vectors with the backends. */
#pragma once

#include "core/histogram/check.h"
#include "tests/core/histogram/histogram.h"

typedef struct {
  TestCatalogue sky;
  double *distance;
} SpaceCatalogue;

/* A third of the points lie at distances that others have too. */
static inline SpaceCatalogue space_catalogue_new(TestSky place, guint64 n, guint n_regions,
                                                 guint64 seed)
{
  SpaceCatalogue catalogue = { test_catalogue_new(place, n, n_regions, seed),
                               g_new(double, MAX(n, 1)) };
  guint64 state = seed + 77;
  for (guint64 i = 0; i < n; i++)
    catalogue.distance[i] =
        i % 3 ? 400 + 600 * test_uniform(&state) : 500 + 10 * floor(9 * test_uniform(&state));
  return catalogue;
}

static inline void space_catalogue_clear(SpaceCatalogue *catalogue)
{
  test_catalogue_clear(&catalogue->sky);
  g_free(catalogue->distance);
}

static inline void space_position(const SpaceCatalogue *c, guint64 i, double at[3])
{
  astro_unit_vector(c->sky.ra[i], c->sky.dec[i], &at[0], &at[1], &at[2]);
  for (guint axis = 0; axis < 3; axis++)
    at[axis] *= c->distance[i];
}

static inline double space_product(const double a[3], const double b[3])
{
  return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}

static inline gboolean space_find(const AstroHistogramConfig *config, const double a[3],
                                  const double b[3], guint *bin)
{
  const double d[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] },
               l[3] = { a[0] + b[0], a[1] + b[1], a[2] + b[2] };
  const double apart = space_product(d, d), sight = space_product(l, l), root = space_product(d, l);
  const gboolean smu = config->kind == ASTRO_BINNING_SMU;
  double row = apart, column = root * root, scale = apart * sight;
  if (!smu) {
    column = sight > 0 ? column / sight : 0;
    row = MAX(apart - column, 0);
    scale = 1;
  }
  guint k = 0, m = 0;
  for (; k < config->n_edges && config->edges[k] * config->edges[k] <= row; k++)
    ;
  for (guint edge = 1; edge <= config->n_columns; edge++) {
    const double square = config->most_across * edge / config->n_columns;
    const gboolean is_last = edge == config->n_columns && smu && config->most_across == 1;
    m += !is_last && scale > 0 && square * square * scale <= column;
  }
  *bin = (k - 1) * config->n_columns + m;
  return k > 0 && k < config->n_edges && m < config->n_columns;
}

static inline void space_plain_loop(const AstroHistogramConfig *config, const SpaceCatalogue *a,
                                    const SpaceCatalogue *b, guint64 *counts, double *sums)
{
  const guint regions = astro_histogram_regions(config), bins = astro_histogram_bins(config);
  memset(counts, 0, astro_histogram_values(config) * sizeof *counts);
  memset(sums, 0, astro_histogram_values(config) * sizeof *sums);
  for (guint64 i = 0; i < a->sky.n; i++)
    for (guint64 j = a == b ? i + 1 : 0; j < b->sky.n; j++) {
      double at[3], other[3];
      guint bin;
      space_position(a, i, at);
      space_position(b, j, other);
      if (!space_find(config, at, other, &bin))
        continue;
      guint ra = config->n_regions ? (guint)a->sky.region[i] : 0,
            rb = config->n_regions ? (guint)b->sky.region[j] : 0;
      if (a == b && ra > rb) {
        const guint swapped = ra;
        ra = rb;
        rb = swapped;
      }
      const gsize value = ((gsize)ra * regions + rb) * bins + bin;
      counts[value]++;
      sums[value] += config->weighted ? a->sky.weight[i] * b->sky.weight[j] : 1;
    }
}

static inline AstroPoints *space_points_of(const AstroHistogramConfig *config,
                                           const SpaceCatalogue *c, guint threads)
{
  GError *error = NULL;
  AstroPoints *points = astro_points_in_space(
      c->sky.ra, c->sky.dec, c->distance, config->weighted ? c->sky.weight : NULL,
      config->n_regions ? c->sky.region : NULL, c->sky.n, config->n_regions, threads, NULL, &error);
  g_assert_no_error(error);
  return points;
}

static inline void space_test_count(const AstroBackend *backend, const AstroHistogramConfig *config,
                                    guint threads, const SpaceCatalogue *a, const SpaceCatalogue *b,
                                    guint64 *counts, double *sums)
{
  AstroPoints *points_a = space_points_of(config, a, threads),
              *points_b = a == b ? NULL : space_points_of(config, b, threads);
  test_count_points(backend, config, threads, NULL, points_a, points_b, config->weighted, counts,
                    sums);
}

static inline void space_check_device(const AstroBackend *backend, AstroHistogramConfig *config,
                                      const SpaceCatalogue *a, const SpaceCatalogue *b,
                                      const guint64 *expected, const double *expected_sums)
{
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const char *name = astro_backend_kind_name(backend->kind);
  const gsize values = astro_histogram_values(config);
  g_autofree guint64 *found = g_new(guint64, values);
  g_autofree double *sums = g_new(double, values);
  for (guint m = 0; m < G_N_ELEMENTS(methods); m++) {
    config->method = methods[m];
    space_test_count(backend, config, 0, a, b, found, sums);
    test_assert_counts(found, expected, values, name);
    if (config->weighted)
      test_assert_sums(sums, expected_sums, values, name);
  }
}

/* Compares every variant, method and number of threads with the plain loop. */
static inline void space_check_all(AstroHistogramConfig *config, const SpaceCatalogue *a,
                                   const SpaceCatalogue *b, const char *what)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  static const AstroPairMethod methods[] = { ASTRO_PAIR_METHOD_TREE, ASTRO_PAIR_METHOD_BRUTE };
  const gsize values = astro_histogram_values(config);
  g_autofree guint64 *expected = g_new(guint64, values), *found = g_new(guint64, values);
  g_autofree double *expected_sums = g_new(double, values), *sums = g_new(double, values),
                    *first = g_new(double, values);
  space_plain_loop(config, a, b, expected, expected_sums);
  space_test_count(&astro_histogram_reference, config, 1, a, b, found, sums);
  test_assert_counts(found, expected, values, what);
  for (guint l = 0; l < G_N_ELEMENTS(levels); l++) {
    setenv("ASTRO_CPU", levels[l], 1);
    for (guint m = 0; m < G_N_ELEMENTS(methods); m++)
      for (guint threads = 1; threads <= 3; threads += 2) {
        config->method = methods[m];
        space_test_count(&astro_histogram_cpu, config, threads, a, b, found, sums);
        test_assert_counts(found, expected, values, levels[l]);
        if (!config->weighted)
          continue;
        test_assert_sums(sums, expected_sums, values, levels[l]);
        if (threads == 1)
          memcpy(first, sums, values * sizeof *sums);
        g_assert_cmpmem(sums, values * sizeof *sums, first, values * sizeof *sums);
      }
  }
  unsetenv("ASTRO_CPU");
  AstroBackend devices[2];
  for (guint d = test_device_backends(devices); d-- > 0;)
    space_check_device(&devices[d], config, a, b, expected, expected_sums);
  config->method = ASTRO_PAIR_METHOD_AUTO;
}
