/* Random points, the areas of the sky that they fill, and its regions. */
#include "core/backend/backend.h"
#include "core/lib/catalogue/mask.h"
#include "core/histogram/regions.h"
#include "tests/tests.h"

#include <math.h>

static const AstroFootprint band = {
  .shape = ASTRO_FOOTPRINT_BAND, .ra_min = 350, .ra_max = 380, .dec_min = -10, .dec_max = 20
};
static const AstroFootprint cap = {
  .shape = ASTRO_FOOTPRINT_CAP, .ra = 200, .dec = 89, .radius = 5
};
static const AstroFootprint sphere = {
  .shape = ASTRO_FOOTPRINT_BAND, .ra_min = 0, .ra_max = 360, .dec_min = -90, .dec_max = 90
};
static const AstroClustering clusters = { .slope = -0.8, .radius = 3, .levels = 5, .children = 4 };

static void test_random(void)
{
  AstroRandom a, b, c, d;
  astro_random_init(&a, 1, 2);
  astro_random_init(&b, 1, 2);
  astro_random_init(&c, 2, 1);
  astro_random_init(&d, 1, 3);
  double sum = 0;
  guint same_c = 0, same_d = 0;
  for (guint i = 0; i < 10000; i++) {
    double x = astro_random_uniform(&a);
    g_assert_cmpfloat(x, ==, astro_random_uniform(&b));
    same_c += x == astro_random_uniform(&c);
    same_d += x == astro_random_uniform(&d);
    g_assert_true(x >= 0 && x < 1);
    sum += x;
  }
  g_assert_cmpuint(same_c + same_d, ==, 0);
  g_assert_cmpfloat_with_epsilon(sum / 10000, 0.5, 0.015);
}

static void test_footprints(void)
{
  g_assert_true(astro_footprint_contains(&band, 0, 0));
  g_assert_true(astro_footprint_contains(&band, 355, 19));
  g_assert_true(astro_footprint_contains(&band, -5, 19));
  g_assert_false(astro_footprint_contains(&band, 21, 0));
  g_assert_false(astro_footprint_contains(&band, 340, 0));
  g_assert_false(astro_footprint_contains(&band, 0, 21));
  g_assert_true(astro_footprint_contains(&cap, 20, 88));
  g_assert_false(astro_footprint_contains(&cap, 200, 83));
  static const AstroFootprint wrong[] = {
    { ASTRO_FOOTPRINT_CAP, .radius = 0 },
    { ASTRO_FOOTPRINT_CAP, .radius = 181 },
    { ASTRO_FOOTPRINT_CAP, .radius = 1, .dec = 91 },
    { ASTRO_FOOTPRINT_CAP, .radius = NAN },
    { ASTRO_FOOTPRINT_BAND, .ra_max = 361, .dec_max = 1 },
    { ASTRO_FOOTPRINT_BAND, .ra_max = 0, .dec_max = 1 },
    { ASTRO_FOOTPRINT_BAND, .ra_max = 1, .dec_max = 91 },
    { ASTRO_FOOTPRINT_BAND, .ra_max = 1, .dec_min = 2, .dec_max = 1 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    GError *error = NULL;
    AstroCatalogue catalogue;
    AstroRandom random;
    astro_random_init(&random, 1, 1);
    g_assert_false(astro_catalogue_uniform(&wrong[i], 1, &random, &catalogue, &error));
    g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT);
    g_clear_error(&error);
  }
}

static void check_inside(const AstroFootprint *footprint, const AstroCatalogue *catalogue,
                         guint64 n)
{
  g_assert_cmpuint(catalogue->n, ==, n);
  for (guint64 i = 0; i < n; i++) {
    g_assert_true(astro_footprint_contains(footprint, catalogue->ra[i], catalogue->dec[i]));
    g_assert_true(catalogue->ra[i] >= 0 && catalogue->ra[i] < 360);
  }
}

static void test_uniform(void)
{
  static const AstroFootprint *const footprints[] = { &band, &cap, &sphere };
  for (guint f = 0; f < G_N_ELEMENTS(footprints); f++)
    for (guint64 n = 0; n <= 20000; n += 20000) {
      AstroCatalogue catalogue;
      AstroRandom random;
      astro_random_init(&random, 3, f);
      g_assert_true(astro_catalogue_uniform(footprints[f], n, &random, &catalogue, NULL));
      check_inside(footprints[f], &catalogue, n);
      astro_catalogue_clear(&catalogue);
    }
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  /* more than the address space; a sanitizer would end the program */
  GError *error = NULL;
  AstroCatalogue huge;
  AstroRandom any;
  astro_random_init(&any, 4, 0);
  g_assert_false(astro_catalogue_uniform(&cap, 1ull << 50, &any, &huge, &error));
  g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY);
  g_clear_error(&error);
