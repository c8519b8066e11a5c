/* Correlation functions in space, from catalogues to tables: every statistic agrees with xi in the
 * bins that it is made of. */
#include "tests/elements/catalogues.h"

#include <math.h>

#define MOCK " points=600 min-distance=300 max-distance=400 footprint=cap:10,10,6 "
#define SOURCES " astrocatsrc" MOCK "! h.data astrocatsrc" MOCK "seed=5 catalogues=2 ! h.random "
#define SMU "astrohistogram name=h kind=smu linear-bins=3 min-separation=0 max-separation=60 "
#define RPPI "astrohistogram name=h kind=rppi edges=1,5,20,60 pi-bins=6 pi-max=30 "
enum { ROWS = 3 };

typedef struct {
  char *names;
  guint n_rows;
  double *values; /* by columns */
} Table;

static Table table_of(const char *counter, const char *settings)
{
  g_autofree char *message = NULL,
                  *line = g_strdup_printf("%s ! astrotpacf %s ! appsink name=out" SOURCES, counter,
                                          settings);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 1);
  const GstStructure *caps = test_sample_caps(samples, 0);
  gint rows;
  gsize bytes;
  g_assert_true(gst_structure_get_int(caps, "bins", &rows));
  Table table = { g_strdup(gst_structure_get_string(caps, "columns")), (guint)rows,
                  test_sample_data(samples, 0, &bytes) };
  guint columns = 1;
  for (const char *c = table.names; *c; c++)
    columns += *c == ':';
  g_assert_cmpuint(bytes, ==, columns * (guint)rows * sizeof(double));
  return table;
}

static void table_clear(Table *table)
{
  g_free(table->names);
  g_free(table->values);
}

static const double *column_of(const Table *table, const char *name)
{
  g_auto(GStrv) names = g_strsplit(table->names, ":", -1);
  for (guint c = 0; names[c]; c++)
    if (g_str_equal(names[c], name))
      return table->values + (gsize)c * table->n_rows;
  g_error("no column %s in %s", name, table->names);
}

static void near_by(double found, double expected)
{
  if (!(fabs(found - expected) <= 1e-11 * (1 + fabs(expected))))
    g_error("%.17g, expected %.17g", found, expected);
}

static void test_bins(void)
{
  Table t = table_of(RPPI, "");
  g_assert_cmpstr(t.names, ==, "rp:rp_low:rp_high:pi:pi_low:pi_high:xi:error:dd:dr:rr");
  g_assert_cmpuint(t.n_rows, ==, ROWS * 6);
  static const double edges[] = { 1, 5, 20, 60 };
  const double *dd = column_of(&t, "dd"), *dr = column_of(&t, "dr"), *rr = column_of(&t, "rr");
  for (guint k = 0; k < t.n_rows; k++) {
    g_assert_cmpfloat(column_of(&t, "rp_low")[k], ==, edges[k / 6]);
    g_assert_cmpfloat(column_of(&t, "rp_high")[k], ==, edges[k / 6 + 1]);
    g_assert_cmpfloat(column_of(&t, "rp")[k], ==, (edges[k / 6] + edges[k / 6 + 1]) / 2);
    g_assert_cmpfloat(column_of(&t, "pi_low")[k], ==, 5.0 * (k % 6));
    g_assert_cmpfloat(column_of(&t, "pi")[k], ==, 5.0 * (k % 6) + 2.5);
    const double d = dd[k] / (600 * 599 / 2), c = dr[k] / (2 * 600 * 600), r = rr[k] / (600 * 599);
    near_by(column_of(&t, "xi")[k], (d - 2 * c + r) / r);
  }
  table_clear(&t);
}

static void test_wp(void)
{
  Table bins = table_of(RPPI "regions=6", ""), wp = table_of(RPPI "regions=6", "statistic=wp");
  g_assert_cmpstr(wp.names, ==, "rp:rp_low:rp_high:wp:error:cov0:cov1:cov2");
  g_assert_cmpuint(wp.n_rows, ==, ROWS);
  for (guint row = 0; row < ROWS; row++) {
    double sum = 0;
    for (guint m = 0; m < 6; m++)
      sum += 2 * 5 * column_of(&bins, "xi")[6 * row + m];
    near_by(column_of(&wp, "wp")[row], sum);
    g_autofree char *diagonal = g_strdup_printf("cov%u", row);
    near_by(column_of(&wp, "error")[row], sqrt(column_of(&wp, diagonal)[row]));
  }
  table_clear(&bins);
  table_clear(&wp);
}

