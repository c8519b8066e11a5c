/* Sums of xi over mu and pi, their errors and tables, against what they are made of. */
#include "core/lib/catalogue/catalogue.h"
#include "core/tpacf/space-table.h"
#include "tests/tests.h"

#include <math.h>

enum { ROWS = 2, COLUMNS = 4, BINS = ROWS * COLUMNS, REGIONS = 5, CELLS = REGIONS * REGIONS };

typedef struct {
  double counts[CELLS * BINS], pairs[CELLS];
} Kind;

static Kind kind_new(guint64 seed)
{
  Kind kind;
  AstroRandom random;
  astro_random_init(&random, seed, 0);
  for (guint i = 0; i < CELLS * BINS; i++)
    kind.counts[i] = floor(50 * (1 + astro_random_uniform(&random)));
  for (guint i = 0; i < CELLS; i++)
    kind.pairs[i] = 1000 + floor(1000 * astro_random_uniform(&random));
  return kind;
}

/* without: a region that is left out, or REGIONS. */
static double share_of(const Kind *kind, guint without, guint bin)
{
  double count = 0, pairs = 0;
  for (guint a = 0; a < REGIONS; a++)
    for (guint b = 0; b < REGIONS; b++)
      if (a != without && b != without) {
        count += kind->counts[(a * REGIONS + b) * BINS + bin];
        pairs += kind->pairs[a * REGIONS + b];
      }
  return count / pairs;
}

typedef struct {
  Kind dd, dr, rr;
  AstroTpacfConfig config;
} Case;

static void case_init(Case *c, guint n_regions)
{
  c->dd = kind_new(1);
  c->dr = kind_new(2);
  c->rr = kind_new(3);
  c->config = (AstroTpacfConfig){ .n_regions = n_regions,
                                  .n_bins = BINS,
                                  .dd = { c->dd.counts, c->dd.pairs },
                                  .dr = { c->dr.counts, c->dr.pairs },
                                  .rr = { c->rr.counts, c->rr.pairs } };
}

static double xi_of(const Case *c, guint without, guint bin)
{
  const double dd = share_of(&c->dd, without, bin), dr = share_of(&c->dr, without, bin),
               rr = share_of(&c->rr, without, bin);
  return (dd - 2 * dr + rr) / rr;
}

/* (2 ell + 1) times the integral of the Legendre polynomial, by antiderivatives written out. */
static double antiderivative(guint ell, double x)
{
  const double x3 = x * x * x, x5 = x3 * x * x;
  return ell == 0 ? x : ell == 2 ? 5 * (x3 - x) / 2 : 9 * (7 * x5 - 10 * x3 + 3 * x) / 8;
}

static double expected_sum(const Case *c, AstroStatistic statistic, guint without, guint value)
{
  const guint row = value % ROWS, sum = value / ROWS;
  double all = 0;
  for (guint m = 0; m < COLUMNS; m++) {
    const double xi = xi_of(c, without, row * COLUMNS + m), width = 1.0 / COLUMNS;
    if (statistic == ASTRO_STATISTIC_MULTIPOLES)
      all += xi * (antiderivative(2 * sum, (m + 1) * width) - antiderivative(2 * sum, m * width));
    else if (statistic == ASTRO_STATISTIC_WEDGES)
      all += m / 2 == sum ? xi / 2 : 0;
    else
      all += 2 * xi * 60 * width;
  }
  return all;
}

static void near_by(double found, double expected)
{
  if (!(fabs(found - expected) <= 1e-12 * fabs(expected) + 1e-14))
    g_error("%.17g, expected %.17g", found, expected);
}

