/* Catalogues as text: the forms that programs write them in, and errors in them. */
#include "core/lib/catalogue/catalogue.h"
#include "core/kit/values.h"
#include "core/fits/fits.h"
#include "tests/tests.h"

#include <float.h>
#include <glib/gstdio.h>
#include <math.h>

static void parse(const char *text, const char *ra, const char *dec, const char *weight,
                  const char *region, AstroCatalogue *catalogue, GError **error)
{
  AstroCatalogueColumns columns = { ra, dec, weight, region };
  /* a copy that ends where the text does, for tools that watch over memory */
  gsize length = strlen(text);
  g_autofree char *copy = g_memdup2(text, MAX(length, 1));
  astro_catalogue_parse_text(copy, length, "test", &columns, catalogue, NULL, error);
}

static void test_text(void)
{
  static const struct {
    const char *text, *ra, *dec;
  } same[] = {
    { "1 2\n3 4\n", "1", "2" },
    { "1,2\n3,4", "1", "2" },
    { "# a comment\n\n 1\t2 # another\r\n3 ; 4\r\n", "1", "2" },
    { "DEC RA\n2 1\n4 3\n", "ra", "dec" },
    { "id,ra_deg,x,dec_deg\nM31,1,7,2\nM32,3,7,4\n", "RA_DEG", "dec_deg" },
    { "9 9 1.0 +2e0\n9 9 3 4", "3", "4" },
    /* as spreadsheets and other programs write them */
    { "\xef\xbb\xbf\"ra\",\"dec\"\r\n1,2\r\n\"3\", 4\r\n", "ra", "dec" },
    { "\xef\xbb\xbf"
      "1,2\n3,4\n",
      "1", "2" },
    { "1,2\r3,4\r", "1", "2" },
    { "name,ra,dec\nM 31,1,2\n\"a \"\"b\"\", #3\",3,4\n", "ra", "dec" },
    { "name\tmag\tra\tdec\nM 31\t\t1\t2\nSmith, J.\t5\t3\t4\n", "ra", "dec" },
    { "M31,1,2\nM32,3,4\n", "2", "3" },
    { "name,ra,dec,flux 1.4 GHz\nM31,1,2,3\nM32,3,4,5\n", "ra", "dec" },
    { "ra;dec;name\n1;2;a, b\n3;4;5,6\n", "ra", "dec" },
    { "ra dec name\n1 2 Smith, J.\n3 4 \"x y\"\n", "ra", "dec" },
    /* headings that are comments, and comments that are not */
    { "# made today\n## id dec ra\n7 2 1\n8 4 3\n", "ra", "dec" },
    { "# id dec ra\n# - deg deg\n7 2 1\n8 4 3\n", "ra", "dec" },
    { "# my points\n1 2\n3 4\n", "ra", "dec" },
    /* units and rules below the names, as VizieR and Astropy have them */
    { "# VizieR\n\nid\tRAJ2000\tDEJ2000\tGmag\n\tdeg\tdeg\tmag\n---\t---------\t---\t----\n"
      "7\t1\t+2\t12.1\n8\t3\t4\t\n",
      "RAJ2000", "DEJ2000" },
    { "ra  dec\n--- ---\n1   2\n3   4\n", "ra", "dec" },
    { "ra;dec\ndegrees;deg\n1;2\n3;4\n", "ra", "dec" },
    { "# ra dec of my points\n1 2\n3 4\n", "ra", "dec" },
    /* hours and degrees, minutes and seconds */
    { "RA,DEC\n00:04:00,+02:00:00\n00:12:00.0,04:00:00\n", "ra", "dec" },
    { "00:04:00,+02:00:00\n00:12:00.0,04:00:00\n", "1", "2" },
    { "M31 00:04:00 +02:00:00\nM32 00:12:00.0 04:00:00\n", "2", "3" },
    { "# dec ra\n+02:00:00 00:04:00\n+04:00:00 00:12:00\n", "ra", "dec" },
    { "RAJ2000\tDEJ2000\n\"h:m:s\"\t\"d:m:s\"\n------\t-----\n00 04 00.0\t+02 00 00\n"
      "00 12 00.0\t+04 00 00\n",
      "RAJ2000", "DEJ2000" },
    { "# 2 1\n1 2\n3 4\n", "1", "2" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(same); i++) {
    AstroCatalogue catalogue;
    GError *error = NULL;
    parse(same[i].text, same[i].ra, same[i].dec, NULL, NULL, &catalogue, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(catalogue.n, ==, 2);
    g_assert_cmpfloat(catalogue.ra[0], ==, 1);
    g_assert_cmpfloat(catalogue.dec[0], ==, 2);
    g_assert_cmpfloat(catalogue.ra[1], ==, 3);
    g_assert_cmpfloat(catalogue.dec[1], ==, 4);
    g_assert_null(catalogue.weight);
    astro_catalogue_clear(&catalogue);
  }
  AstroCatalogue catalogue;
  GError *error = NULL;
  parse("ra dec w r\n1 2 0.5 3\n", "ra", "dec", "w", "r", &catalogue, &error);
  g_assert_no_error(error);
  g_assert_cmpfloat(catalogue.weight[0], ==, 0.5);
  g_assert_cmpfloat(catalogue.region[0], ==, 3);
  astro_catalogue_clear(&catalogue);
  parse("1 2 0.5\n", "RA", "dec", "3", NULL, &catalogue, &error); /* no heading: the usual places */
  g_assert_no_error(error);
  g_assert_cmpfloat(catalogue.ra[0], ==, 1);
  g_assert_cmpfloat(catalogue.dec[0], ==, 2);
  g_assert_cmpfloat(catalogue.weight[0], ==, 0.5);
  test_says(catalogue.note, "test: no line names its 3 columns: right ascension is taken from "
                            "column 1 and declination from column 2");
  astro_catalogue_clear(&catalogue);
  static const char *const certain[] = { "1 2 0.5\n", "1 2\n", "ra dec w\n1 2 0.5\n" };
  for (guint i = 0; i < G_N_ELEMENTS(certain); i++) {
    parse(certain[i], i ? "ra" : "1", i ? "dec" : "2", NULL, NULL, &catalogue, &error);
    g_assert_no_error(error);
    g_assert_null(catalogue.note);
    astro_catalogue_clear(&catalogue);
  }
  parse("", "1", "2", NULL, NULL, &catalogue, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(catalogue.n, ==, 0);
  astro_catalogue_clear(&catalogue);
}

/* A repeated heading begins another catalogue, with the lines below it. */
static void test_several(void)
{
  static const char *const texts[] = {
    "ra,dec,w\n1,2,5\n3,4,6\n\nra,dec,w\n7,8,9\n",
    "# two\nra dec w\n--- --- -\n1 2 5\n3 4 6\nra dec w\n--- --- -\n# another\n7 8 9\n",
  };
  AstroCatalogueColumns columns = { "ra", "dec", "w", NULL };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(guint64));
    AstroCatalogue all;
    GError *error = NULL;
    astro_catalogue_parse_text(texts[i], strlen(texts[i]), "test", &columns, &all, ends, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(ends->len, ==, 2);
    g_assert_cmpuint(astro_catalogue_part(&all, ends, 0).n, ==, 2);
    AstroCatalogue second = astro_catalogue_part(&all, ends, 1);
    g_assert_cmpuint(second.n, ==, 1);
    g_assert_cmpfloat(second.ra[0], ==, 7);
    g_assert_cmpfloat(second.dec[0], ==, 8);
    g_assert_cmpfloat(second.weight[0], ==, 9);
    g_assert_null(second.region);
    astro_catalogue_clear(&all);
  }
}

/* A text that is cut inside its last line gives the values of that line, an error or a warning. */
static void test_cut(void)
{
  static const struct {
    const char *text;
    gboolean is_certain; /* missing digits are noticed */
  } cases[] = {
    { "ra,dec\n10.250,20.125\n11.500,21.250\n12.750,22.500\n13.125,23.375\n", TRUE },
    { "ra,dec\n10.250,2.0125e+01\n11.500,2.1250e+01\n12.750,2.2500e+01\n13.125,2.3375e+01\n",
      TRUE },
    { "ra dec\n10.25 20.125\n11.5 21.25\n12.75 22.5\n13.125 23.375\n", FALSE },
    { "ra;dec\n10;20\n11;21\n12;22\n13;23\n", FALSE },
    { "ra\tdec\n13.125\t23.375\n", FALSE },
    { "ra,dec\n10:01:02.50,+20:10:01.25\n10:01:02.75,-20:10:01.25\n10:01:03.00,+20:10:02.25\n"
      "10:01:04.00,+20:10:02.25\n",
      TRUE },
    { "ra,dec\n10:01:02,+20:10:01\n10:01:02,-20:10:01\n10:01:04,+20:10:22\n", FALSE },
    { "# ra dec\n10.250 20.125\n\n11.500 21.250\n12.750 22.500 # here\n12.750 22.500\n13.125 "
      "23.375\n",
      TRUE },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    gsize length = strlen(cases[i].text), line = length - 1;
    while (cases[i].text[line - 1] != '\n')
      line--;
    for (; length > line; length--) {
      g_autofree char *cut = g_strndup(cases[i].text, length);
      AstroCatalogue whole, found;
      g_autoptr(GError) error = NULL;
      parse(cases[i].text, "ra", "dec", NULL, NULL, &whole, &error);
      g_assert_no_error(error);
      g_assert_null(whole.note);
      parse(cut, "ra", "dec", NULL, NULL, &found, &error);
      const gboolean same = !error && found.n == whole.n &&
                            found.ra[found.n - 1] == whole.ra[whole.n - 1] &&
                            found.dec[found.n - 1] == whole.dec[whole.n - 1];
      const gboolean ends = cut[length - 1] == '\n', no_end = length == strlen(cases[i].text) - 1;
      g_test_message("%s: %s", cut + line, error ? error->message : found.note);
      if (error)
        test_says(error->message, "cut");
      else if (!ends && !(no_end && cases[i].is_certain))
        test_says(found.note, "if the file was cut there");
      g_assert_true(same || error || found.note);
      g_assert_true(!ends || (same && !found.note));
      g_assert_true(!(no_end && error));
      g_assert_true(!cases[i].is_certain || same || error);
      astro_catalogue_clear(&whole);
      astro_catalogue_clear(&found);
    }
  }
  /* a name after the numbers may be cut anywhere, but a column may not be missing */
  AstroCatalogue catalogue;
  g_autoptr(GError) error = NULL;
  parse("ra,dec,name\n1,2,M 31\n3,4,M", "ra", "dec", NULL, NULL, &catalogue, &error);
  g_assert_no_error(error);
  g_assert_null(catalogue.note);
  astro_catalogue_clear(&catalogue);
  parse("dec,z,ra,w\n1,2,3,4\n3,4,5", "3", "1", NULL, NULL, &catalogue, &error);
  g_assert_nonnull(error);
  test_says(error->message, "3 values without a newline at the end, where lines above have 4");
}

static void test_numbers(void)
{
  static const struct {
    double value;
    const char *text;
  } cases[] = { { 0.1, "0.1" },
                { 151.3, "151.3" },
                { -0.0, "-0" },
                { 1e-300, "1e-300" },
                { 0x1p53 + 2, "9007199254740994" },
                { 1 / 3., "0.33333333333333331" },
                { -DBL_MIN, "-2.2250738585072014e-308" },
                { -DBL_MAX, "-1.7976931348623157e+308" },
                { NAN, "" },
                { INFINITY, "" } };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GString) text = g_string_new(NULL);
    astro_values_append(text, cases[i].value);
    g_assert_cmpstr(text->str, ==, cases[i].text);
    g_assert_cmpuint(text->len, <=, ASTRO_VALUES_NUMBER_BYTES);
    if (isfinite(cases[i].value))
      g_assert_cmpfloat(g_ascii_strtod(text->str, NULL), ==, cases[i].value);
  }
}

