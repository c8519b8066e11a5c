/* Catalogues in files that are refused: columns, values, filters, and files of other kinds. */
#include "tests/core/fits/fits-catalogue.h"

static void refused_columns(TestPlace *place, gconstpointer data)
{
  static const struct {
    AstroFitsOptions options;
    const char *says;
  } cases[] = {
    { { .columns = { .ra = "ALPHA" } }, "no column \"ALPHA\" for ra; there are: Ra, dEC, Mag" },
    { { .columns = { .region = "7" } }, "no column \"7\" for region" },
    { { .columns = { .weight = "name" } }, "expected one number" },
    { { .where = "COLOUR > 1" }, "COLOUR" },
    { { .where = "MAG <" }, "syntax error" },
    { { .where = "MAG" }, "logical" },
    { { .where = "" }, "where" },
    { { .where = "#ROW < 2" }, "more than one row" },
    { { .where = "mag{-1} > 2" }, "more than one row" },
    { { .where = "mag < 0" }, "none of 3 rows" },
  };
  test_make_table(place, &test_plain);
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
    test_expect_refused(place->path, &cases[k].options, cases[k].says);
}

static void refused_tables(TestPlace *place, gconstpointer data)
{
  TestTable t = test_plain;
  t.units[1] = "hourangle";
  test_make_table(place, &t);
  test_expect_refused(place->path, NULL,
                      "column dEC is in units of \"hourangle\", expected deg or rad");
  t = test_plain;
  t.forms[0] = "2D";
  test_make_table(place, &t);
  test_expect_refused(place->path, NULL, "expected one number");
  t = test_plain;
  t.rows = 0;
  test_make_table(place, &t);
  test_expect_refused(place->path, NULL, "table STARS: the table has no rows");
  test_end_file(test_begin_file(place->path));
  test_expect_refused(place->path, NULL, "expected UVFITS");
}

static void refused_values(TestPlace *place, gconstpointer data)
{
  static const struct {
    int column;
    double value;
    const char *says;
  } cases[] = { { 1, NAN, "column Ra is nan, expected a number (where=Ra==Ra " },
                { 1, INFINITY, "point 2: column Ra is inf" },
                { 2, 90.0000001, "-90 to 90 degrees" },
                { 2, -91, "column dEC is -91" },
                { 2, NAN, "column dEC is nan" },
                { 3, -INFINITY, "column Mag is -inf" } };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    AstroFitsOptions options = { .columns = { .weight = "mag" } };
    fitsfile *f = test_begin_file(place->path);
    int status = 0;
    double value = cases[k].value;
    test_add_table(f, &test_plain);
    fits_write_col(f, TDOUBLE, cases[k].column, 2, 1, 1, &value, &status);
    g_assert_cmpint(status, ==, 0);
    test_end_file(f);
    test_expect_refused(place->path, &options, cases[k].says);
    /* A filter may leave such rows out. */
    options.where = "name != 's1'";
    AstroFitsReader *reader = test_open_good(place->path, &options);
    guint64 n;
    double *found = test_read_next(reader, &n);
    g_assert_cmpuint(n, ==, 2);
    test_free(found);
    test_expect_end(reader);
    if (!isnan(cases[k].value))
      continue;
    options.where = "Ra==Ra && dEC==dEC"; /* as the message says */
    reader = test_open_good(place->path, &options);
    test_free(test_read_next(reader, &n));
    g_assert_cmpuint(n, ==, 2);
    test_expect_end(reader);
  }
}

