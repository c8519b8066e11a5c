/* Graphs of catalogues: correlation functions, their columns, rows and regions. */
#include "core/histogram/histogram.h"
#include "tests/graphs/program.h"

#include <math.h>

/* Writes points on a grid of 4 degrees, each row shifted against the one before. */
static void write_points(const char *name, const char *heading, double shift)
{
  g_autoptr(GString) text = g_string_new(heading);
  for (guint i = 0; i < 400; i++)
    g_string_append_printf(text, "%g,%g,%u\n", i % 20 * 4 + shift * (i / 20), i / 20 * 4 - 40.0, i);
  write_file(name, text->str, (gssize)text->len);
}

/* Makes a table and a picture, and finds about the slope that was put in. */
static void test_tpacf(void)
{
  g_auto(Result) result = run("run tpacf points=20000 randoms=2 footprint=band:0,60,0,40 regions=8 "
                              "output=mock.csv plot=mock.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  assert_png("mock.png");
  g_auto(Result) refused = run("run tpacf output=mock.csv plot=absent/mock.png");
  assert_refused(&refused, 1, "would write to absent/mock.png, but folder absent does not exist");
  g_assert_true(g_regex_match_simple("astrocatsrc[0-9]+: mock: slope -0.8, ", result.err, 0, 0));
  g_assert_true(
      g_regex_match_simple("astrotpacf[0-9]+: tpacf: [^\n]*slope -0\\.[6-9]", result.err, 0, 0));
  /* Catalogues have no duration to compare the run with. */
  g_assert_nonnull(strstr(result.err, "tpacf: 100.0 %, 3 buffers, "));
  g_assert_null(strstr(result.err, "real time"));
}

/* So few points give no power law, and the program says so in words. */
static void test_tpacf_of_few(void)
{
  g_auto(Result) result = run("run tpacf points=300 randoms=2 slope=-1.9 regions=8 "
                              "footprint=band:0,60,0,40 output=few.csv plot=few.png");
  if (skips(&result))
    return;
  g_assert_cmpint(result.status, ==, 0);
  g_assert_nonnull(strstr(result.err, "tpacf: no power law fits: "));
  g_assert_null(strstr(result.err, "amplitude"));
  assert_png("few.png");
}

/* A user's own files: text for the data, several files for the random points; output as CSV and
 * FITS. */
static void test_tpacf_files(void)
{
  g_autofree char *table = NULL, *path = in_folder("w.csv");
  write_points("stars.csv", "RA,DEC,MAG\n", 0);
  write_points("random-1.csv", "RA,DEC,MAG\n", 0.25);
  write_points("random-2.csv", "RA,DEC,MAG\n", 0.75);
  for (guint i = 0; i < 2; i++) {
    g_auto(Result) result = run("run tpacf-files data=stars.csv random='random-?.csv' regions=4 "
                                "from=100 to=10000 bins=2 output=w.%s plot=w.png",
                                i ? "fits" : "csv");
    if (skips(&result))
      return;
    g_assert_cmpint(result.status, ==, 0);
    assert_png("w.png");
  }
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_assert_true(g_str_has_prefix(table, "theta,low,high,w,error,dd,dr,rr,cov0,"));
  g_assert_cmpint(file_size("w.fits"), ==, 4 * 2880); /* the table has two blocks of header */
  g_auto(Result) refused = run("run tpacf-files data=stars.csv random='none-*' output=none.csv "
                               "plot=none.png");
  g_assert_cmpint(refused.status, !=, 0);
  g_assert_nonnull(strstr(refused.err, "No file matches none-*"));
  g_autofree char *plot = in_folder("none.png");
  g_assert_false(g_file_test(plot, G_FILE_TEST_EXISTS));
}

/* Shapes that point to the south and north of one another, all alike: xi+ and xi- are g1 squared
 * along the equator. */
static void test_shear(void)
{
  g_autofree char *path = in_folder("shear.csv"), *table = NULL;
  g_autoptr(GString) shapes = g_string_new("RA,DEC,G1,G2\n");
  for (guint i = 0; i < 200; i++)
    g_string_append_printf(shapes, "%.3f,0,-0.25,0\n", 10 + 0.01 * i);
  write_file("shapes.csv", shapes->str, (gssize)shapes->len);
  g_auto(Result) result = run("run shear data=shapes.csv regions=4 from=1 to=100 bins=2 "
                              "output=shear.csv plot=shear.png");
  if (skips(&result))
    return;
  g_assert_cmpstr(result.status ? result.err : "", ==, "");
  assert_png("shear.png");
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  g_assert_true(
      g_str_has_prefix(lines[0], "r_nom,low,high,meanr,xip,xim,xip_im,xim_im,sigma_xip,"));
  for (guint i = 1; i <= 4; i++) {
    g_auto(GStrv) cells = g_strsplit(lines[i], ",", -1);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(cells[4], NULL), 0.0625, 1e-9);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(cells[5], NULL), 0.0625, 1e-9);
  }
}