#define ECSV "# %ECSV 1.0\n# ---\n"

/* Headers as Astropy writes them, and as its manual permits. */
static void test_ecsv(void)
{
  static const struct {
    const char *text, *ra, *dec;
  } same[] = {
    { ECSV "# datatype:\n# - {name: ra, unit: rad, datatype: float64}\n"
           "# - {name: dec, unit: deg, datatype: float64}\n# schema: astropy-2.0\nra dec\n"
           "1.5707963267948966 -45\n",
      "ra", "dec" },
    { ECSV "# delimiter: ','\n# datatype:\n# - {name: id, datatype: string, description: 'a, b}'}\n"
           "# - {name: ra, datatype: float64, description: \"it''s, unit: m\", unit: 'rad'}\n"
           "# - {name: dec, unit: rad, datatype: float64, description: a long one\n"
           "#     that goes on}\n# meta: !!omap\n# - {unit: m}\nid,ra,dec\n"
           "\"x\",1.5707963267948966,-0.7853981633974483\n",
      "ra", "3" },
    { ECSV "# datatype:\n# - name: ra\n#   unit: deg\n#   datatype: float64\n# - name: dec\n"
           "#   datatype: float64\n#   unit: rad\nra dec\n90 -0.7853981633974483\n",
      "ra", "dec" },
    { ECSV "# datatype:\n# - {name: ra, datatype: float64}\n# - {name: dec, datatype: float64}\n"
           "# - {name: w, unit: m, datatype: float64}\nra dec w\n90 -45 1\n",
      "ra", "dec" },
    { "# my points\n# datatype:\n# - {name: ra, unit: rad}\nra dec\n90 -45\n", "ra", "dec" },
    { ECSV "ra dec\n90 -45\n", "ra", "dec" },
    { "# ra dec id\n# rad deg -\n1.5707963267948966 -45 x\n", "ra", "dec" },
    { "ra\tdec\nrad\tdeg\n---\t---\n1.5707963267948966\t-45\n", "ra", "dec" },
    { "# %ECSV 1.0\n# datatype:\n# - {name: 'ra\nra dec\n90 -45\n", "ra", "dec" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(same); i++) {
    AstroCatalogue catalogue;
    GError *error = NULL;
    parse(same[i].text, same[i].ra, same[i].dec, NULL, NULL, &catalogue, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(catalogue.n, ==, 1);
    g_assert_cmpfloat_with_epsilon(catalogue.ra[0], 90, 1e-12);
    g_assert_cmpfloat_with_epsilon(catalogue.dec[0], -45, 1e-12);
    astro_catalogue_clear(&catalogue);
  }
}

static void test_bad_text(void)
{
  static const struct {
    const char *text, *ra, *dec, *says;
  } wrong[] = {
    { "a b\n1 2\n", "ra", "dec", "there are: a, b" },
    { "1 2\n", "alpha", "dec", "by number" },
    { "1 2\n", "ra", "decl", "by number" },
    { "1 2\n3\n", "1", "2", "line 2: 1 columns, expected 2" },
    { "1 2\n3 x\n", "1", "2", "line 2: \"x\" in column 2" },
    { "1 2\n3 nan\n", "1", "2", "line 2: \"nan\"" },
    { "1 2\n3 91\n", "1", "2", "declination 91" },
    { "1 2\n3 -90.0000001\n", "1", "2", "declination -90.0000001, expected" },
    { "1 2\n", "0", "2", "no column \"0\"" },
    { "1 2\n", "1", "5", "2 columns, expected 5" },
    { "ra;dec\n10,5;20,25\n", "ra", "dec", "line 2: \"10,5\" in column 1" },
    { "1 2 Smith, J.\n", "1", "2", "line 1: \"1 2 Smith\" in column 1" },
    { "ra,dec\n1,\n", "ra", "dec", "line 2: 1 columns" },
    { "ra,dec\r1,2\rx,2\r", "ra", "dec", "line 3: \"x\"" },
    { "ra,dec\r\n1,2\r\nx,2\r\n", "ra", "dec", "line 3: \"x\"" },
    { "ra,dec\n\"1,2\n", "ra", "dec", "line 2: \"1,2\" in column 1" },
    { "ra\tdec\nh:m:s\tdeg\n1\t2\n", "ra", "dec", "line 2: \"h:m:s\" in column 1" },
    { "ra dec\ndeg\n1 2\n", "ra", "dec", "line 2: \"deg\" in column 1" },
    /* positions in one column, or written in another way in some lines */
    { "ra,dec\n00:04:00,2\n", "ra", "dec",
      "line 2: \"2\" in column 2 is a number of degrees, but other positions or the units are "
      "hours "
      "or degrees, minutes and seconds: expected all values of both columns in degrees, or as "
      "13:31:08.3 "
      "and +30:30:33" },
    { "ra,dec\n1,2\n3,+02:00:00\n", "ra", "dec", "line 3: \"+02:00:00\" in column 2 is hours or" },
    { "ra\tdec\nh:m:s\td:m:s\n1\t2\n", "ra", "dec", "line 3: \"1\" in column 1 is a number of" },
    { "ra\tdec\ndeg\tdeg\n1:2:3\t4:5:6\n", "ra", "dec", "line 3: \"1:2:3\" in column 1 is hours" },
    { "ra,dec\n24:00:00,+02:00:00\n", "ra", "dec",
      "line 2: \"24:00:00\" in column 1 is not a number, expected a right ascension in degrees, or "
      "as" },
    { "ra,dec\n23:60:00,+02:00:00\n", "ra", "dec",
      "line 2: \"23:60:00\" in column 1 is not a number" },
    { "ra,dec\n23:50:00,+90:00:01\n", "ra", "dec", "line 2: declination 90.000277" },
    { "ra,dec\n23:50,+90:00\n", "ra", "dec", "line 2: \"23:50\" in column 1 is not a number" },
    { "ra dec\n1 2\ndeg deg\n", "ra", "dec", "line 3: \"deg\" in column 1" },
    { ECSV
      "# datatype:\n# - {name: ra, unit: hourangle}\n# - {name: dec, unit: deg}\nra dec\n1 2\n",
      "ra", "dec", "column 1 is in units of \"hourangle\", expected deg or rad" },
    { ECSV "# datatype:\n# - {name: ra}\n# - {name: dec, unit: rad}\nra dec\n1 2\n", "ra", "dec",
      "declination 114.591559026" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    AstroCatalogue catalogue;
    GError *error = NULL;
    parse(wrong[i].text, wrong[i].ra, wrong[i].dec, NULL, NULL, &catalogue, &error);
    g_assert_nonnull(error);
    test_says(error->message, wrong[i].says);
    g_assert_cmpuint(catalogue.n, ==, 0);
    g_assert_null(catalogue.ra);
    g_clear_error(&error);
  }
  AstroCatalogue catalogue;
  GError *error = NULL;
  AstroCatalogueColumns columns = { .ra = "1", .dec = "2" };
  g_assert_false(astro_fits_read_text("/nonexistent/file", &columns, &catalogue, NULL, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_OPEN);
  test_says(error->message, "cannot open /nonexistent/file: No such file");
  g_clear_error(&error);
}

/* Bytes that are no text, such as compressed files or two bytes a character, are refused. */
static void test_zero_bytes(void)
{
  static const struct {
    const char *text;
    gsize length;
    const char *says;
  } wrong[] = {
    { "\xfd"
      "7zXZ\0\0#\n1,2\n",
      13, "zeros, line 1: found a zero byte, expected text" },
    { "ra,dec\n1,2\0"
      "3\n",
      13, "zeros, line 2: found a zero byte" },
    { "ra,dec\n1,2\n\0\0\0", 14, "zeros, line 3: found a zero byte" },
  };
  const AstroCatalogueColumns columns = { .ra = "1", .dec = "2" };
  for (guint i = 0; i < G_N_ELEMENTS(wrong); i++) {
    AstroCatalogue catalogue;
    g_autoptr(GError) error = NULL;
    g_assert_false(astro_catalogue_parse_text(wrong[i].text, wrong[i].length, "zeros", &columns,
                                              &catalogue, NULL, &error));
    g_assert_error(error, ASTRO_CATALOGUE_ERROR, ASTRO_CATALOGUE_ERROR_TEXT);
    test_says(error->message, wrong[i].says);
  }
}

static void test_file(void)
{
  g_autofree char *folder = g_dir_make_tmp("astro-XXXXXX", NULL);
  g_autofree char *path = g_build_filename(folder, "points.csv", NULL);
  AstroCatalogueColumns columns = { .ra = "ra", .dec = "dec" };
  AstroCatalogue catalogue;
  GError *error = NULL;
  g_assert_true(g_file_set_contents(path, "ra,dec\n10,20\n", -1, NULL));
  astro_fits_read_text(path, &columns, &catalogue, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(catalogue.n, ==, 1);
  g_assert_cmpfloat(catalogue.dec[0], ==, 20);
  astro_catalogue_clear(&catalogue);
  g_unlink(path);
  g_rmdir(folder);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/catalogue/text", test_text);
  g_test_add_func("/catalogue/several", test_several);
  g_test_add_func("/catalogue/cut", test_cut);
  g_test_add_func("/catalogue/numbers", test_numbers);
  g_test_add_func("/catalogue/ecsv", test_ecsv);
  g_test_add_func("/catalogue/bad-text", test_bad_text);
  g_test_add_func("/catalogue/zero-bytes", test_zero_bytes);
  g_test_add_func("/catalogue/file", test_file);
  return g_test_run();
}