#endif
  /* even in area: half of a cap's points within the circle of half its area */
  AstroCatalogue catalogue;
  AstroRandom random;
  AstroFootprint inner = cap;
  astro_random_init(&random, 4, 0);
  g_assert_true(astro_catalogue_uniform(&cap, 20000, &random, &catalogue, NULL));
  inner.radius = 2 * asin(sin(cap.radius / 2 * G_PI / 180) / sqrt(2)) * 180 / G_PI;
  guint64 inside = 0;
  for (guint64 i = 0; i < catalogue.n; i++)
    inside += astro_footprint_contains(&inner, catalogue.ra[i], catalogue.dec[i]);
  g_assert_cmpfloat_with_epsilon((double)inside, 10000, 300);
  astro_catalogue_clear(&catalogue);
}

static void test_clustered(void)
{
  static const AstroFootprint *const footprints[] = { &band, &cap, &sphere };
  for (guint f = 0; f < G_N_ELEMENTS(footprints); f++) {
    AstroCatalogue a, b;
    AstroRandom random;
    astro_random_init(&random, 3, f);
    g_assert_true(astro_catalogue_clustered(footprints[f], &clusters, 5000, &random, &a, NULL));
    check_inside(footprints[f], &a, 5000);
    astro_random_init(&random, 3, f);
    g_assert_true(astro_catalogue_clustered(footprints[f], &clusters, 5000, &random, &b, NULL));
    g_assert_cmpmem(a.ra, a.n * sizeof(double), b.ra, b.n * sizeof(double));
    astro_catalogue_clear(&a);
    astro_catalogue_clear(&b);
  }
  static const AstroClustering wrong[] = { { 0, 3, 5, 4 },   { -2, 3, 5, 4 },  { -1, 0, 5, 4 },
                                           { -1, 3, 0, 4 },  { -1, 3, 5, 1 },  { -1, 3, 30, 4 },
                                           { NAN, 3, 5, 4 }, { -1, 100, 5, 4 } };
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    GError *error = NULL;
    AstroCatalogue catalogue;
    AstroRandom random;
    astro_random_init(&random, 1, 1);
    g_assert_false(astro_catalogue_clustered(&band, &wrong[i], 1, &random, &catalogue, &error));
    g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL);
    g_clear_error(&error);
  }
  /* footprints that hardly any point falls into */
  static const AstroFootprint small[] = {
    { .shape = ASTRO_FOOTPRINT_CAP, .ra = 10, .dec = 20, .radius = 1e-5 },
    { .shape = ASTRO_FOOTPRINT_BAND, .ra_min = 0, .ra_max = 1e-5, .dec_min = 0, .dec_max = 1e-5 },
  };
  for (guint s = 0; s < G_N_ELEMENTS(small); s++) {
    GError *error = NULL;
    AstroCatalogue catalogue;
    AstroRandom random;
    astro_random_init(&random, 1, 1);
    g_assert_false(
        astro_catalogue_clustered(&small[s], &clusters, 1000, &random, &catalogue, &error));
    g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_MODEL);
    g_clear_error(&error);
  }
}

/* The mask covers all points, across the wrap and at the poles too; random points fill it evenly,
 * and nothing else. */
