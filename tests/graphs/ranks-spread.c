/* Graphs on several ranks write the files of one process, and share its work. */
#include "tests/graphs/mpi.h"

#include <math.h>
#include <stdio.h>

/* Files of text and integers are the same, and images but for the rounding of a sum. */
static const struct {
  const char *name, *graph, *output; /* output=... without its number */
  guint ranks[2];                    /* up to a 0 */
  gboolean is_exact;
} spread[] = {
  { "tpacf", "tpacf points=3000 randoms=5 plot=p.png", "csv", { 2, 8 }, TRUE },
  { "seed", "tpacf-seed points=500 randoms=7 plot=p.png", "csv", { 3 }, TRUE },
  { "files", "tpacf-files data=d.csv random='r*.csv' weight=w plot=p.png", "csv", { 3 }, FALSE },
  { "cross",
    "tpacf-cross data=d.csv data2=r1.csv random=r2.csv random2=r3.csv from=1 to=1000 plot=p.png",
    "csv",
    { 2 },
    TRUE },
  { "survey",
    "tpacf-survey data=d.csv random='r*.csv' redshift= distance=d regions=4 bins=5 plot=p.png",
    "csv",
    { 2 },
    TRUE },
  { "synthesis",
    "synthesis stations=10 duration=300 size=128 cell=20 iterations=20 image=i.fits picture=p.png",
    "uvfits",
    { 3 },
    TRUE },
  { "image",
    "image input=v.uvfits size=128 cell=20 weighting=uniform iterations=20 picture=p.png",
    "fits",
    { 2 },
    FALSE },
  { "cube",
    "image input=v.uvfits size=64 cell=30 per-channel=true weighting=briggs picture=p.png",
    "fits",
    { 8 },
    FALSE },
  { "camera", "camera duration=0.5 size=64 stations=8 picture=p.png", "fits", { 3 }, TRUE },
};

static void write_catalogue(const char *name, guint32 seed)
{
  g_autoptr(GString) text = g_string_new("ra,dec,w,d\n");
  g_autoptr(GRand) rand = g_rand_new_with_seed(seed);
  for (guint i = 0; i < 800; i++)
    g_string_append_printf(text, "%.6f,%.6f,%.3f,%.6f\n", g_rand_double_range(rand, 20, 40),
                           g_rand_double_range(rand, -9, 9), g_rand_double_range(rand, 0.5, 2),
                           g_rand_double_range(rand, 80, 120));
  write_file(name, text->str, -1);
}

/* The largest difference of numbers in text, relative to them; those near 0 to a millionth. */
static double text_difference(const char *a, const char *b)
{
  g_auto(GStrv) x = g_strsplit_set(a, ",\n", -1), y = g_strsplit_set(b, ",\n", -1);
  double worst = 0;
  g_assert_cmpuint(g_strv_length(x), ==, g_strv_length(y));
  for (guint i = 0; x[i]; i++) {
    const double p = g_ascii_strtod(x[i], NULL), q = g_ascii_strtod(y[i], NULL);
    worst = fmax(worst, fabs(p - q) / (fmax(fabs(p), fabs(q)) + 1e-6));
  }
  return worst;
}

/* Pixels of images, which are floats of FITS files behind headers of the same length. */
static double image_difference(const char *a, const char *b, gsize bytes)
{
  double most = 0, worst = 0;
  for (gsize at = 2 * 2880; at + 4 <= bytes; at += 4) {
    guint32 bits[2];
    float values[2];
    memcpy(&bits[0], a + at, 4);
    memcpy(&bits[1], b + at, 4);
    bits[0] = GUINT32_FROM_BE(bits[0]);
    bits[1] = GUINT32_FROM_BE(bits[1]);
    memcpy(values, bits, sizeof values);
    if (!isfinite(values[0]) && !isfinite(values[1]))
      continue;
    most = fmax(most, fabs((double)values[0]));
    worst = fmax(worst, fabs((double)values[0] - (double)values[1]));
  }
  g_assert_cmpfloat(most, >, 0.1);
  return worst / most;
}