/* Values and their covariance, by leaving out one region after another. */
static void test_sums(void)
{
  static const AstroStatistic statistics[] = { ASTRO_STATISTIC_MULTIPOLES, ASTRO_STATISTIC_WEDGES,
                                               ASTRO_STATISTIC_WP };
  static const guint n_sums[] = { 3, 2, 1 };
  for (guint s = 0; s < G_N_ELEMENTS(statistics); s++) {
    Case c;
    AstroTpacfSums sums;
    AstroTpacfResult result;
    const double most = statistics[s] == ASTRO_STATISTIC_WP ? 60 : 1;
    case_init(&c, REGIONS);
    g_assert_true(astro_sums_init(&sums, statistics[s], COLUMNS, most, 2, NULL));
    c.config.sums = &sums;
    g_assert_true(astro_tpacf_compute(&c.config, &result, NULL));
    const guint n = n_sums[s] * ROWS;
    g_assert_cmpuint(result.n_bins, ==, n);
    for (guint i = 0; i < n; i++) {
      near_by(result.w[i], expected_sum(&c, statistics[s], REGIONS, i));
      near_by(result.error[i], sqrt(result.covariance[i * n + i]));
      for (guint j = 0; j < n; j++) {
        double mean_i = 0, mean_j = 0, sum = 0;
        for (guint r = 0; r < REGIONS; r++) {
          mean_i += expected_sum(&c, statistics[s], r, i) / REGIONS;
          mean_j += expected_sum(&c, statistics[s], r, j) / REGIONS;
        }
        for (guint r = 0; r < REGIONS; r++)
          sum += (expected_sum(&c, statistics[s], r, i) - mean_i) *
                 (expected_sum(&c, statistics[s], r, j) - mean_j);
        g_assert_cmpfloat_with_epsilon(result.covariance[i * n + j], sum * (REGIONS - 1) / REGIONS,
                                       1e-10 * most * most);
      }
    }
    astro_tpacf_clear(&result);
    astro_sums_clear(&sums);
  }
}

/* Bins alone have errors, but no covariance. */
static void test_bins(void)
{
  Case c;
  AstroTpacfResult result;
  case_init(&c, REGIONS);
  g_assert_true(astro_tpacf_compute(&c.config, &result, NULL));
  g_assert_null(result.covariance);
  g_assert_null(result.theta);
  for (guint k = 0; k < BINS; k++) {
    double mean = 0, sum = 0;
    near_by(result.w[k], xi_of(&c, REGIONS, k));
    for (guint r = 0; r < REGIONS; r++)
      mean += xi_of(&c, r, k) / REGIONS;
    for (guint r = 0; r < REGIONS; r++)
      sum += (xi_of(&c, r, k) - mean) * (xi_of(&c, r, k) - mean);
    g_assert_cmpfloat_with_epsilon(result.error[k], sqrt(sum * (REGIONS - 1) / REGIONS), 1e-10);
  }
  astro_tpacf_clear(&result);
}

/* Without regions errors are those of the numbers of pairs; an empty bin adds none. */
static void test_poisson(void)
{
  Case c;
  AstroTpacfSums sums;
  AstroTpacfResult result;
  case_init(&c, 1);
  c.dd.counts[0] = 0;
  for (guint m = 0; m < COLUMNS; m++)
    c.dd.counts[COLUMNS + m] = 0;
  g_assert_true(astro_sums_init(&sums, ASTRO_STATISTIC_WP, COLUMNS, 60, 1, NULL));
  c.config.sums = &sums;
  g_assert_true(astro_tpacf_compute(&c.config, &result, NULL));
  double variance = 0;
  for (guint m = 1; m < COLUMNS; m++) {
    const double dd = c.dd.counts[m] / c.dd.pairs[0], dr = c.dr.counts[m] / c.dr.pairs[0],
                 rr = c.rr.counts[m] / c.rr.pairs[0], xi = (dd - 2 * dr + rr) / rr,
                 error = 2 * 15 * fabs(1 + xi) / sqrt(c.dd.counts[m]);
    variance += error * error;
  }
  near_by(result.error[0], sqrt(variance));
  g_assert_true(isnan(result.error[1]));
  g_assert_false(isnan(result.w[1]));
  astro_tpacf_clear(&result);
  astro_sums_clear(&sums);
}

/* Many bins of a sum of Legendre polynomials give back what it was made of. */
static void test_polynomials(void)
{
  enum { MANY = 500 };
  static const double parts[ASTRO_N_MULTIPOLES] = { 0.7, -1.3, 0.4 };
  double dd[MANY], rr[MANY];
  const double pairs = 1;
  AstroTpacfSums sums;
  AstroTpacfResult result;
  for (guint m = 0; m < MANY; m++) {
    const double mu = (m + 0.5) / MANY, x2 = mu * mu;
    const double xi =
        parts[0] + parts[1] * (3 * x2 - 1) / 2 + parts[2] * (35 * x2 * x2 - 30 * x2 + 3) / 8;
    rr[m] = 1000;
    dd[m] = rr[m] * (1 + xi);
  }
  g_assert_true(astro_sums_init(&sums, ASTRO_STATISTIC_MULTIPOLES, MANY, 1, 1, NULL));
  const AstroTpacfConfig config = { .estimator = ASTRO_ESTIMATOR_NATURAL,
                                    .n_regions = 1,
                                    .n_bins = MANY,
                                    .sums = &sums,
                                    .dd = { dd, &pairs },
                                    .rr = { rr, &pairs } };
  g_assert_true(astro_tpacf_compute(&config, &result, NULL));
  for (guint l = 0; l < ASTRO_N_MULTIPOLES; l++)
    g_assert_cmpfloat_with_epsilon(result.w[l], parts[l], 1e-4);
  astro_tpacf_clear(&result);
  astro_sums_clear(&sums);
}