/* Random points in columns of other names, and without weights where the data have some. */
static void test_tpacf_random_columns(void)
{
  static const char *const columns[] = { "random='same-?.csv' random-weight=''",
                                         "random='other-?.csv' random-ra=A random-dec='D 0' "
                                         "random-weight=" };
  char *tables[G_N_ELEMENTS(columns)] = { NULL };
  g_autofree char *path = in_folder("columns.csv");
  write_points("stars.csv", "RA,DEC,MAG\n", 0);
  write_points("same-1.csv", "RA,DEC,MAG\n", 0.25);
  write_points("other-1.csv", "A,D 0,none\n", 0.25);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++) {
    g_auto(Result) result = run("run tpacf-files data=stars.csv weight=MAG %s regions=4 from=100 "
                                "bins=2 output=columns.csv plot=w.png",
                                columns[i]);
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
    g_assert_true(g_file_get_contents(path, &tables[i], NULL, NULL));
  }
  g_assert_cmpstr(tables[1], ==, tables[0]);
  for (guint i = 0; i < G_N_ELEMENTS(columns); i++)
    g_free(tables[i]);
  g_auto(Result) shown = run("show tpacf-files");
  g_assert_nonnull(strstr(shown.out, "  random-ra=RA "));
}

/* Uses only some rows of a text file, and regions from a column. */
static void test_tpacf_rows_and_regions(void)
{
  g_autofree char *path = in_folder("rows.csv");
  char *tables[3] = { NULL };
  static const char *const runs[] = {
    "data=mixed.csv where='Z<0.5&&kind!=2' region=Q",
    "data=chosen.csv region=Q",
    "data=chosen.csv",
  };
  g_autoptr(GString) mixed = g_string_new("RA,DEC,Z,KIND,Q\n");
  g_autoptr(GString) chosen = g_string_new("RA,DEC,Q\n");
  g_autoptr(GString) random = g_string_new("RA,DEC,Q\n");
  for (guint i = 0; i < 600; i++) {
    const double ra = fmod(i * 7.31, 60), dec = fmod(i * 3.77, 40) - 20;
    const guint kind = i % 3, region = (guint)(ra / 20);
    const double z = i % 7 / 7.;
    g_string_append_printf(mixed, "%g,%g,%g,%u,%u\n", ra, dec, z, kind, region);
    if (z < 0.5 && kind != 2)
      g_string_append_printf(chosen, "%g,%g,%u\n", ra, dec, region);
    g_string_append_printf(random, "%g,%g,%u\n", fmod(i * 11.13, 60), fmod(i * 5.03, 40) - 20,
                           (guint)(fmod(i * 11.13, 60) / 20));
  }
  write_file("mixed.csv", mixed->str, (gssize)mixed->len);
  write_file("chosen.csv", chosen->str, (gssize)chosen->len);
  write_file("lots.csv", random->str, (gssize)random->len);
  for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
    g_auto(Result) result = run("run tpacf-files %s random=lots.csv regions=3 from=60 to=1000 "
                                "bins=3 output=rows.csv plot=w.png",
                                runs[i]);
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
    g_assert_true(g_file_get_contents(path, &tables[i], NULL, NULL));
  }
  g_assert_cmpstr(tables[0], ==, tables[1]);
  g_assert_cmpstr(tables[1], !=, tables[2]); /* other regions give other errors */
  for (guint i = 0; i < G_N_ELEMENTS(runs); i++)
    g_free(tables[i]);
  g_auto(Result) few = run("run tpacf-files data=chosen.csv random=lots.csv region=Q regions=2 "
                           "output=rows.csv plot=w.png");
  assert_refused(&few, 1, "region is 2, expected a whole number from 0 to 1, of 2 regions");
  g_auto(Result) none = run("run tpacf-files data=mixed.csv random=lots.csv where='Z>1' "
                            "output=rows.csv plot=w.png");
  assert_refused(&none, 1, "where \"Z>1\": mixed.csv: none of the 600 points of catalogue 1");
}

