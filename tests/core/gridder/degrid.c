/* Degridding: adjoint to the gridder, and as accurate as it is asked for against the formula, by
 * every instruction set. */
#include <sys/resource.h>
#include <unistd.h>

#include "core/gridder/degrid/degrid.h"
#include "core/lib/spread/semicircle.h"
#include "tests/core/gridder/degridding.h"

typedef gboolean (*Degrid)(const AstroGriddingConfig *, const AstroGrid *, const AstroGridRows *,
                           gconstpointer, gpointer, GError **);

/* Predicted visibilities, in double whatever the precision. */
static double *predict(TestSetting *s, const double *model, Degrid degrid)
{
  g_autoptr(GError) error = NULL;
  const gboolean is_double = s->config.is_double;
  const gsize n = 2 * s->rows.rows * s->rows.channels * s->rows.products;
  const gsize bytes = n * (is_double ? sizeof(double) : sizeof(float));
  AstroGridRows rows = s->rows;
  rows.values = NULL;
  rows.is_double = is_double;
  g_autofree gpointer pixels =
      test_in_precision(model, test_pixels_of(s) * s->config.channels, is_double);
  gpointer values = test_alloc(bytes);
  g_assert_true(astro_wstacking.choose(&s->config, &s->grid, &error));
  degrid(&s->config, &s->grid, &rows, pixels, values, &error);
  g_assert_no_error(error);
  test_check_guard(values, bytes);
  double *found = g_new(double, n);
  for (gsize i = 0; i < n; i++)
    found[i] = is_double ? ((double *)values)[i] : (double)((float *)values)[i];
  test_free(values);
  return found;
}

/* The model times the image of some visibilities is these times the model's, whatever either is:
 * how far apart the two sums are, over that of all sizes. */
static double adjoint_gap(TestSetting *s, GRand *random)
{
  double of_images = 0, of_visibilities = 0, size = 0;
  const gsize n = s->rows.rows * s->rows.channels * s->rows.products;
  g_autofree double *untouched = g_memdup2(s->values, 2 * n * sizeof *s->values);
  g_autofree double *model = test_random_model(s, random, 1);
  for (gsize row = 0; row < (gsize)s->grid.image_size * s->rows.products; row++)
    model[row * s->grid.image_size] = 0; /* image_of has no such pixel */
  g_autofree double *predicted = predict(s, model, astro_degrid);
  test_turn_to_centre(s);
  for (gsize i = 0; i < 2 * n; i++)
    s->single[i] = (float)s->values[i];
  g_autofree double *image = test_image_of(s);
  for (gsize i = 0; i < 2 * n; i++) {
    of_visibilities += untouched[i] * predicted[i];
    size += fabs(untouched[i] * predicted[i]);
  }
  for (gsize i = 0; i < test_pixels_of(s); i++)
    of_images += image[i] * model[i];
  g_assert_cmpfloat(size, >, 0);
  return fabs(of_images - of_visibilities) / size;
}

static void make_adjoint_setting(TestSetting *s, guint number, GRand *random, gboolean is_double)
{
  const double field = 0.003 * pow(200, (number % 7) / 6.0);
  test_setting_make(s, random, 24 + 2 * (number % 5), field / 28, MIN(2 / (field * field), 3000),
                    50, 3, is_double);
  if (number % 3 == 1) {
    s->grid.centre_l = 0.1;
    s->grid.centre_m = -0.05;
  }
}

static void assert_adjoint(guint number, GRand *random, guint support)
{
  TestSetting s;
  make_adjoint_setting(&s, number, random, TRUE);
  s.config.support = support;
  s.config.padding = 2;
  s.config.accuracy = 0.1;
  const double gap = adjoint_gap(&s, random);
  g_test_message("support %u: apart by %.1e", support, gap);
  g_assert_cmpfloat(gap, <=, 1e-12);
  test_setting_clear(&s);
}

static void test_adjoint(void)
{
  static const char *const levels[] = { "c", "avx2", "avx512" };
  g_autoptr(GRand) random = g_rand_new_with_seed(44);
  guint number = 0;
  for (guint i = 0; i < G_N_ELEMENTS(levels); i++)
    for (guint support = ASTRO_SEMICIRCLE_MIN; support <= ASTRO_SEMICIRCLE_MAX; support++) {
      g_setenv("ASTRO_CPU", levels[i], TRUE);
      assert_adjoint(number++, random, support);
      g_unsetenv("ASTRO_CPU");
    }
}

/* As elements use it: in single precision to the accuracy that is asked for, or better, since both
 * ways have the same errors but for rounding; below 1e-5 the work is in double precision. */
static void test_adjoint_single(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(47);
  for (guint number = 0; number < 14; number++)
    for (gint decade = -2; decade >= -6; decade--) {
      TestSetting s;
      make_adjoint_setting(&s, number, random, decade < -5);
      s.config.accuracy = pow(10, decade) * (1 + 1e-9);
      const double gap = adjoint_gap(&s, random);
      g_test_message("setting %u, accuracy 1e%d: apart by %.1e", number, decade, gap);
      g_assert_cmpfloat(gap, <=, s.config.is_double ? 1e-12 : MIN(pow(10, decade), 1e-6));
      test_setting_clear(&s);
    }
}

/* ---- accuracy ---- */