static void refuse(AstroStatistic statistic, AstroAxis across, guint columns, guint wedges,
                   const char *says)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(astro_statistic_check(statistic, across, columns, wedges, &error));
  test_says(error->message, says);
}

static void test_refused(void)
{
  refuse(ASTRO_STATISTIC_MULTIPOLES, ASTRO_AXIS_PI, 4, 1, "expected a histogram of kind=smu");
  refuse(ASTRO_STATISTIC_WEDGES, ASTRO_AXIS_NONE, 1, 1, "expected a histogram of kind=smu");
  refuse(ASTRO_STATISTIC_WP, ASTRO_AXIS_MU, 4, 1, "expected a histogram of kind=rppi");
  refuse(ASTRO_STATISTIC_XI, ASTRO_AXIS_NONE, 1, 1, "statistic=xi needs pairs in space");
  refuse(ASTRO_STATISTIC_WEDGES, ASTRO_AXIS_MU, 100, 3, "3 wedges of 100 bins of mu");
  AstroTpacfSums sums;
  g_autoptr(GError) error = NULL;
  g_assert_false(astro_sums_init(&sums, ASTRO_STATISTIC_MULTIPOLES, 4, 0.5, 1, &error));
  test_says(error->message, "expected mu-max=1");
}

static void check_columns(AstroStatistic statistic, AstroAxis across, guint regions,
                          const char *expected)
{
  const AstroSpaceTable table = { .statistic = statistic,
                                  .across = across,
                                  .n_rows = 1,
                                  .n_columns = 4,
                                  .wedges = 2,
                                  .n_regions = regions,
                                  .n_kinds = 3 };
  g_autofree char *columns = astro_space_table_columns(&table, "dd:dr:rr");
  g_assert_cmpstr(columns, ==, expected);
  guint n = 1;
  for (const char *c = columns; *c; c++)
    n += *c == ':';
  g_assert_cmpuint(astro_space_table_values(&table), ==, n * astro_space_table_rows(&table));
}

static void test_columns(void)
{
  check_columns(ASTRO_STATISTIC_AUTO, ASTRO_AXIS_MU, 9,
                "s:s_low:s_high:mu:mu_low:mu_high:xi:error:dd:dr:rr");
  check_columns(ASTRO_STATISTIC_XI, ASTRO_AXIS_PI, 1,
                "rp:rp_low:rp_high:pi:pi_low:pi_high:xi:error:dd:dr:rr");
  check_columns(ASTRO_STATISTIC_MULTIPOLES, ASTRO_AXIS_MU, 1, "s:s_low:s_high:ell:xi:error");
  check_columns(ASTRO_STATISTIC_MULTIPOLES, ASTRO_AXIS_MU, 9,
                "s:s_low:s_high:ell:xi:error:cov0:cov1:cov2");
  check_columns(ASTRO_STATISTIC_WEDGES, ASTRO_AXIS_MU, 9,
                "s:s_low:s_high:mu:mu_low:mu_high:xi:error:cov0:cov1");
  check_columns(ASTRO_STATISTIC_WP, ASTRO_AXIS_PI, 9, "rp:rp_low:rp_high:wp:error:cov0");
}

static void add_tests(void)
{
  g_test_add_func("/tpacf-space/sums", test_sums);
  g_test_add_func("/tpacf-space/bins", test_bins);
  g_test_add_func("/tpacf-space/poisson", test_poisson);
  g_test_add_func("/tpacf-space/polynomials", test_polynomials);
  g_test_add_func("/tpacf-space/refused", test_refused);
  g_test_add_func("/tpacf-space/columns", test_columns);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