/* If data are selected by their places, random points have to be selected in the same way. */
static void test_tpacf_random_rows(void)
{
  char *tables[3] = { NULL };
  static const char *const runs[] = {
    "data=wide.csv random=wide-random.csv where='DEC>0' random-where='DEC>0'",
    "data=north.csv random=north-random.csv",
    "data=wide.csv random=wide-random.csv where='DEC>0'",
  };
  g_autofree char *path = in_folder("north.out.csv");
  for (guint k = 0; k < 2; k++) {
    g_autoptr(GString) wide = g_string_new("RA,DEC\n");
    g_autoptr(GString) north = g_string_new("RA,DEC\n");
    for (guint i = 0; i < 400; i++) {
      const double ra = fmod(i * (k ? 7.31 : 11.13), 60), dec = fmod(i * 3.77, 40) - 20;
      g_string_append_printf(wide, "%g,%g\n", ra, dec);
      if (dec > 0)
        g_string_append_printf(north, "%g,%g\n", ra, dec);
    }
    write_file(k ? "wide-random.csv" : "wide.csv", wide->str, (gssize)wide->len);
    write_file(k ? "north-random.csv" : "north.csv", north->str, (gssize)north->len);
  }
  for (guint i = 0; i < G_N_ELEMENTS(runs); i++) {
    g_auto(Result) result = run("run tpacf-files %s regions=0 from=60 to=1000 bins=3 "
                                "output=north.out.csv plot=w.png",
                                runs[i]);
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
    g_assert_true(g_file_get_contents(path, &tables[i], NULL, NULL));
  }
  g_assert_cmpstr(tables[0], ==, tables[1]);
  g_assert_cmpstr(tables[0], !=, tables[2]);
  for (guint i = 0; i < G_N_ELEMENTS(runs); i++)
    g_free(tables[i]);
}

/* The same places in degrees and in hours, minutes and seconds give the same function. */
static void test_tpacf_sixtieths(void)
{
  char *tables[2] = { NULL };
  g_autofree char *path = in_folder("sixtieths.out.csv");
  g_autoptr(GString) degrees = g_string_new("RA,DEC\n");
  g_autoptr(GString) sixtieths = g_string_new("RA,DEC\n");
  for (guint i = 0; i < 300; i++) {
    const guint minutes = i * 7 % 240, arcmin = i * 37 % 1200;
    g_string_append_printf(degrees, "%.17g,%.17g\n", minutes / 4., arcmin / 60. - 30);
    g_string_append_printf(sixtieths, "%02u:%02u:00.0,-%02u:%02u:00\n", minutes / 60, minutes % 60,
                           (1800 - arcmin) / 60, (1800 - arcmin) % 60);
  }
  write_file("degrees.csv", degrees->str, (gssize)degrees->len);
  write_file("sixtieths.csv", sixtieths->str, (gssize)sixtieths->len);
  write_points("grid.csv", "RA,DEC,N\n", 0.25);
  for (guint i = 0; i < 2; i++) {
    g_auto(Result) result = run("run tpacf-files data=%s.csv random=grid.csv regions=0 from=60 "
                                "to=1000 bins=3 output=sixtieths.out.csv plot=w.png",
                                i ? "sixtieths" : "degrees");
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
    g_assert_true(g_file_get_contents(path, &tables[i], NULL, NULL));
  }
  g_assert_cmpstr(tables[0], ==, tables[1]);
  for (guint i = 0; i < 2; i++)
    g_free(tables[i]);
}

