/* Visibilities sorted for spreading: every one that can be used is there once, in its place and in
 * its order, however crowded the middle of the grid is. */
#include "core/gridder/sorted.h"
#include "tests/tests.h"

#include <complex.h>
#include <math.h>

enum { CHANNELS = 3, PRODUCTS = 2 };

typedef struct {
  AstroGridRows rows;
  AstroGriddingConfig config;
  AstroGrid grid;
  AstroPlanes planes;
  double wavenumbers[CHANNELS];
} Case;

static void set_value(Case *test, guint64 at, double value)
{
  for (guint p = 0; p < PRODUCTS; p++)
    if (test->rows.is_double)
      ((complex double *)test->rows.values)[at * PRODUCTS + p] = value * (p + 1);
    else
      ((complex float *)test->rows.values)[at * PRODUCTS + p] = (complex float)(value * (p + 1));
}

/* Most rows are short; a few reach over the edge. Values are of a size that says whose they are;
 * some are zero. */
static void open_case(Case *test, guint64 rows, gboolean is_double, double field)
{
  static char *products[] = { (char *)"XX", (char *)"YY", NULL };
  g_autoptr(GRand) random = g_rand_new_with_seed(5);
  g_autoptr(GError) error = NULL;
  const gsize values = rows * CHANNELS * PRODUCTS * (is_double ? 16 : 8);
  double *uvw = g_new(double, 3 * MAX(rows, 1));

  *test = (Case){ .rows = { .rows = rows,
                            .channels = CHANNELS,
                            .products = PRODUCTS,
                            .is_double = is_double,
                            .uvw = uvw,
                            .values = g_malloc(MAX(values, 1)) },
                  .config = { .is_double = is_double, .channels = 1, .accuracy = 1e-4 },
                  .grid = { .image_size = 256, .pixel = field / 256, .products = products },
                  .wavenumbers = { 1, 1.25, 1.5 } };
  test->rows.wavenumbers = test->wavenumbers;
  g_assert_true(astro_wstacking.choose(&test->config, &test->grid, &error));
  const double edge = test->grid.size / 2 * test->grid.cell;
  for (guint64 i = 0; i < rows; i++) {
    const double reach = edge * (i % 10 ? i % 3 ? 0.02 : 0.2 : 0.8);
    for (guint k = 0; k < 2; k++)
      uvw[3 * i + k] = g_rand_double_range(random, -reach, reach);
    uvw[3 * i + 2] = g_rand_double_range(random, 0, reach);
    for (guint c = 0; c < CHANNELS; c++)
      set_value(test, i * CHANNELS + c, i % 17 == 3 ? 0 : (double)(i * CHANNELS + c + 1));
  }
  g_assert_true(
      astro_planes_choose(&test->planes, &test->config, &test->grid, &test->rows, &error));
}

static void close_case(Case *test)
{
  g_free((gpointer)test->rows.uvw);
  g_free((gpointer)test->rows.values);
}

static AstroSorted *sort(const Case *test, guint first, guint channels, guint threads)
{
  g_autoptr(GError) error = NULL;
  AstroSorted *sorted =
      astro_sorted_new(&test->rows, first, channels, &test->grid, &test->planes, threads, &error);
  g_assert_no_error(error);
  return sorted;
}

static double real_of(const AstroSorted *sorted, gconstpointer array, guint64 at)
{
  return sorted->is_double ? ((const double *)array)[at] : ((const float *)array)[at];
}

/* The number of the visibility that stands there, by the size of its values. */
static guint64 whose(const AstroSorted *sorted, guint64 at)
{
  double sizes[PRODUCTS];
  for (guint p = 0; p < PRODUCTS; p++)
    sizes[p] = hypot(real_of(sorted, sorted->values, 2 * (at * PRODUCTS + p)),
                     real_of(sorted, sorted->values, 2 * (at * PRODUCTS + p) + 1)) /
               (p + 1);
  g_assert_cmpfloat_with_epsilon(sizes[0] / sizes[1], 1, 1e-6);
  g_assert_cmpfloat_with_epsilon(sizes[0], rint(sizes[0]), 0.4);
  return (guint64)rint(sizes[0]) - 1;
}

/* Inside the edge, -1 to 1, and the first cell that gives. */
static void check_inside(double position, guint support, guint first, double inside)
{
  const double edge = position - support / 2.0;
  g_assert_cmpfloat(first, >=, edge - 1e-9);
  g_assert_cmpfloat(first, <, edge + 1 + 1e-9);
  g_assert_cmpfloat_with_epsilon(inside, 2 * (first - edge) - 1, 1e-4);
}

static void check_visibility(const Case *test, const AstroSorted *sorted,
                             const AstroSortedGroup *group, guint64 at, guint64 number)
{
  const double per = test->wavenumbers[number % CHANNELS];
  const double *uvw = test->rows.uvw + 3 * (number / CHANNELS);
  const guint support = test->grid.spread.support;
  const guint u = group->block * astro_sorted_block(sorted->is_double) + sorted->offsets[at];
  check_inside(uvw[0] * per / test->grid.cell + test->grid.size / 2, support, u,
               real_of(sorted, sorted->u, at));
  check_inside(uvw[1] * per / test->grid.cell + test->grid.size / 2, support, group->row,
               real_of(sorted, sorted->v, at));
  if (test->planes.step > 0)
    check_inside((uvw[2] * per - test->planes.first) / test->planes.step, support,
                 sorted->first_planes[at], real_of(sorted, sorted->w, at));
}

