/* Peaks of images compared with Gaussians at known places. */
#include "core/measure/measure.h"
#include "core/kit/noise.h"
#include "tests/tests.h"
#include <math.h>

#define SIZE 64

static AstroPlane new_plane(void)
{
  return (AstroPlane){ SIZE, g_new0(double, SIZE *SIZE) };
}

/* A rotated ellipse, so that the mixed term counts. */
static void add_source(AstroPlane *plane, double x, double y, double flux)
{
  for (guint v = 0; v < SIZE; v++)
    for (guint u = 0; u < SIZE; u++) {
      double a = u - x, b = v - y;
      plane->values[v * SIZE + u] += flux * exp(-0.12 * a * a - 0.2 * b * b - 0.08 * a * b);
    }
}

/* A single Gaussian is fitted exactly, wherever between pixels it is. */
static void test_fit(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(1);
  for (guint i = 0; i < 200; i++) {
    AstroPlane plane = new_plane();
    double x = g_rand_double_range(rand, 5, SIZE - 6), y = g_rand_double_range(rand, 5, SIZE - 6);
    double flux = pow(10, g_rand_double_range(rand, -6, 6));
    AstroPeak peak;
    add_source(&plane, x, y, flux);
    g_assert_true(astro_peak_near(&plane, x + 1, y - 1, 3, &peak));
    g_assert_cmpfloat_with_epsilon(peak.x, x, 1e-9);
    g_assert_cmpfloat_with_epsilon(peak.y, y, 1e-9);
    g_assert_cmpfloat_with_epsilon(peak.value / flux, 1, 1e-9);
    astro_plane_clear(&plane);
  }
}

/* If there is no logarithm the values themselves are fitted. */
static void test_negative(void)
{
  AstroPlane plane = new_plane();
  AstroPeak peak;
  for (guint v = 0; v < SIZE; v++)
    for (guint u = 0; u < SIZE; u++)
      plane.values[v * SIZE + u] = 1 - pow(u - 20.25, 2) - pow(v - 30.4, 2);
  g_assert_true(astro_peak_near(&plane, 20, 30, 2, &peak));
  g_assert_cmpfloat_with_epsilon(peak.x, 20.25, 1e-12);
  g_assert_cmpfloat_with_epsilon(peak.y, 30.4, 1e-12);
  g_assert_cmpfloat_with_epsilon(peak.value, 1, 1e-12);
  astro_plane_clear(&plane);
}

/* No peaks: at the edge, outside, in an empty plane, for NaN, and on a slope. */
static void test_none(void)
{
  AstroPlane plane = new_plane();
  AstroPeak peak;
  g_assert_false(astro_peak_near(&plane, 20, 20, 3, &peak));
  add_source(&plane, 0, 20, 1);
  g_assert_false(astro_peak_near(&plane, 0, 20, 3, &peak));
  g_assert_false(astro_peak_near(&plane, 8, 20, 3, &peak));
  g_assert_false(astro_peak_near(&plane, -50, 20, 3, &peak));
  g_assert_false(astro_peak_near(&plane, 1e300, NAN, 3, &peak));
  for (guint i = 0; i < SIZE * SIZE; i++)
    plane.values[i] = NAN;
  g_assert_false(astro_peak_near(&plane, 20, 20, 3, &peak));
  g_assert_true(isnan(astro_plane_rms(&plane)));
  g_autoptr(GArray) peaks = astro_peaks_find(&plane, 0, 3, 5);
  g_assert_cmpuint(peaks->len, ==, 0);
  astro_plane_clear(&plane);
}

static void test_find(void)
{
  static const double sources[][3] = { { 40.3, 12.2, 3 }, { 10.5, 50.5, 2 }, { 30, 30, 1 } };
  AstroPlane plane = new_plane();
  for (guint i = 0; i < G_N_ELEMENTS(sources); i++)
    add_source(&plane, sources[i][0], sources[i][1], sources[i][2]);
  add_source(&plane, 50, 50, 0.1);
  g_autoptr(GArray) peaks = astro_peaks_find(&plane, 0.5, 4, 10);
  g_assert_cmpuint(peaks->len, ==, 3);
  for (guint i = 0; i < 3; i++) {
    const AstroPeak *peak = &g_array_index(peaks, AstroPeak, i);
    g_assert_cmpfloat_with_epsilon(peak->x, sources[i][0], 1e-6);
    g_assert_cmpfloat_with_epsilon(peak->y, sources[i][1], 1e-6);
    g_assert_cmpfloat_with_epsilon(peak->value, sources[i][2], 1e-6);
  }
  g_autoptr(GArray) brightest = astro_peaks_find(&plane, 0.5, 4, 1);
  g_assert_cmpuint(brightest->len, ==, 1);
  g_autoptr(GArray) apart = astro_peaks_find(&plane, 0.5, 25, 10);
  g_assert_cmpuint(apart->len, ==, 2);
  astro_plane_clear(&plane);
}