/* The error says which of the files cannot be read. */
static void test_roles(void)
{
  static const char *const cases[][2] = {
    { "tpacf-files data=none.csv random=fine.csv", "data: cannot open none.csv" },
    { "tpacf-files data=fine.csv random=none.csv", "random: cannot open none.csv" },
    { "tpacf-cross data=fine.csv random=fine.csv data2=none.csv random2=fine.csv",
      "data2: cannot open none.csv" },
    { "tpacf-cross data=fine.csv random=fine.csv data2=fine.csv random2=none.csv",
      "random2: cannot open none.csv" },
  };
  write_points("fine.csv", "RA,DEC,N\n", 0.25);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_auto(Result) result = run("run %s", cases[i][0]);
    if (skips(&result))
      return;
    assert_refused(&result, 1, cases[i][1]);
  }
}

enum { CROSS_POINTS = 150, CROSS_BINS = 4 };

typedef struct {
  double xyz[CROSS_POINTS][3];
} Points;

static void make_points(const char *name, Points *points, double ra_step, double dec_step)
{
  g_autoptr(GString) text = g_string_new("RA,DEC\n");
  for (guint i = 0; i < CROSS_POINTS; i++) {
    const double ra = fmod(i * ra_step, 30), dec = fmod(i * dec_step, 30) - 15;
    double *p = points->xyz[i];
    g_string_append_printf(text, "%.17g,%.17g\n", ra, dec);
    astro_unit_vector(ra, dec, &p[0], &p[1], &p[2]);
  }
  write_file(name, text->str, (gssize)text->len);
}

static void count_pairs(const Points *a, const Points *b, double shares[CROSS_BINS])
{
  for (guint k = 0; k < CROSS_BINS; k++)
    shares[k] = 0;
  for (guint i = 0; i < CROSS_POINTS; i++)
    for (guint j = 0; j < CROSS_POINTS; j++) {
      const double dx = a->xyz[i][0] - b->xyz[j][0], dy = a->xyz[i][1] - b->xyz[j][1],
                   dz = a->xyz[i][2] - b->xyz[j][2], square = (dx * dx + dy * dy) + dz * dz;
      for (guint k = 0; k < CROSS_BINS; k++)
        if (square >= astro_chord_square(pow(10, 2 + k / 4.)) &&
            square < astro_chord_square(pow(10, 2 + (k + 1) / 4.)))
          shares[k] += 1. / CROSS_POINTS / CROSS_POINTS;
    }
}

/* A cross-correlation agrees with a plain loop over all pairs. */
static void test_tpacf_cross(void)
{
  Points one, two, random1, random2;
  double d1d2[CROSS_BINS], d1r2[CROSS_BINS], r1d2[CROSS_BINS], r1r2[CROSS_BINS];
  make_points("one.csv", &one, 7.31, 3.77);
  make_points("two.csv", &two, 5.17, 2.93);
  make_points("random1.csv", &random1, 11.13, 8.71);
  make_points("random2.csv", &random2, 13.37, 6.29);
  count_pairs(&one, &two, d1d2);
  count_pairs(&one, &random2, d1r2);
  count_pairs(&random1, &two, r1d2);
  count_pairs(&random1, &random2, r1r2);
  g_auto(Result) result = run("run tpacf-cross data=one.csv data2=two.csv random=random1.csv "
                              "random2=random2.csv regions=4 from=100 to=1000 bins=4 "
                              "output=cross.csv plot=cross.png");
  if (skips(&result))
    return;
  g_assert_cmpstr(result.status ? result.err : "", ==, "");
  g_assert_null(strstr(result.err, "the same catalogue"));
  assert_png("cross.png");
  g_autofree char *path = in_folder("cross.csv"), *table = NULL;
  g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
  g_assert_true(g_str_has_prefix(table, "theta,low,high,w,error,dd,dr,rd,rr,cov0,"));
  g_auto(GStrv) lines = g_strsplit(table, "\n", -1);
  for (guint k = 0; k < CROSS_BINS; k++) {
    g_auto(GStrv) values = g_strsplit(lines[1 + k], ",", -1);
    g_assert_cmpfloat_with_epsilon(g_ascii_strtod(values[3], NULL),
                                   (d1d2[k] - d1r2[k] - r1d2[k] + r1r2[k]) / r1r2[k], 1e-12);
    g_assert_cmpfloat(g_ascii_strtod(values[4], NULL), >, 0);
  }
}