/* An integer that stands for a missing value. */
static void blank(TestPlace *place, gconstpointer data)
{
  TestTable t = test_plain;
  fitsfile *f = test_begin_file(place->path);
  int status = 0;
  AstroFitsOptions options = { .columns = { .weight = "weight" } };
  test_add_table(f, &t);
  fits_write_key_lng(f, "TNULL4", 2, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  test_end_file(f);
  test_expect_refused(place->path, &options, "point 3: column Weight is nan");
  options.where = "!ISNULL(weight)";
  AstroFitsReader *reader = test_open_good(place->path, &options);
  guint64 n;
  double *found = test_read_next(reader, &n);
  g_assert_cmpuint(n, ==, 2);
  test_free(found);
  test_expect_end(reader);
}

/* A table without columns, with rows and without. */
static void no_columns(TestPlace *place, gconstpointer data)
{
  for (guint rows = 0; rows < 6; rows += 5) {
    fitsfile *f = test_begin_file(place->path);
    int status = 0;
    fits_create_tbl(f, BINARY_TBL, rows, 0, NULL, NULL, NULL, "EMPTY", &status);
    g_assert_cmpint(status, ==, 0);
    test_end_file(f);
    test_expect_refused(place->path, NULL, "table EMPTY: TFIELDS is 0, expected columns");
    const AstroFitsOptions options = { .columns = { .ra = "1" }, .where = "a > 0" };
    test_expect_refused(place->path, &options, "TFIELDS is 0");
  }
}

static void cut_short(TestPlace *place, gconstpointer data)
{
  TestTable t = test_plain;
  g_autofree char *bytes = NULL;
  gsize size;
  t.rows = 1000;
  t.name = NULL;
  test_make_table(place, &t);
  g_assert_true(g_file_get_contents(place->path, &bytes, &size, NULL));
  g_assert_true(g_file_set_contents(place->path, bytes, 2880 * 3 + 100, NULL));
  test_expect_refused(place->path, NULL, "table without a name: cut short");
  g_assert_true(g_file_set_contents(place->path, bytes, 2880 + 100, NULL));
  test_expect_refused(place->path, NULL, "expected UVFITS");
}

static void refused_text(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *text;
    AstroFitsOptions options;
    const char *says;
  } cases[] = {
    { "l,b\n1,2\n", { .where = NULL }, "no column \"RA\"; there are: l, b" },
    { "ra,dec\n1,2\n", { .where = "ra > 1" }, "none of the 1 points" },
    { "1,91\n", { .where = NULL }, "-90 to 90" },
    { "1,nan\n", { .where = NULL }, "not a number" },
    { "ra,dec\n", { .where = NULL }, "no points" },
    { "ra,dec\n1,2\n\nra,dec\n", { .where = NULL }, "catalogue 2 has no points" },
    { "any words", { .where = NULL }, "SIMPLE" },
    { "\x01\x02", { .where = NULL }, "SIMPLE" },
    { "", { .where = NULL }, "is empty" },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    g_assert_true(g_file_set_contents(place->path, cases[k].text, -1, NULL));
    test_expect_refused(place->path, &cases[k].options, cases[k].says);
  }
}

/* A file is refused if downstream takes another kind of stream. */
static void unwanted(TestPlace *place, gconstpointer data)
{
  AstroFitsOptions options = { .wanted = gst_caps_from_string("application/x-astro-visibilities") };
  test_make_table(place, &test_plain);
  test_expect_refused(place->path, &options,
                      "found a catalogue (a table), expected visibilities (UVFITS): a "
                      "catalogue goes to astrohistogram, as in the graph tpacf-files (downstream "
                      "takes application/x-astro-visibilities)");
  g_assert_true(g_file_set_contents(place->path, "1 2\n", -1, NULL));
  test_expect_refused(place->path, &options,
                      "found text (a catalogue), expected visibilities (UVFITS)");
  gst_caps_unref(options.wanted);
  options.wanted = gst_caps_from_string("application/x-astro-catalogue");
  astro_fits_reader_close(test_open_good(place->path, &options));
  gst_caps_unref(options.wanted);
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "refused-columns", refused_columns },
    { "refused-tables", refused_tables },
    { "refused-values", refused_values },
    { "refused-text", refused_text },
    { "blank", blank },
    { "cut-short", cut_short },
    { "no-columns", no_columns },
    { "unwanted", unwanted },
  };
  test_add_places("/fits-catalogue/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