static gboolean is_apart(const GArray *peaks, const AstroPeak *peak, double reach)
{
  for (guint i = 0; i < peaks->len; i++) {
    const AstroPeak *other = &g_array_index(peaks, AstroPeak, i);
    if (hypot(peak->x - other->x, peak->y - other->y) < reach)
      return FALSE;
  }
  return TRUE;
}

static AstroPlane new_noise(guint size)
{
  AstroPlane plane = { size, g_new(double, (gsize)size *size) };
  g_autoptr(GRand) rand = g_rand_new_with_seed(3);
  for (gsize i = 0; i < (gsize)size * size; i++)
    plane.values[i] = g_rand_double(rand);
  return plane;
}

/* From the brightest peak down, those are kept that have no brighter kept peak near them. */
static void test_apart(void)
{
  static const double reaches[] = { 0.5, 1, 2.9, 3, 7.3, 40, 1e300 };
  AstroPlane plane = new_noise(150);
  g_autoptr(GArray) all = astro_peaks_find(&plane, 0, 0, G_MAXUINT);
  g_assert_cmpuint(all->len, >, 1000);
  for (guint r = 0; r < G_N_ELEMENTS(reaches); r++) {
    g_autoptr(GArray) wanted = g_array_new(FALSE, FALSE, sizeof(AstroPeak));
    for (guint i = 0; i < all->len; i++)
      if (is_apart(wanted, &g_array_index(all, AstroPeak, i), reaches[r]))
        g_array_append_vals(wanted, &g_array_index(all, AstroPeak, i), 1);
    g_autoptr(GArray) found = astro_peaks_find(&plane, 0, reaches[r], G_MAXUINT);
    g_assert_cmpmem(found->data, found->len * sizeof(AstroPeak), wanted->data,
                    wanted->len * sizeof(AstroPeak));
  }
  astro_plane_clear(&plane);
}

/* So many that comparing each with all others would take very long. */
static void test_many(void)
{
  const guint size = 1000;
  AstroPlane plane = new_noise(size);
  g_autoptr(GArray) peaks = astro_peaks_find(&plane, 0, 3, G_MAXUINT);
  g_assert_cmpuint(peaks->len, >, size * size / 40);
  astro_plane_clear(&plane);
}

/* The noise is found under sources and missing values. */
static void test_rms(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(2);
  AstroPlane plane = new_plane();
  for (guint i = 0; i < SIZE * SIZE; i++)
    plane.values[i] = 0.3 * sqrt(-2 * log(1 - g_rand_double(rand))) * cos(g_rand_double(rand) * 7);
  add_source(&plane, 40, 40, 1000);
  for (guint i = 0; i < SIZE * 4; i++)
    plane.values[i] = NAN;
  double rms = astro_plane_rms(&plane);
  g_assert_cmpfloat(rms, >, 0.25);
  g_assert_cmpfloat(rms, <, 0.37);
  astro_plane_clear(&plane);
}

/* Planes of either format, out of many. */
static void test_planes(void)
{
  static const struct {
    AstroFormat format;
    const char *layout;
  } cases[] = { { ASTRO_FORMAT_F32LE, "channel:pol:y:x" }, { ASTRO_FORMAT_F64LE, "pol:y:x" } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    AstroStream stream = { .format = cases[k].format };
    guint channels = k == 0 ? 3 : 1;
    g_assert_true(astro_layout_parse(&stream.layout, cases[k].layout, ASTRO_QUANTITY_IMAGE, NULL));
    guint n = stream.layout.n_axes;
    stream.layout.extents[n - 1] = stream.layout.extents[n - 2] = 5;
    stream.layout.extents[n - 3] = 2;
    stream.layout.extents[0] = k == 0 ? 3 : 2;
    g_autofree double *doubles = g_new(double, channels * 2 * 25);
    g_autofree float *floats = g_new(float, channels * 2 * 25);
    for (guint i = 0; i < channels * 2 * 25; i++)
      doubles[i] = floats[i] = i;
    AstroPlane plane;
    astro_plane_init(&plane, &stream, k == 0 ? (gpointer)floats : (gpointer)doubles, channels - 1,
                     1);
    g_assert_cmpuint(plane.size, ==, 5);
    for (guint i = 0; i < 25; i++)
      g_assert_cmpfloat(plane.values[i], ==, ((channels - 1) * 2 + 1) * 25 + i);
    astro_plane_clear(&plane);
  }
}