static void assert_near(const char *a, const char *b)
{
  g_autofree char *x = in_folder(a), *y = in_folder(b), *p = NULL, *q = NULL;
  gsize m, n;
  g_assert_true(g_file_get_contents(x, &p, &m, NULL) && g_file_get_contents(y, &q, &n, NULL));
  const double worst =
      g_str_has_suffix(a, ".csv") ? text_difference(p, q) : image_difference(p, q, MIN(m, n));
  g_test_message("%s, %s: %g", a, b, worst);
  g_assert_cmpfloat(worst, <, 2e-6);
}

static void write_visibilities(void)
{
  g_auto(Result) source = run("run synthesis stations=8 duration=200 channels=8 iterations=0 "
                              "size=64 --quiet output=v.uvfits image=i.fits picture=p.png");
  g_assert_cmpint(source.status, ==, 0);
}

static void test_spread(gconstpointer which)
{
  const guint c = GPOINTER_TO_UINT(which);
  if (!has_ranks())
    return;
  write_catalogue("d.csv", 1);
  write_catalogue("r1.csv", 2);
  write_catalogue("r2.csv", 3);
  write_catalogue("r3.csv", 4);
  g_autofree char *one = g_strdup_printf("1.%s", spread[c].output);
  if (strstr(spread[c].graph, "v.uvfits"))
    write_visibilities();
  g_auto(Result) alone = run("run %s --quiet output=%s", spread[c].graph, one);
  g_assert_cmpint(alone.status, ==, 0);
  for (guint i = 0; i < G_N_ELEMENTS(spread[c].ranks) && spread[c].ranks[i]; i++) {
    const guint n = spread[c].ranks[i];
    g_autofree char *many = g_strdup_printf("%u.%s", n, spread[c].output);
    g_autofree char *arguments = g_strdup_printf("%s --quiet output=%s", spread[c].graph, many);
    g_autofree char *command = command_of("", arguments);
    test_ranks(n, command);
    if (spread[c].is_exact)
      assert_same(one, many);
    else
      assert_near(one, many);
  }
}

/* Each rank transforms planes of its own, and all together those of one process. */
static void test_planes(void)
{
  int status;
  if (!has_ranks())
    return;
#define PLANES                                                                                     \
  "synthesis stations=8 duration=200 channels=4 iterations=0 size=64 --stats output=p.uvfits "     \
  "image=p.fits picture=p.png"
  guint64 all = 0, sum = 0;
  g_auto(Result) alone = run("run " PLANES);
  const char *row = strstr(alone.out, "\nastrofft0");
  g_assert_true(row && sscanf(row, " astrofft0 astrofft %" G_GUINT64_FORMAT, &all) == 1);
  g_autofree char *command = command_of("", PLANES);
  g_autofree char *said = test_run_ranks(3, command, &status);
  g_assert_cmpint(status, ==, 0);
  for (row = said; (row = strstr(row, "\nastrofft0")); row++) {
    guint64 n = 0;
    g_assert_cmpint(sscanf(row, " astrofft0 astrofft %" G_GUINT64_FORMAT, &n), ==, 1);
    g_assert_cmpuint(n, >=, all / 3);
    g_assert_cmpuint(n, <=, all / 3 + 1);
    sum += n;
  }
  g_assert_cmpuint(all, >=, 3);
  g_assert_cmpuint(sum, ==, all);
}

static void add_tests(void)
{
  test_allow_ranks();
  for (guint i = 0; i < G_N_ELEMENTS(spread); i++) {
    g_autofree char *path = g_strconcat("/graphs-ranks/spread/", spread[i].name, NULL);
    g_test_add_data_func(path, GUINT_TO_POINTER(i), test_spread);
  }
  g_test_add_func("/graphs-ranks/planes", test_planes);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