static gboolean is_used(const Case *test, guint64 number)
{
  const double per = test->wavenumbers[number % CHANNELS];
  const double *uvw = test->rows.uvw + 3 * (number / CHANNELS);
  return number / CHANNELS % 17 != 3 && astro_grid_holds(&test->grid, uvw[0] * per, uvw[1] * per);
}

static void check_sorted(const Case *test, const AstroSorted *sorted, guint first, guint channels)
{
  g_autofree guint8 *seen = g_malloc0(test->rows.rows * CHANNELS + 1);
  guint64 next = 0, used = 0;
  for (guint b = 0; b < sorted->n_bands; b++) {
    const AstroSortedBand *band = &sorted->bands[b];
    gint64 key_before = -1;
    g_assert_cmpuint(band->n ? band->start : next, ==, next);
    for (guint g = 0; g < band->n_groups; g++) {
      const AstroSortedGroup *group = &band->groups[g];
      const gint64 key = (gint64)group->block * ASTRO_BAND_ROWS + group->row % ASTRO_BAND_ROWS;
      guint64 before = 0;
      g_assert_cmpint(key, >, key_before);
      g_assert_cmpuint(group->row / ASTRO_BAND_ROWS, ==, b);
      g_assert_cmpuint(group->start, ==, next);
      g_assert_cmpuint(group->n, >, 0);
      for (guint64 at = next; at < next + group->n; at++) {
        const guint64 number = whose(sorted, at);
        const guint64 order = ((guint64)sorted->first_planes[at] << 40) + number;
        g_assert_cmpuint(number, <, test->rows.rows * CHANNELS);
        g_assert_false(seen[number]);
        seen[number] = TRUE;
        if (at > next)
          g_assert_cmpuint(order, >, before);
        before = order;
        check_visibility(test, sorted, group, at, number);
      }
      next += group->n;
      key_before = key;
    }
    g_assert_cmpuint(band->n, ==, next - (band->n ? band->start : next));
  }
  g_assert_cmpuint(next, ==, sorted->n);
  for (guint64 i = 0; i < test->rows.rows * CHANNELS; i++) {
    const gboolean wanted = i % CHANNELS >= first && i % CHANNELS < first + channels;
    g_assert_cmpint(seen[i], ==, wanted && is_used(test, i));
    used += seen[i];
  }
  g_assert_cmpuint(used, ==, sorted->n);
}

static void check_equal(const AstroSorted *a, const AstroSorted *b)
{
  const gsize bytes = a->is_double ? 8 : 4;
  g_assert_cmpmem(a->u, a->n * bytes, b->u, b->n * bytes);
  g_assert_cmpmem(a->v, a->n * bytes, b->v, b->n * bytes);
  g_assert_cmpmem(a->w, a->n * bytes, b->w, b->n * bytes);
  g_assert_cmpmem(a->values, a->n * 2 * bytes * PRODUCTS, b->values, b->n * 2 * bytes * PRODUCTS);
  g_assert_cmpmem(a->first_planes, a->n * 2, b->first_planes, b->n * 2);
  g_assert_cmpmem(a->offsets, a->n, b->offsets, b->n);
}

static void test_places(void)
{
  static const guint64 rows[] = { 0, 1, 2, 65, 700, 5003, 60000 };
  for (guint i = 0; i < G_N_ELEMENTS(rows); i++)
    for (guint is_double = 0; is_double < 2; is_double++)
      for (guint wide = 0; wide < 2; wide++) {
        Case test;
        open_case(&test, rows[i], is_double, wide ? 0.3 : 1e-5);
        for (guint first = 0; first < CHANNELS; first += 2) {
          const guint channels = first ? 1 : CHANNELS;
          AstroSorted *one = sort(&test, first, channels, 1),
                      *many = sort(&test, first, channels, 3);
          check_sorted(&test, one, first, channels);
          check_equal(one, many);
          astro_sorted_free(one);
          astro_sorted_free(many);
        }
        close_case(&test);
      }
}

/* Rows that nobody needs any more give their memory back, and only these do, once all of a page has
 * been read. */
static void test_spent(void)
{
  for (guint is_double = 0; is_double < 2; is_double++) {
    enum { ROWS = 150000 };
    const gsize bytes = (gsize)ROWS * CHANNELS * PRODUCTS * (is_double ? 16 : 8);
    Case test;
    open_case(&test, ROWS, is_double, 0.1);
    const guint8 *middle = (const guint8 *)test.rows.values + bytes / 2;
    g_autofree guint8 *kept = g_memdup2(test.rows.values, bytes);
    AstroSorted *whole = sort(&test, 0, CHANNELS, 0);
    test.rows.spent = TRUE;
    AstroSorted *part = sort(&test, 1, 1, 0);
    g_assert_cmpmem(test.rows.values, bytes, kept, bytes);
    AstroSorted *spent = sort(&test, 0, CHANNELS, 0);
    check_equal(whole, spent);
#ifdef __linux__
    for (guint i = 0; i < 4096; i++)
      g_assert_cmpuint(middle[i], ==, 0);
#endif
    astro_sorted_free(whole);
    astro_sorted_free(part);
    astro_sorted_free(spent);
    close_case(&test);
  }
}

int main(int argc, char **argv)
{
  test_init_gstreamer(NULL, NULL);
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/sorted/places", test_places);
  g_test_add_func("/sorted/spent", test_spent);
  int status = g_test_run();
  gst_deinit();
  return status;
}