static void test_of_mu(void)
{
  Table bins = table_of(SMU "mu-bins=10", "statistic=xi"),
        wedges = table_of(SMU "mu-bins=10", "statistic=wedges wedges=2"),
        multipoles = table_of(SMU "mu-bins=10", "statistic=multipoles");
  g_assert_cmpstr(wedges.names, ==, "s:s_low:s_high:mu:mu_low:mu_high:xi:error");
  g_assert_cmpstr(multipoles.names, ==, "s:s_low:s_high:ell:xi:error");
  for (guint row = 0; row < ROWS; row++) {
    double sum[3] = { 0 };
    for (guint m = 0; m < 10; m++) {
      const double xi = column_of(&bins, "xi")[10 * row + m], from = m / 10.0, to = from + 0.1;
      sum[m / 5] += xi / 5;
      sum[2] += xi * 5 * ((to * to * to - to) - (from * from * from - from)) / 2;
    }
    near_by(column_of(&wedges, "xi")[row], sum[0]);
    near_by(column_of(&wedges, "xi")[ROWS + row], sum[1]);
    g_assert_cmpfloat(column_of(&wedges, "mu_low")[ROWS + row], ==, 0.5);
    near_by(column_of(&multipoles, "xi")[row], (sum[0] + sum[1]) / 2);
    near_by(column_of(&multipoles, "xi")[ROWS + row], sum[2]);
    g_assert_cmpfloat(column_of(&multipoles, "ell")[ROWS + row], ==, 2);
    g_assert_cmpfloat(column_of(&multipoles, "s_low")[ROWS + row], ==, 20 * row);
    /* points without clusters */
    g_assert_cmpfloat(fabs(column_of(&multipoles, "xi")[row]), <,
                      5 * column_of(&multipoles, "error")[row] + 0.02);
  }
  table_clear(&bins);
  table_clear(&wedges);
  table_clear(&multipoles);
}

static void test_csv(void)
{
  gsize bytes;
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(
      RPPI "! astrotpacf statistic=wp ! text/csv ! appsink name=out" SOURCES, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_autofree char *data = test_sample_data(samples, 0, &bytes), *text = g_strndup(data, bytes);
  g_assert_true(g_str_has_prefix(text, "rp,rp_low,rp_high,wp,error\n3,1,5,"));
}

static void refuse(const char *counter, const char *settings, const char *says)
{
  g_autofree char *line =
      g_strdup_printf("%s ! astrotpacf name=t %s ! fakesink" SOURCES, counter, settings);
  test_refused_by(line, "t: ", says);
}

static void test_refused_statistics(void)
{
  refuse("astrohistogram name=h", "statistic=multipoles", "expected a histogram of kind=smu");
  refuse("astrohistogram name=h", "statistic=xi", "needs pairs in space");
  refuse(SMU, "statistic=wp", "expected a histogram of kind=rppi");
  refuse(SMU, "statistic=wedges wedges=3", "3 wedges of 100 bins of mu");
  refuse(SMU "mu-max=0.5", "statistic=multipoles", "expected mu-max=1");
  refuse(RPPI, "integral-constraint=true", "is for pairs by angle");
}

/* Each statistic has a picture. */
static void test_pictures(void)
{
  static const struct {
    const char *pairs, *statistic;
  } cases[] = {
    { SMU, "xi" }, { SMU, "multipoles" }, { SMU, "wedges" }, { RPPI, "xi" }, { RPPI, "wp" }
  };
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_autofree char *message = NULL,
                    *line = g_strdup_printf("%s ! astrotpacf statistic=%s ! astrorender width=160 "
                                            "height=120 ! appsink name=out " SOURCES,
                                            cases[c].pairs, cases[c].statistic);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_cmpstr(message, ==, NULL);
    g_assert_cmpuint(samples->len, >=, 1);
  }
}

/* No memory is taken for a size that is only in the caps. */
static void test_huge(void)
{
#define HUGE_HISTOGRAM                                                                             \
  "fakesrc num-buffers=1 sizetype=fixed sizemax=512 ! "                                            \
  "capsfilter caps=application/x-astro-histogram,format=U64LE,pairs=(string)dd:dr:rr,"
  test_refused_by(HUGE_HISTOGRAM "layout=pairs:bin:mu,bins=2147483647,mu-bins=2 ! astrotpacf ! "
                                 "fakesink",
                  "astrotpacf", "expected at most");
  test_refused_by(HUGE_HISTOGRAM
                  "layout=pairs:bin:mu,bins=1000,mu-bins=1000 ! astrotpacf ! fakesink",
                  "astrotpacf", "a histogram of 512 bytes");
  test_refused_by(HUGE_HISTOGRAM "layout=pairs:mu:bin,bins=4,mu-bins=16 ! astrotpacf ! fakesink",
                  "astrotpacf", "in space followed by mu or pi");
}

static void add_tests(void)
{
  g_test_add_func("/astrotpacf-space/bins", test_bins);
  g_test_add_func("/astrotpacf-space/wp", test_wp);
  g_test_add_func("/astrotpacf-space/of-mu", test_of_mu);
  g_test_add_func("/astrotpacf-space/csv", test_csv);
  g_test_add_func("/astrotpacf-space/refused", test_refused_statistics);
  g_test_add_func("/astrotpacf-space/pictures", test_pictures);
  g_test_add_func("/astrotpacf-space/huge", test_huge);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
