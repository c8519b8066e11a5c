/* Catalogues that go into a file when they grow, come back as they were, and say when a file cannot
 * hold them. */
#include "core/lib/catalogue/held.h"
#include "core/lib/catalogue/split.h"
#include "tests/tests.h"

#include <signal.h>
#include <sys/resource.h>

#define POINTS 40000

static void make(AstroCatalogue *catalogue, guint64 n)
{
  *catalogue = (AstroCatalogue){
    .n = n, .ra = g_new(double, n), .dec = g_new(double, n), .distance = g_new(double, n)
  };
  for (guint64 i = 0; i < n; i++) {
    catalogue->ra[i] = (double)i;
    catalogue->dec[i] = -(double)i;
    catalogue->distance[i] = 0.5 * (double)i;
  }
}

/* In parts of some size, with room for so many points; 0: for all. */
static void hold(AstroHeld *held, const AstroCatalogue *all, guint64 part, guint64 most)
{
  const AstroHeldLimit limit = { most * 40, 16 };
  g_autoptr(GError) error = NULL;
  for (guint64 i = 0; i < all->n; i += part) {
    const AstroCatalogue some = { .n = MIN(part, all->n - i),
                                  .ra = all->ra + i,
                                  .dec = all->dec + i,
                                  .distance = all->distance + i };
    g_assert_true(astro_held_add(held, &limit, &some, &error));
    g_assert_no_error(error);
  }
}

static gboolean check_chunk(gpointer data, const AstroCatalogue *chunk, guint64 first,
                            GError **error)
{
  guint64 *seen = data;
  g_assert_cmpuint(first, ==, *seen);
  g_assert_null(chunk->weight);
  for (guint64 i = 0; i < chunk->n; i++) {
    g_assert_cmpfloat(chunk->ra[i], ==, (double)(first + i));
    g_assert_cmpfloat(chunk->dec[i], ==, -(double)(first + i));
    g_assert_cmpfloat(chunk->distance[i], ==, 0.5 * (double)(first + i));
  }
  *seen += chunk->n;
  return TRUE;
}

/* The point at which a catalogue moves to a file makes no difference. */
static void test_order(void)
{
  static const guint64 parts[] = { 977, 5000, POINTS }, mosts[] = { 0, 1, 977, 4999, POINTS };
  AstroCatalogue all;
  make(&all, POINTS);
  for (guint p = 0; p < G_N_ELEMENTS(parts); p++)
    for (guint m = 0; m < G_N_ELEMENTS(mosts); m++) {
      g_auto(AstroHeld) held = { 0 };
      guint64 seen = 0;
      hold(&held, &all, parts[p], mosts[m]);
      g_assert_cmpuint(held.n, ==, POINTS);
      g_assert_true(!held.spill == (mosts[m] == 0 || mosts[m] == POINTS));
      g_assert_true(astro_held_visit(&held, check_chunk, &seen, NULL));
      g_assert_cmpuint(seen, ==, POINTS);
    }
  astro_catalogue_clear(&all);
}

static void test_other_columns(void)
{
  for (guint64 most = 0; most <= 1; most++) {
    const AstroHeldLimit limit = { most, 16 };
    double one = 1;
    const AstroCatalogue flat = { .n = 1, .ra = &one, .dec = &one };
    g_autoptr(GError) error = NULL;
    g_auto(AstroHeld) held = { 0 };
    AstroCatalogue all;
    make(&all, 10);
    hold(&held, &all, 10, most);
    g_assert_false(astro_held_add(&held, &limit, &flat, &error));
    g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_COLUMN);
    g_assert_cmpstr(error->message, ==,
                    "a part of a catalogue with columns ra:dec after one with ra:dec:distance: "
                    "expected the same");
    g_assert_cmpuint(held.n, ==, 10);
    astro_catalogue_clear(&all);
  }
}

static void test_same(void)
{
  for (guint64 most = 0; most <= 1; most++) {
    AstroCatalogue all;
    g_auto(AstroHeld) one = { 0 };
    g_auto(AstroHeld) two = { 0 };
    g_auto(AstroHeld) other = { 0 };
    make(&all, POINTS);
    hold(&one, &all, 1000, most);
    hold(&two, &all, 3000, most);
    all.dec[POINTS - 1] = 7;
    hold(&other, &all, 1000, most);
    g_assert_true(astro_held_is_same(&one, &two));
    g_assert_false(astro_held_is_same(&one, &other));
    astro_catalogue_clear(&all);
  }
}

/* The parts of a catalogue in a file are those of one in memory. */
static void test_split(void)
{
  const AstroHeldLimit small = { 1000 * 40, 16 };
  g_autoptr(AstroSplit) split = astro_split_new(POINTS, 3, 1, 2, NULL);
  AstroCatalogue all;
  g_auto(AstroHeld) held = { 0 };
  make(&all, POINTS);
  hold(&held, &all, 1000, 1000);
  for (guint part = 0; part < 3; part++) {
    AstroCatalogue expected, found;
    g_auto(AstroHeld) picked = { 0 };
    g_assert_true(astro_split_part(split, &all, part, &expected, NULL));
    g_assert_true(astro_split_held(split, &held, &small, part, &picked, NULL));
    g_assert_nonnull(picked.spill);
    g_assert_true(astro_spill_read(picked.spill, 0, picked.n, &found, NULL));
    const gsize bytes = expected.n * sizeof(double);
    g_assert_cmpmem(found.ra, found.n * sizeof(double), expected.ra, bytes);
    g_assert_cmpmem(found.distance, found.n * sizeof(double), expected.distance, bytes);
    astro_catalogue_clear(&expected);
    astro_catalogue_clear(&found);
  }
  astro_catalogue_clear(&all);
}

static void fail_to_hold(const char *expected)
{
  const AstroHeldLimit limit = { 1000 * 40, 16 };
  g_autoptr(GError) error = NULL;
  g_auto(AstroHeld) held = { 0 };
  AstroCatalogue all;
  make(&all, POINTS);
  g_assert_false(astro_held_add(&held, &limit, &all, &error));
  g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, expected));
  g_assert_nonnull(strstr(error->message, "(TMPDIR=FOLDER), or a larger max-memory"));
  astro_catalogue_clear(&all);
}

/* In processes of their own, since folders and limits are those of a process. */
static void test_no_folder(void)
{
  if (g_test_subprocess()) {
    g_setenv("TMPDIR", "/nowhere/at/all", TRUE);
    fail_to_hold("of a temporary file in /nowhere/at/all: No such file or directory");
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

static void test_no_room(void)
{
  if (g_test_subprocess()) {
    const struct rlimit little = { 100000, 100000 };
    signal(SIGXFSZ, SIG_IGN);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &little), ==, 0);
    fail_to_hold("cannot write ");
    return;
  }
  g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_INHERIT_STDERR);
  g_test_trap_assert_passed();
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/held/order", test_order);
  g_test_add_func("/held/other-columns", test_other_columns);
  g_test_add_func("/held/same", test_same);
  g_test_add_func("/held/split", test_split);
  g_test_add_func("/held/no-folder", test_no_folder);
  g_test_add_func("/held/no-room", test_no_room);
  return g_test_run();
}
