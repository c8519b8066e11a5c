/* Tables of fields: means against cases worked out by hand, and errors against a plain
 * leave-one-out. */
#include "core/lib/catalogue/catalogue.h"
#include "core/tpacf/fields-table.h"
#include "tests/tests.h"

#include <math.h>

static void near_by(double found, double expected)
{
  if (!(fabs(found - expected) <= 1e-12 * fabs(expected) + 1e-15))
    g_error("%.17g, expected %.17g", found, expected);
}

static void check_columns(AstroPairFields fields, guint regions, const char *expected)
{
  const AstroFieldsTable table = { .fields = fields, .n_bins = 2, .n_regions = regions };
  g_autofree char *columns = astro_fields_table_columns(&table);
  g_auto(GStrv) names = g_strsplit(columns, ":", -1);
  g_assert_cmpstr(columns, ==, expected);
  g_assert_cmpuint(astro_fields_table_values(&table), ==, 2 * g_strv_length(names));
}

static void test_columns(void)
{
  check_columns(ASTRO_PAIR_FIELDS_KK, 1, "r_nom:low:high:meanr:xi:sigma_xi:weight:npairs");
  check_columns(ASTRO_PAIR_FIELDS_NK, 3,
                "r_nom:low:high:meanr:kappa:sigma:weight:npairs:cov0:cov1");
  check_columns(ASTRO_PAIR_FIELDS_NG, 1, "r_nom:low:high:meanr:gamT:gamX:sigma:weight:npairs");
  check_columns(ASTRO_PAIR_FIELDS_GG, 3,
                "r_nom:low:high:meanr:xip:xim:xip_im:xim_im:sigma_xip:sigma_xim:weight:npairs:"
                "cov_xip_xip0:cov_xip_xip1:cov_xip_xim0:cov_xip_xim1:cov_xim_xim0:cov_xim_xim1");
}

/* A bin with pairs and one without, around points and around random ones in their place. */
static void test_by_hand(void)
{
  enum { BINS = 2, COLUMNS = 9 };
  static const double edges[] = { 0, 4, 9 };
  /* weight, r, gamT, gamX and var of dd, then of rd */
  static const double sums[] = { 4,  0, 6, 0, 3, 0, 1, 0, 9, 0, /**/
                                 10, 0, 8, 0, 5, 0, 2, 0, 7, 0 };
  static const double pairs[10] = { 12, 0, 0, 0, 0, 30 };
  static const guint64 counts[20] = { 5 };
  static const double expected[COLUMNS][BINS] = { { 2, 6 },     { 0, 4 },   { 4, 9 },
                                                  { 1.5, NAN }, { 0, NAN }, { 0, NAN },
                                                  { NAN, NAN }, { 4, 0 },   { 5, 0 } };
  for (guint has_random = 0; has_random < 2; has_random++) {
    const AstroFieldsTable table = { ASTRO_PAIR_FIELDS_NG, BINS, 1, has_random };
    const AstroFieldsSums all = { edges, sums, pairs, counts };
    const double gam_t = has_random ? 0.75 - 0.5 : 0.75, gam_x = has_random ? 0.25 - 0.2 : 0.25,
                 sigma = sqrt(9.0 / 16 + (has_random ? 7.0 / 100 : 0));
    const double values[] = { gam_t, gam_x, sigma };
    double out[COLUMNS * BINS];
    AstroTpacfResult result;
    g_assert_cmpuint(astro_fields_table_values(&table), ==, G_N_ELEMENTS(out));
    test_fill((guint8 *)out, sizeof out, 1);
    g_assert_true(astro_fields_table_write(&table, &all, &result, out, NULL));
    g_assert_cmpuint(result.n_bins, ==, BINS);
    g_assert_cmpuint(result.n_undefined, ==, 1);
    for (guint c = 0; c < COLUMNS; c++)
      for (guint k = 0; k < BINS; k++) {
        const double wanted = k == 0 && c >= 4 && c < 7 ? values[c - 4] : expected[c][k];
        if (isnan(wanted))
          g_assert_true(isnan(out[c * BINS + k]));
        else
          near_by(out[c * BINS + k], wanted);
      }
  }
}

enum { REGIONS = 5, BINS = 3, PLANES = 7, CELLS = REGIONS * REGIONS };

