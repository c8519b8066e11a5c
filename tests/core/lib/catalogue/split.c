/* Parts of a catalogue: every point once, equal sizes, and chances that do not know the order. */
#include "core/lib/catalogue/split.h"
#include "tests/tests.h"

#include <math.h>

enum { N = 10007, PARTS = 10 };

static AstroCatalogue numbered(void)
{
  AstroCatalogue all = { .n = N,
                         .ra = g_new(double, N),
                         .dec = g_new(double, N),
                         .weight = g_new(double, N),
                         .region = g_new(double, N),
                         .distance = g_new(double, N) };
  for (guint i = 0; i < N; i++) {
    all.ra[i] = i;
    all.dec[i] = i + 0.1;
    all.weight[i] = i + 0.2;
    all.region[i] = i + 0.3;
    all.distance[i] = i + 0.4;
  }
  return all;
}

static void find_parts(const AstroCatalogue *all, guint64 seed, guint64 index, guint *part_of)
{
  GError *error = NULL;
  g_autoptr(AstroSplit) split = astro_split_new(N, PARTS, seed, index, &error);
  g_assert_no_error(error);
  for (guint i = 0; i < N; i++)
    part_of[i] = PARTS;
  for (guint p = 0; p < PARTS; p++) {
    AstroCatalogue part;
    g_assert_true(astro_split_part(split, all, p, &part, &error));
    g_assert_cmpuint(part.n, ==, N / PARTS + (p < N % PARTS));
    for (guint k = 0; k < part.n; k++) {
      const guint i = (guint)part.ra[k];
      g_assert_cmpuint(part_of[i], ==, PARTS);
      part_of[i] = p;
      g_assert_cmpfloat(part.dec[k], ==, all->dec[i]);
      g_assert_cmpfloat(part.weight[k], ==, all->weight[i]);
      g_assert_cmpfloat(part.region[k], ==, all->region[i]);
      g_assert_cmpfloat(part.distance[k], ==, all->distance[i]);
    }
    astro_catalogue_clear(&part);
  }
}

static void test_parts(void)
{
  AstroCatalogue all = numbered();
  static guint one[N], again[N], other[N];
  guint same = 0, neighbours = 0;
  find_parts(&all, 1, 0, one);
  find_parts(&all, 1, 0, again);
  find_parts(&all, 1, 1, other);
  g_assert_cmpmem(one, sizeof one, again, sizeof again);
  for (guint i = 0; i < N; i++) {
    g_assert_cmpuint(one[i], <, PARTS);
    same += one[i] == other[i];
    neighbours += i > 0 && one[i] == one[i - 1];
  }
  /* five standard deviations around a tenth */
  g_assert_cmpfloat_with_epsilon(same / (double)N, 0.1, 0.015);
  g_assert_cmpfloat_with_epsilon(neighbours / (double)N, 0.1, 0.015);
  astro_catalogue_clear(&all);
}

static void test_refused(void)
{
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_split_new(9, 5, 1, 0, &error));
  test_says(error->message, "9 points cannot be split into 5 parts: expected 2 points or more");
}

static void add_tests(void)
{
  g_test_add_func("/split/parts", test_parts);
  g_test_add_func("/split/refused", test_refused);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
