/* Shared by tests of gridding: random visibilities, and the planes that W-stacking makes of them on
 * the CPU or on the device. */
#pragma once

#include "tests/core/gridder/gridding-on-device.h"
#include "tests/core/gridder/images.h"
#include "tests/distance.h"
#include "tests/tests.h"

typedef struct {
  AstroGrid grid;
  AstroGriddingConfig config;
  AstroGridRows rows;
  double *uvw, *wavenumbers, *values;
  float *single;
  gboolean on_device;
} TestSetting;

static char *test_two_products[] = { "I", "PSF", NULL };

/* For tests of W-stacking that go to the host (NULL) and to devices, by their names. */
static inline gboolean test_can_run(gconstpointer on_device)
{
  return !on_device || test_gridding_there(on_device);
}

/* A plane of tracks: u and v fill what the pixels resolve, w goes to that many wavelengths. */
static inline void test_setting_make(TestSetting *s, GRand *random, guint size, double pixel,
                                     double w, guint rows, guint channels, gboolean is_double)
{
  const guint products = 2;
  memset(s, 0, sizeof *s);
  s->grid = (AstroGrid){ .image_size = size, .pixel = pixel, .products = test_two_products };
  s->config = (AstroGriddingConfig){ .is_double = is_double, .channels = 1, .accuracy = 1e-4 };
  s->uvw = g_new(double, 3 * rows);
  s->wavenumbers = g_new(double, channels);
  s->values = g_new(double, (gsize)2 * rows * channels * products);
  s->single = g_new(float, (gsize)2 * rows * channels * products);
  for (guint c = 0; c < channels; c++)
    s->wavenumbers[c] = 0.5 * (1 + 0.2 * c / channels);
  for (guint r = 0; r < rows; r++)
    for (guint i = 0; i < 3; i++) {
      const double most = i < 2 ? 0.3 / pixel : w, least = i < 2 ? -most : 0;
      s->uvw[3 * r + i] = g_rand_double_range(random, least, most) / 0.6;
    }
  for (gsize i = 0; i < (gsize)2 * rows * channels * products; i++)
    s->single[i] = (float)(s->values[i] = g_rand_double_range(random, -1, 1));
  s->rows = (AstroGridRows){ .rows = rows,
                             .channels = channels,
                             .products = products,
                             .is_double = is_double,
                             .uvw = s->uvw,
                             .wavenumbers = s->wavenumbers,
                             .values = is_double ? (gpointer)s->values : s->single };
}

static inline void test_setting_clear(TestSetting *s)
{
  g_free(s->uvw);
  g_free(s->wavenumbers);
  g_free(s->values);
  g_free(s->single);
}

static inline gsize test_cells(const TestSetting *s)
{
  return (gsize)s->grid.size * s->grid.size * s->rows.products * s->config.channels;
}

typedef struct {
  double w, w_step;
  guint planes, next;
  AstroGridding *gridder;
  TestGridding device;
  gpointer first; /* plane, which the device gives as it begins */
} TestPlanes;

/* Into a grid of garbage. */
static inline gpointer test_next_on_device(TestSetting *s, TestPlanes *run,
                                           const AstroGridRows *rows)
{
  GError *error = NULL;
  const gsize bytes = test_cells(s) * (s->config.is_double ? 16 : 8);
  gpointer grid = test_alloc(bytes);
  test_gridding_submit(&run->device, rows, rows != NULL, grid, &error);
  g_assert_no_error(error);
  test_check_guard(grid, bytes);
  run->planes = run->device.result.planes;
  run->w = run->device.result.w;
  run->w_step = run->device.result.w_step;
  return grid;
}

static inline void test_planes_begin(TestSetting *s, TestPlanes *run)
{
  GError *error = NULL;
  const char *variant;
  g_assert_true(astro_wstacking.choose(&s->config, &s->grid, &error));
  if (s->on_device) {
    test_gridding_new(&run->device, &astro_wstacking, &s->config, &s->grid, &error);
    g_assert_no_error(error);
    run->first = test_next_on_device(s, run, &s->rows);
    return;
  }
  run->gridder = astro_wstacking.create(&s->config, &s->grid, NULL, &variant, &error);
  g_assert_no_error(error);
  g_assert_true(astro_wstacking.begin(run->gridder, &s->rows, &run->planes, &error));
}

static inline gpointer test_planes_next(TestSetting *s, TestPlanes *run)
{
  const gsize bytes = test_cells(s) * (s->config.is_double ? 16 : 8);
  if (s->on_device)
    return run->next++ == 0 ? run->first : test_next_on_device(s, run, NULL);
  gpointer grid = test_alloc(bytes);
  astro_wstacking.plane(run->gridder, grid, NULL, &run->w, &run->w_step, NULL);
  test_check_guard(grid, bytes);
  return grid;
}

static inline void test_planes_end(TestSetting *s, TestPlanes *run)
{
  if (s->on_device)
    test_gridding_free(&run->device);
  else
    astro_wstacking.destroy(run->gridder);
}

/* All planes of a setting, one after the other, by the variant that ASTRO_CPU names or, NULL, the
 * reference. */
static inline GByteArray *test_all_planes(TestSetting *s, const char *level, guint threads,
                                          guint *planes)
{
  GByteArray *all = g_byte_array_new();
  TestPlanes run = { 0 };
  if (level)
    g_setenv("ASTRO_CPU", level, TRUE);
  s->config.is_reference = !level;
  s->config.threads = threads;
  test_planes_begin(s, &run);
  for (guint plane = 0; plane < run.planes; plane++) {
    gpointer grid = test_planes_next(s, &run);
    g_byte_array_append(all, grid, (guint)(test_cells(s) * (s->config.is_double ? 16 : 8)));
    test_free(grid);
  }
  *planes = run.planes;
  test_planes_end(s, &run);
  g_unsetenv("ASTRO_CPU");
  return all;
}