static void assert_accurate(TestSetting *s, const double *model, gint decade)
{
  const gsize n = 2 * s->rows.rows * s->rows.channels * s->rows.products;
  s->config.accuracy = pow(10, decade) * (1 + 1e-9);
  s->config.is_double = decade < -5;
  g_autofree double *found = predict(s, model, astro_degrid);
  g_autofree double *exact = predict(s, model, astro_degrid_direct);
  const double error = test_distance(found, exact, n * sizeof *found, TRUE);
  g_test_message("size %u field %.3f: grid %u support %u, accuracy 1e%d: %.2e", s->grid.image_size,
                 s->grid.image_size * s->grid.pixel, s->grid.size, s->grid.spread.support, decade,
                 error);
  g_assert_cmpfloat(error, <=, pow(10, decade));
}

static void test_accuracy(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(45);
  guint number = 0;
  for (guint setting = 0; setting < 10; setting++) {
    TestSetting s;
    const guint size = 2 * (guint)g_rand_int_range(random, 16, 29) + setting % 2;
    const double field = 0.002 * pow(350, setting / 9.0);
    const double w = MIN(4 / (field * field), g_rand_double_range(random, 100, 5000));
    test_setting_make(&s, random, size, field / size, w, 60, 3, TRUE);
    if (setting % 3 == 1) {
      s.grid.centre_l = 0.1;
      s.grid.centre_m = -0.05;
    }
    s.config.channels = setting % 4 == 2 ? 3 : 1;
    g_autofree double *model = test_random_model(&s, random, s.config.channels);
    for (gint decade = -2; decade >= -12; decade--)
      if (!test_passes_over(number++))
        assert_accurate(&s, model, decade);
    test_setting_clear(&s);
  }
}

/* The result must not depend on the number of threads. */
static void test_threads(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(46);
  TestSetting s;
  test_setting_make(&s, random, 40, 0.01, 300, 300, 4, FALSE);
  g_autofree double *model = test_random_model(&s, random, 1);
  const gsize bytes = 2 * s.rows.rows * s.rows.channels * s.rows.products * sizeof(double);
  s.config.threads = 1;
  g_autofree double *one = predict(&s, model, astro_degrid);
  s.config.threads = 0;
  g_autofree double *many = predict(&s, model, astro_degrid);
  g_assert_cmpmem(one, bytes, many, bytes);
  test_setting_clear(&s);
}

/* ---- memory ---- */

#define MEMORY_SHAPES 10
/* Blocks are aligned to large pages, and the allocator keeps some of its own. */
#define SLACK ((rlim_t)32 << 20)

static rlim_t address_space(void)
{
  g_autofree char *text = NULL;
  g_assert_true(g_file_get_contents("/proc/self/statm", &text, NULL, NULL));
  return g_ascii_strtoull(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes)
{
  struct rlimit now;
  g_assert_cmpint(getrlimit(RLIMIT_AS, &now), ==, 0);
  now.rlim_cur = bytes;
  g_assert_cmpint(setrlimit(RLIMIT_AS, &now), ==, 0);
}

static void degrid_in_what_is_promised(TestSetting *s, const double *model)
{
  g_autoptr(GError) error = NULL;
  AstroGridRows rows = s->rows;
  const gsize visibilities = rows.rows * rows.channels;
  const gsize bytes = visibilities * rows.products * (rows.is_double ? 16 : 8);
  g_autofree gpointer values = g_malloc(bytes), pixels = NULL;
  rows.values = NULL;
  g_assert_true(astro_wstacking.choose(&s->config, &s->grid, &error));
  pixels = test_in_precision(model, test_pixels_of(s), rows.is_double);
  const guint64 promised = astro_degrid_bytes(&s->config, &s->grid, rows.products, visibilities);
  limit(address_space() + promised + SLACK);
  astro_degrid(&s->config, &s->grid, &rows, pixels, values, &error);
  limit(RLIM_INFINITY);
  g_test_message("%u cells, %zu visibilities: %.0f MB promised", s->grid.size, visibilities,
                 (double)promised / 1e6);
  g_assert_no_error(error);
}

static void do_nothing(gpointer data, guint64 task)
{
}

/* Random shapes, each with the memory that is promised for it. The stacks of the process's threads,
 * of which a machine with many cores has many, are there before. */
static void degrid_random_shapes(void)
{
  g_autoptr(GRand) random = g_rand_new_with_seed(47);
  astro_parallel(1024, 0, do_nothing, NULL);
  for (guint i = 0; i < MEMORY_SHAPES; i++) {
    TestSetting s;
    const guint size = 2 * (guint)g_rand_int_range(random, 50, 500);
    const guint rows = (guint)g_rand_int_range(random, 1000, 60000);
    test_setting_make(&s, random, size, 1e-5, g_rand_double_range(random, 0, 2000), rows,
                      (guint)g_rand_int_range(random, 1, 9), i % 3 == 0);
    s.config.threads = 1;
    s.config.accuracy = i % 3 == 0 ? 1e-7 : 1e-4;
    g_autofree double *model = test_random_model(&s, random, 1);
    degrid_in_what_is_promised(&s, model);
    test_setting_clear(&s);
  }
}

#ifdef __SANITIZE_ADDRESS__
enum { CAN_LIMIT = FALSE };
#else
enum { CAN_LIMIT = TRUE };
#endif

/* In a process of its own, since a limit is one of the process. */
static void test_memory(void)
{
  if (!CAN_LIMIT) {
    g_test_skip("the sanitizer's own memory is without limits");
    return;
  }
  if (g_test_subprocess()) {
    degrid_random_shapes();
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void add_tests(void)
{
  g_test_add_func("/degrid/adjoint", test_adjoint);
  g_test_add_func("/degrid/adjoint/single", test_adjoint_single);
  g_test_add_func("/degrid/accuracy", test_accuracy);
  g_test_add_func("/degrid/threads", test_threads);
  g_test_add_func("/degrid/memory", test_memory);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
