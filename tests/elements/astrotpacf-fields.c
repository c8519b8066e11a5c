/* Correlation functions of fields, from files of points to tables, and what is refused on the
 * way. */
#include "core/lib/catalogue/catalogue.h"
#include "tests/elements/catalogues.h"

#include <glib/gstdio.h>
#include <math.h>

#define COLUMNS " ra-column=ra dec-column=dec weight-column=w k-column=k g1-column=g1 g2-column=g2 "

typedef struct {
  char *folder, *points, *fits;
} Place;

static void place_make(Place *place, const char *text)
{
  place->folder = g_dir_make_tmp("astro-XXXXXX", NULL);
  place->points = g_build_filename(place->folder, "points.csv", NULL);
  place->fits = g_build_filename(place->folder, "points.fits", NULL);
  g_assert_true(g_file_set_contents(place->points, text, -1, NULL));
}

static void place_clear(Place *place)
{
  g_unlink(place->points);
  g_unlink(place->fits);
  g_rmdir(place->folder);
  g_free(place->points);
  g_free(place->fits);
  g_free(place->folder);
}

static double *table_of(const char *line, gsize *bytes)
{
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_cmpstr(message, ==, NULL);
  g_assert_cmpuint(samples->len, ==, 1);
  return test_sample_data(samples, 0, bytes);
}

/* Two points on the equator, from west to east: gamma_t is -g1 and gamma_x is -g2 of both. */
#define TWO "ra,dec,w,k,g1,g2\n10,0,1,2,0.25,0.5\n11,0,2,3,0.125,-0.25\n"

static void test_values(void)
{
  static const struct {
    const char *fields;
    gboolean around;
    guint n;
    double values[4]; /* behind meanr */
  } cases[] = { { "kk", FALSE, 1, { 6 } },
                { "gg", FALSE, 4, { 0.03125 - 0.125, 0.03125 + 0.125, 0, -0.0625 + 0.0625 } },
                { "nk", TRUE, 1, { (2 * 2 + 3 * 2) / 4.0 } },
                { "ng", TRUE, 2, { -(0.25 * 2 + 0.125 * 2) / 4, -(0.5 * 2 - 0.25 * 2) / 4 } } };
  static const char *const sources[] = { "astrocatsrc", "astrofitssrc" };
  Place place;
  place_make(&place, TWO);
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++)
    for (guint s = 0; s < G_N_ELEMENTS(sources); s++) {
      gsize bytes;
      g_autofree char *second =
          g_strdup_printf("%s location=%s" COLUMNS "! h.data2", sources[s], place.points);
      g_autofree char *line = g_strdup_printf(
          "astrohistogram name=h fields=%s edges=40,90 ! astrotpacf ! appsink name=out "
          "%s location=%s" COLUMNS "! h.data %s",
          cases[i].fields, sources[s], place.points, cases[i].around ? second : "");
      g_autofree double *table = table_of(line, &bytes);
      const double pairs = cases[i].around ? 2 : 1, weight = cases[i].around ? 4 : 2;
      const guint n = (guint)(bytes / sizeof *table);
      g_assert_cmpfloat_with_epsilon(table[0], 60, 1e-9);
      g_assert_cmpfloat_with_epsilon(table[3], 60, 1e-9);
      for (guint v = 0; v < cases[i].n; v++)
        g_assert_cmpfloat_with_epsilon(table[4 + v], cases[i].values[v], 1e-12);
      g_assert_cmpfloat(table[n - 2], ==, weight);
      g_assert_cmpfloat(table[n - 1], ==, pairs);
    }
  place_clear(&place);
}

/* Means around random points are subtracted: around the same points nothing is left. */
static void test_random(void)
{
  Place place;
  gsize bytes;
  place_make(&place, TWO);
  g_autofree char *line = g_strdup_printf(
      "astrohistogram name=h fields=ng edges=40,90 ! astrotpacf ! appsink name=out "
      "astrocatsrc location=%s" COLUMNS "! h.data astrocatsrc location=%s" COLUMNS "! h.data2 "
      "astrocatsrc location=%s" COLUMNS "! h.random",
      place.points, place.points, place.points);
  g_autofree double *table = table_of(line, &bytes);
  g_assert_cmpuint(bytes, ==, 9 * sizeof *table);
  g_assert_cmpfloat(table[4], ==, 0);
  g_assert_cmpfloat(table[5], ==, 0);
  g_assert_cmpfloat(table[7], ==, 4);
  place_clear(&place);
}

/* A catalogue that does not fit is counted in slices, with what its points carry. */
static void test_slices(void)
{
  enum { POINTS = 60000 };
  Place place;
  AstroRandom random;
  double *tables[2];
  gsize bytes, sliced_bytes;
  g_autoptr(GString) text = g_string_new("ra,dec,w,k,g1,g2\n");
  astro_random_init(&random, 1, 0);
  for (guint i = 0; i < POINTS; i++) {
    double u[6];
    for (guint k = 0; k < G_N_ELEMENTS(u); k++)
      u[k] = astro_random_uniform(&random);
    g_string_append_printf(text, "%.9f,%.9f,%.6f,%.6f,%.6f,%.6f\n", 20 * u[0], 20 * u[1],
                           0.5 + u[2], u[3], u[4] - 0.5, u[5] - 0.5);
  }
  place_make(&place, text->str);
  for (guint i = 0; i < 2; i++) {
    g_autofree char *line = g_strdup_printf(
        "astrohistogram name=h fields=gg edges=1,5,20 max-memory=%s ! astrotpacf ! appsink "
        "name=out astrocatsrc location=%s" COLUMNS "! h.data",
        i ? "7M" : "0.5", place.points);
    tables[i] = table_of(line, i ? &sliced_bytes : &bytes);
  }
  g_assert_cmpuint(bytes, ==, sliced_bytes);
  for (gsize k = 0; k < bytes / sizeof **tables; k++)
    g_assert_cmpfloat_with_epsilon(tables[1][k], tables[0][k], 1e-12 * (1 + fabs(tables[0][k])));
  g_free(tables[0]);
  g_free(tables[1]);
  place_clear(&place);
}