/* Galaxies with redshifts: the graph's tables have the columns of their statistic. */
static void test_tpacf_survey(void)
{
  static const char *const cases[][2] = {
    { "statistic=multipoles regions=4", "s,s_low,s_high,ell,xi,error,cov0," },
    { "kind=rppi statistic=wp pi-bins=4 regions=4", "rp,rp_low,rp_high,wp,error,cov0," },
    { "mu-bins=3 regions=0 backend=reference",
      "s,s_low,s_high,mu,mu_low,mu_high,xi,error,dd,dr,rr\n" },
  };
  static const char *const names[] = { "galaxies.csv", "volume.csv" };
  for (guint f = 0; f < G_N_ELEMENTS(names); f++) {
    g_autoptr(GString) text = g_string_new("RA,DEC,Z\n");
    for (guint i = 0; i < 400; i++)
      g_string_append_printf(text, "%g,%g,%g\n", fmod((7.31 + f) * i, 10), fmod((3.77 + f) * i, 10),
                             0.3 + fmod((0.0137 + 0.01 * f) * i, 0.05));
    write_file(names[f], text->str, -1);
  }
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++) {
    g_auto(Result) result = run("run tpacf-survey data=galaxies.csv random=volume.csv "
                                "bins=3 to=120 output=survey.csv plot=survey.png %s",
                                cases[c][0]);
    if (skips(&result))
      return;
    g_assert_cmpstr(result.status ? result.err : "", ==, "");
    g_autofree char *path = in_folder("survey.csv"), *table = NULL;
    g_assert_true(g_file_get_contents(path, &table, NULL, NULL));
    if (!g_str_has_prefix(table, cases[c][1]))
      g_error("%s: %.200s", cases[c][0], table);
    g_autofree char *plot = in_folder("survey.png"), *picture = NULL;
    g_assert_true(g_file_get_contents(plot, &picture, NULL, NULL));
    g_assert_true(g_str_has_prefix(picture, "\x89PNG"));
    g_unlink(plot);
  }
}

static void test_tpacf_cross_of_one(void)
{
  write_points("fine.csv", "RA,DEC,N\n", 0.25);
  g_auto(Result) result = run("run tpacf-cross data=fine.csv data2=fine.csv random=fine.csv "
                              "random2=fine.csv regions=0 output=cross.csv plot=cross.png");
  if (skips(&result))
    return;
  g_assert_nonnull(strstr(result.err, "warning: pairs: pads data and data2 have the same catalogue "
                                      "of 400 points: "));
  g_assert_nonnull(strstr(result.err, "warning: pairs: pads random and random2 have the same "));
}

static void add_tests(void)
{
  g_test_add_func("/gst-astro/tpacf", test_tpacf);
  g_test_add_func("/gst-astro/tpacf-of-few", test_tpacf_of_few);
  g_test_add_func("/gst-astro/tpacf-files", test_tpacf_files);
  g_test_add_func("/gst-astro/shear", test_shear);
  g_test_add_func("/gst-astro/tpacf-random-columns", test_tpacf_random_columns);
  g_test_add_func("/gst-astro/tpacf-rows-and-regions", test_tpacf_rows_and_regions);
  g_test_add_func("/gst-astro/tpacf-random-rows", test_tpacf_random_rows);
  g_test_add_func("/gst-astro/tpacf-sixtieths", test_tpacf_sixtieths);
  g_test_add_func("/gst-astro/tpacf-roles", test_roles);
  g_test_add_func("/gst-astro/tpacf-cross", test_tpacf_cross);
  g_test_add_func("/gst-astro/tpacf-survey", test_tpacf_survey);
  g_test_add_func("/gst-astro/tpacf-cross-of-one", test_tpacf_cross_of_one);
}

int main(int argc, char **argv)
{
  return test_program(argc, argv, add_tests);
}