/* The mean in a plane without a region; without REGIONS: of all. */
static double mean_without(const double *sums, guint plane, guint without, guint bin)
{
  double product = 0, weight = 0;
  for (guint a = 0; a < REGIONS; a++)
    for (guint b = 0; b < REGIONS; b++)
      if (a != without && b != without) {
        const guint cell = a * REGIONS + b;
        weight += sums[cell * BINS + bin];
        product += sums[(plane * CELLS + cell) * BINS + bin];
      }
  return product / weight;
}

/* The functions i and j are xip (0) or xim (1); regions without pairs are no samples. */
static double covariance(const double *sums, guint n, guint i, guint row, guint j, guint column)
{
  double mean_i = 0, mean_j = 0, sum = 0;
  for (guint r = 0; r < n; r++) {
    mean_i += mean_without(sums, ASTRO_PAIR_PLANE_FIRST + i, r, row) / n;
    mean_j += mean_without(sums, ASTRO_PAIR_PLANE_FIRST + j, r, column) / n;
  }
  for (guint r = 0; r < n; r++)
    sum += (mean_without(sums, ASTRO_PAIR_PLANE_FIRST + i, r, row) - mean_i) *
           (mean_without(sums, ASTRO_PAIR_PLANE_FIRST + j, r, column) - mean_j);
  return sum * (n - 1) / n;
}

/* used: regions that have pairs, of all. */
static void check_jackknife(guint used)
{
  static const double edges[] = { 1, 2, 4, 8 };
  const AstroFieldsTable table = { ASTRO_PAIR_FIELDS_GG, BINS, REGIONS, FALSE };
  double sums[PLANES * CELLS * BINS] = { 0 }, pairs[PLANES * CELLS] = { 0 };
  guint64 counts[PLANES * CELLS * BINS] = { 0 };
  AstroRandom random;
  astro_random_init(&random, used, 0);
  for (guint a = 0; a < used; a++)
    for (guint b = a; b < used; b++) /* pairs within one catalogue have no order */
      for (guint k = 0; k < BINS; k++) {
        const guint at = (a * REGIONS + b) * BINS + k;
        counts[at] = at + 1;
        pairs[a * REGIONS + b] += 100;
        for (guint p = 0; p < PLANES; p++)
          sums[p * CELLS * BINS + at] = astro_random_uniform(&random) + (p == 0);
      }
  const AstroFieldsSums all = { edges, sums, pairs, counts };
  const gsize n = astro_fields_table_values(&table);
  g_autofree double *out = g_new(double, n);
  AstroTpacfResult result;
  test_fill((guint8 *)out, n * sizeof *out, 2);
  g_assert_true(astro_fields_table_write(&table, &all, &result, out, NULL));
  g_assert_cmpuint(result.n_used, ==, used);
  const double *values = out + 4 * BINS, *errors = values + 4 * BINS, *cov = errors + 4 * BINS;
  for (guint v = 0; v < 4; v++)
    for (guint k = 0; k < BINS; k++)
      near_by(values[v * BINS + k], mean_without(sums, ASTRO_PAIR_PLANE_FIRST + v, REGIONS, k));
  for (guint i = 0; i < 2; i++)
    for (guint k = 0; k < BINS; k++)
      near_by(errors[i * BINS + k], sqrt(covariance(sums, used, i, k, i, k)));
  static const guint blocks[][2] = { { 0, 0 }, { 0, 1 }, { 1, 1 } };
  for (guint block = 0; block < G_N_ELEMENTS(blocks); block++)
    for (guint column = 0; column < BINS; column++)
      for (guint row = 0; row < BINS; row++)
        g_assert_cmpfloat_with_epsilon(
            cov[(block * BINS + column) * BINS + row],
            covariance(sums, used, blocks[block][0], row, blocks[block][1], column), 1e-14);
}

static void test_jackknife(void)
{
  check_jackknife(REGIONS);
  check_jackknife(REGIONS - 1);
}

static void add_tests(void)
{
  g_test_add_func("/tpacf-fields/columns", test_columns);
  g_test_add_func("/tpacf-fields/by-hand", test_by_hand);
  g_test_add_func("/tpacf-fields/jackknife", test_jackknife);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