/* The border adds neither sources nor noise; too wide a border leaves the middle. */
static void test_border(void)
{
  AstroPlane plane = new_plane();
  for (guint i = 0; i < SIZE * SIZE; i++)
    plane.values[i] = 100;
  for (guint y = 16; y < 48; y++)
    for (guint x = 16; x < 48; x++)
      plane.values[y * SIZE + x] = 0;
  add_source(&plane, 30.25, 20.5, 3);
  add_source(&plane, 8, 8, 500);
  g_autoptr(GArray) whole = astro_peaks_find(&plane, 1, 3, 10);
  g_assert_cmpuint(whole->len, >, 1);
  g_assert_cmpfloat(astro_plane_rms(&plane), >, 100);
  plane.border = 16;
  g_autoptr(GArray) inside = astro_peaks_find(&plane, 1, 3, 10);
  g_assert_cmpuint(inside->len, ==, 1);
  g_assert_cmpfloat_with_epsilon(g_array_index(inside, AstroPeak, 0).x, 30.25, 1e-6);
  g_assert_cmpfloat_with_epsilon(g_array_index(inside, AstroPeak, 0).y, 20.5, 1e-6);
  g_assert_cmpfloat(astro_plane_rms(&plane), <, 1);
  plane.border = SIZE;
  g_assert_cmpfloat(astro_plane_rms(&plane), <, 1);
  g_autoptr(GArray) none = astro_peaks_find(&plane, 1, 3, 10);
  g_assert_cmpuint(none->len, ==, 0);
  astro_plane_clear(&plane);
}

/* Peaks that could be sidelobes of brighter ones are cut off; the brightest never is. */
static void test_trust(void)
{
  static const struct {
    AstroSidelobes sidelobes;
    guint n;
    double limit;
  } cases[] = {
    { { 0, HUGE_VAL }, 5, 0 },
    { { 0.1, HUGE_VAL }, 3, 1.1 * 0.1 * 17 }, /* 10 + 5 + 2 */
    { { 0.5, HUGE_VAL }, 1, 1.1 * 0.5 * 10 },
    { { 2, HUGE_VAL }, 1, 10 },       /* the brightest is reported whatever they add up to */
    { { 0.5, 1 }, 3, 1.1 * 0.5 * 3 }, /* CLEAN left 1 of each at most */
    { { 0.5, 0.01 }, 5, 1.1 * 0.5 * 0.05 },
  };
  static const double values[] = { 10, 5, 2, 1, 0.5 };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GArray) peaks = g_array_new(FALSE, FALSE, sizeof(AstroPeak));
    for (guint k = 0; k < G_N_ELEMENTS(values); k++) {
      AstroPeak peak = { k, k, values[k] };
      g_array_append_val(peaks, peak);
    }
    g_assert_cmpfloat_with_epsilon(astro_peaks_trust(peaks, &cases[i].sidelobes), cases[i].limit,
                                   1e-12);
    g_assert_cmpuint(peaks->len, ==, cases[i].n);
  }
  g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(AstroPeak));
  g_assert_cmpfloat(astro_peaks_trust(none, &cases[1].sidelobes), ==, 0);
}

/* The depth of a plane inside its border, with NaN among its values. */
static void test_depth(void)
{
  AstroPlane plane = new_plane();
  for (guint i = 0; i < SIZE * SIZE; i++)
    plane.values[i] = 1;
  g_assert_cmpfloat(astro_plane_depth(&plane), ==, 0);
  plane.values[3] = -7;
  plane.values[20 * SIZE + 30] = -2;
  plane.values[21 * SIZE + 30] = NAN;
  g_assert_cmpfloat(astro_plane_depth(&plane), ==, 7);
  plane.border = 4;
  g_assert_cmpfloat(astro_plane_depth(&plane), ==, 2);
  astro_plane_clear(&plane);
}

static int by_value(const void *a, const void *b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Selection finds the same as sorting, with equal values too. */
static void test_noise(void)
{
  g_autoptr(GRand) rand = g_rand_new_with_seed(2);
  g_assert_true(isnan(astro_noise_of_sizes(NULL, 0)));
  for (guint n = 1; n < 200; n++)
    for (guint kind = 0; kind < 4; kind++) {
      g_autofree double *values = g_new(double, n), *sorted = g_new(double, n);
      for (guint i = 0; i < n; i++)
        values[i] = kind == 0 ? g_rand_double(rand) : kind == 1 ? i : kind == 2 ? 7 : i % 3;
      memcpy(sorted, values, n * sizeof *sorted);
      qsort(sorted, n, sizeof *sorted, by_value);
      g_assert_cmpfloat_with_epsilon(astro_noise_of_sizes(values, n) / 1.482602218505602,
                                     sorted[n / 2], 1e-12);
      qsort(values, n, sizeof *values, by_value);
      g_assert_cmpmem(values, n * sizeof *values, sorted, n * sizeof *sorted);
    }
}

static void add_tests(void)
{
  g_test_add_func("/measure/fit", test_fit);
  g_test_add_func("/measure/negative", test_negative);
  g_test_add_func("/measure/none", test_none);
  g_test_add_func("/measure/find", test_find);
  g_test_add_func("/measure/apart", test_apart);
  g_test_add_func("/measure/many", test_many);
  g_test_add_func("/measure/rms", test_rms);
  g_test_add_func("/measure/planes", test_planes);
  g_test_add_func("/measure/border", test_border);
  g_test_add_func("/measure/trust", test_trust);
  g_test_add_func("/measure/depth", test_depth);
  g_test_add_func("/measure/noise", test_noise);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