static void test_mask(void)
{
  static const struct {
    const AstroFootprint *footprint;
    double area, cell;
  } skies[] = { { &band, 30 * 180 / G_PI * (0.34202014332566871 + 0.17364817766693033), 1 },
                { &cap, 2 * G_PI * (1 - 0.99619469809174555) * 3282.80635, 0.5 },
                { &sphere, 41252.96125, 5 } };
  for (guint s = 0; s < G_N_ELEMENTS(skies); s++)
    for (guint fixed = 0; fixed < 2; fixed++) {
      AstroRandom random;
      AstroCatalogue points, made;
      GError *error = NULL;
      astro_random_init(&random, 11, s);
      g_assert_true(astro_catalogue_uniform(skies[s].footprint, 50000, &random, &points, NULL));
      g_autoptr(AstroMask) mask =
          astro_mask_new(points.ra, points.dec, points.n, fixed ? skies[s].cell : 0, &error);
      g_assert_no_error(error);
      double cell = astro_mask_cell(mask), area = astro_mask_area(mask);
      if (fixed)
        g_assert_cmpfloat(cell, ==, skies[s].cell);
      g_assert_cmpfloat(cell, <=, 5);
      /* a rim of cells that are part full */
      g_assert_cmpfloat(area, >, 0.98 * skies[s].area);
      g_assert_cmpfloat(area, <, 1.02 * skies[s].area + 2 * cell * sqrt(4 * G_PI * skies[s].area));
      for (guint64 i = 0; i < points.n; i++)
        g_assert_true(astro_mask_contains(mask, points.ra[i] - 720, points.dec[i]));
      AstroFootprint footprint = { .shape = ASTRO_FOOTPRINT_MASK, .mask = mask }, around;
      astro_mask_cap(mask, &around);
      g_assert_true(astro_catalogue_uniform(&footprint, 50000, &random, &made, &error));
      guint64 inside = 0, north = 0;
      for (guint64 i = 0; i < made.n; i++) {
        g_assert_true(made.ra[i] >= 0 && made.ra[i] <= 360);
        g_assert_true(astro_mask_contains(mask, made.ra[i], made.dec[i]));
        g_assert_true(astro_footprint_contains(&around, made.ra[i], made.dec[i]));
        if (!astro_footprint_contains(skies[s].footprint, made.ra[i], made.dec[i]))
          continue;
        inside++;
        north += made.dec[i] > (skies[s].footprint == &cap ? 89 : 0);
      }
      g_assert_cmpfloat_with_epsilon((double)inside / (double)made.n, skies[s].area / area, 0.02);
      guint64 expected = 0;
      for (guint64 i = 0; i < points.n; i++)
        expected += points.dec[i] > (skies[s].footprint == &cap ? 89 : 0);
      g_assert_cmpfloat_with_epsilon((double)north / (double)inside,
                                     (double)expected / (double)points.n, 0.02);
      astro_catalogue_clear(&made);
      g_assert_true(astro_catalogue_clustered(&footprint, &clusters, 3000, &random, &made, &error));
      g_assert_cmpuint(made.n, ==, 3000);
      for (guint64 i = 0; i < made.n; i++)
        g_assert_true(astro_mask_contains(mask, made.ra[i], made.dec[i]));
      astro_catalogue_clear(&made);
      astro_catalogue_clear(&points);
    }
}

static void test_bad_masks(void)
{
  static const struct {
    guint64 n;
    double cell;
  } wrong[] = { { 0, 0 }, { 1, -1 }, { 1, 33 }, { 1, 0.001 }, { 1, NAN } };
  double zero = 0;
  for (guint w = 0; w < G_N_ELEMENTS(wrong); w++) {
    GError *error = NULL;
    g_assert_null(astro_mask_new(&zero, &zero, wrong[w].n, wrong[w].cell, &error));
    g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT);
    g_clear_error(&error);
  }
  g_autoptr(AstroMask) one = astro_mask_new(&zero, &zero, 1, 0, NULL);
  g_assert_true(astro_mask_contains(one, 0, 0));
  g_assert_false(astro_mask_contains(one, 180, 0));
  g_assert_false(astro_mask_contains(one, 0, -90));
}

static void test_regions(void)
{
  static const guint sizes[] = { 1, 2, 3, 10, 97, 1000 };
  AstroCatalogue catalogue;
  AstroRandom random;
  astro_random_init(&random, 5, 0);
  g_assert_true(astro_catalogue_uniform(&sphere, 1000, &random, &catalogue, NULL));
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    g_autoptr(AstroRegions) regions =
        astro_regions_new(catalogue.ra, catalogue.dec, catalogue.n, sizes[s], NULL, NULL);
    g_autofree guint *counts = g_new0(guint, sizes[s]);
    for (guint64 i = 0; i < catalogue.n; i++) {
      guint region = astro_regions_find(regions, catalogue.ra[i], catalogue.dec[i]);
      g_assert_cmpuint(region, <, sizes[s]);
      counts[region]++;
    }
    for (guint r = 0; r < sizes[s]; r++) {
      g_assert_cmpuint(counts[r], >=, 1000 / sizes[s]);
      g_assert_cmpuint(counts[r], <=, (1000 + sizes[s] - 1) / sizes[s]);
    }
  }
  GError *error = NULL;
  g_assert_null(astro_regions_new(catalogue.ra, catalogue.dec, 5, 6, NULL, &error));
  g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_REGIONS);
  g_clear_error(&error);
  g_assert_null(astro_regions_new(catalogue.ra, catalogue.dec, 5, 0, NULL, NULL));
  astro_catalogue_clear(&catalogue);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/catalogue/random", test_random);
  g_test_add_func("/catalogue/footprints", test_footprints);
  g_test_add_func("/catalogue/uniform", test_uniform);
  g_test_add_func("/catalogue/clustered", test_clustered);
  g_test_add_func("/catalogue/mask", test_mask);
  g_test_add_func("/catalogue/bad-masks", test_bad_masks);
  g_test_add_func("/catalogue/regions", test_regions);
  return g_test_run();
}