/* The same table from FITS and CSV, and as text. */
static void test_through_fits(void)
{
  Place place;
  gsize bytes, fits_bytes, text_bytes;
  place_make(&place, TWO);
  g_autofree char *write = g_strdup_printf("astrocatsrc location=%s" COLUMNS
                                           "! astrofitssink location=%s",
                                           place.points, place.fits),
                  *said = test_launch(write);
  g_assert_cmpstr(said, ==, NULL);
#define GG "astrohistogram name=h fields=gg edges=40,90 ! astrotpacf ! "
  g_autofree char *csv = g_strdup_printf(GG "appsink name=out astrocatsrc location=%s" COLUMNS
                                            "! h.data",
                                         place.points),
                  *fits = g_strdup_printf(
                      GG "appsink name=out astrofitssrc location=%s weight-column=weight "
                         "g1-column=g1 g2-column=g2 k-column=k ! h.data",
                      place.fits),
                  *as_text = g_strdup_printf(
                      GG "text/csv ! appsink name=out astrocatsrc location=%s" COLUMNS "! h.data",
                      place.points);
  g_autofree double *a = table_of(csv, &bytes), *b = table_of(fits, &fits_bytes);
  g_autofree char *text = (char *)table_of(as_text, &text_bytes);
  g_assert_cmpmem(a, bytes, b, fits_bytes);
  g_autofree char *lines = g_strndup(text, text_bytes);
  g_assert_true(g_str_has_prefix(lines, "r_nom,low,high,meanr,xip,xim,xip_im,xim_im,sigma_xip,"
                                        "sigma_xim,weight,npairs\n60,40,90,"));
  place_clear(&place);
}

static void refuse(const char *text, const char *settings, const char *columns, const char *says)
{
  Place place;
  place_make(&place, text);
  g_autofree char *line =
      g_strdup_printf("astrocatsrc location=%s weight-column=w %s ! h.data astrohistogram name=h "
                      "edges=40,90 %s",
                      place.points, columns, settings);
  test_refused(line, says);
  place_clear(&place);
}

static void test_refusals(void)
{
  static const char shear[] = "g1-column=g1 g2-column=g2";
  refuse(TWO, "fields=kk ! fakesink", "", "has no column k");
  refuse(TWO, "fields=gg ! fakesink", "g1-column=g1", "has no columns g1 and g2");
  refuse(TWO, "fields=gg kind=smu ! fakesink", shear, "expected kind=angular, not smu");
  refuse(TWO, "fields=ng ! fakesink", shear, "pads data and data2 are not both there");
  refuse(TWO, "fields=gg ! fakesink astrocatsrc points=9 ! h.random", shear,
         "takes no random points");
  refuse(TWO, "fields=gg ! astrotpacf estimator=natural ! fakesink", shear, "and no estimator");
  refuse(TWO, "fields=gg ! astrotpacf integral-constraint=true ! fakesink", shear,
         "integral-constraint=false");
  refuse("ra,dec,w,k\n1,2,1,1e80\n1,2,1,1\n", "fields=kk ! fakesink", "k-column=k",
         "values whose sizes, times weights, sum up to 1e+80");
  refuse("ra,dec,w,k\n1,2,1,1\n1,2,1,nan\n", "fields=kk ! fakesink", "k-column=k", "nan");
}

/* Caps that name only some of the planes, which would be read past their end. */
static void test_foreign_caps(void)
{
  static const char *const kinds[] = { "dd:dd_xi", "dd:dd_r:dd_xi:dd_var:dr",
                                       "dd:dd_xi:dd_r:dd_var",
                                       "dd:dd_r:dd_xi:dd_var:rd:rd_r:rd_xi" };
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
    g_autofree char *line = g_strdup_printf(
        "fakesrc num-buffers=1 ! capsfilter caps=application/x-astro-histogram,format=F64LE,"
        "layout=(string)pairs:bin,pairs=(string)%s,bins=3 ! astrotpacf ! fakesink",
        kinds[i]);
    test_refused(line, "expected its planes alone");
  }
}

static void add_tests(void)
{
  g_test_add_func("/astrotpacf-fields/values", test_values);
  g_test_add_func("/astrotpacf-fields/random", test_random);
  g_test_add_func("/astrotpacf-fields/slices", test_slices);
  g_test_add_func("/astrotpacf-fields/through-fits", test_through_fits);
  g_test_add_func("/astrotpacf-fields/refusals", test_refusals);
  g_test_add_func("/astrotpacf-fields/foreign-caps", test_foreign_caps);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
