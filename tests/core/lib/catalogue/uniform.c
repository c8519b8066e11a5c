/* Random points are the same from every backend, and jumps land where plain steps do. */
#include "core/lib/catalogue/mask.h"
#include "core/lib/catalogue/random-jump.h"
#include "core/lib/catalogue/uniform.h"
#include "tests/core/on-device.h"
#include "tests/tests.h"

static void test_jumps(void)
{
  static const guint64 numbers[] = { 1, 2, 3, 7, 64, 1000, 65536, 65537, 262144, 1000003 };
  for (guint i = 0; i < G_N_ELEMENTS(numbers); i++) {
    AstroRandom stepped, jumped;
    astro_random_init(&stepped, 5, i);
    jumped = stepped;
    g_autoptr(AstroRandomJump) jump = astro_random_jump_new(numbers[i]);
    for (guint64 n = 0; n < numbers[i]; n++)
      astro_random_uniform(&stepped);
    astro_random_jump(jump, &jumped);
    g_assert_cmpmem(&jumped, sizeof jumped, &stepped, sizeof stepped);
  }
}

static void test_far_jumps(void)
{
  g_autoptr(AstroRandomJump) third = astro_random_jump_new(G_GUINT64_CONSTANT(1) << 61);
  g_autoptr(AstroRandomJump) all = astro_random_jump_new(G_GUINT64_CONSTANT(3) << 61);
  AstroRandom a, b;
  astro_random_init(&a, 1, 2);
  b = a;
  astro_random_jump(all, &a);
  for (guint i = 0; i < 3; i++)
    astro_random_jump(third, &b);
  g_assert_cmpmem(&a, sizeof a, &b, sizeof b);
}

static void make(const AstroBackend *backend, guint threads, const AstroFootprint *footprint,
                 guint64 n, AstroCatalogue *catalogue, AstroRandom *random)
{
  const AstroPlace place = { .threads = threads };
  g_autoptr(GError) error = NULL;
  astro_random_init(random, 7, 3);
  g_assert_true(astro_uniform_make(backend, &place, footprint, n, random, catalogue, &error));
  g_assert_no_error(error);
}

static void check_same(const AstroBackend *backend, guint threads, const AstroFootprint *footprint,
                       guint64 n)
{
  const gsize bytes = n * sizeof(double);
  AstroCatalogue expected, found;
  AstroRandom after, then;
  make(&astro_uniform_reference, 1, footprint, n, &expected, &after);
  make(backend, threads, footprint, n, &found, &then);
  g_assert_cmpmem(found.ra, bytes, expected.ra, bytes);
  g_assert_cmpmem(found.dec, bytes, expected.dec, bytes);
  g_assert_cmpmem(&then, sizeof then, &after, sizeof after);
  astro_catalogue_clear(&expected);
  astro_catalogue_clear(&found);
}

/* Catalogues of no points, of a chunk, and of some chunks and a part of one; and the numbers that
 * follow. */
static void check(gconstpointer on_device, const AstroFootprint *footprint)
{
  static const guint64 points[] = { 0, 1, 65536, 200001 };
  for (guint i = 0; i < G_N_ELEMENTS(points); i++)
    if (on_device)
      check_same(on_device, 0, footprint, points[i]);
    else
      for (guint threads = 0; threads < 3; threads++)
        check_same(&astro_uniform_cpu, threads, footprint, points[i]);
}

/* NULL: on the CPU. */
static void test_equal(gconstpointer on_device)
{
  static const AstroFootprint band = { .ra_min = 350, .ra_max = 380, .dec_min = -5, .dec_max = 30 },
                              west = { .ra_min = -1e6, .ra_max = -999700, .dec_max = 90 },
                              cap = { .shape = ASTRO_FOOTPRINT_CAP,
                                      .ra = 3,
                                      .dec = 88,
                                      .radius = 10 },
                              all = { .shape = ASTRO_FOOTPRINT_CAP, .dec = -90, .radius = 180 };
  AstroCatalogue seen;
  AstroRandom random;
  check(on_device, &band);
  check(on_device, &west);
  check(on_device, &cap);
  check(on_device, &all);
  make(&astro_uniform_cpu, 0, &band, 5000, &seen, &random);
  g_autoptr(AstroMask) mask = astro_mask_new(seen.ra, seen.dec, seen.n, 1, NULL);
  const AstroFootprint masked = { .shape = ASTRO_FOOTPRINT_MASK, .mask = mask };
  check(on_device, &masked);
  astro_catalogue_clear(&seen);
}

static void test_refused(void)
{
  static const AstroFootprint none = { .shape = ASTRO_FOOTPRINT_CAP, .radius = 0 };
  g_autoptr(GError) error = NULL;
  AstroCatalogue catalogue;
  AstroRandom random;
  astro_random_init(&random, 1, 1);
  g_assert_false(
      astro_uniform_make(&astro_uniform_cpu, NULL, &none, 5, &random, &catalogue, &error));
  g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FOOTPRINT);
}

int main(int argc, char **argv)
{
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/uniform/jumps", test_jumps);
  g_test_add_func("/uniform/far-jumps", test_far_jumps);
  g_test_add_data_func("/uniform/equal", NULL, test_equal);
  test_add_on_device("/uniform/cuda", test_on_device("uniform"), test_equal);
  g_test_add_func("/uniform/refused", test_refused);
  return g_test_run();
}
