/* Row filters for catalogues in text: they find the rows that a plain loop finds, and those of a
 * FITS table with the same contents. */
#include "tests/core/fits/fits-catalogue.h"

#define ROWS 40000 /* several pieces of the filter's table */

static gint64 flag_of(guint64 i)
{
  return (gint64)(i * 31 % 9) - 4;
}

static gboolean has_mag(guint64 i)
{
  return i % 13 != 5;
}

static gboolean all(guint64 i)
{
  return TRUE;
}
static gboolean bright(guint64 i)
{
  return has_mag(i) && test_mag_of(i) < 14.5 && flag_of(i) == 0;
}
static gboolean negative(guint64 i)
{
  return flag_of(i) < -2;
}
static gboolean odd(guint64 i)
{
  return flag_of(i) % 2 != 0;
}
static gboolean named(guint64 i)
{
  return i % 50 == 7;
}
static gboolean without(guint64 i)
{
  return !has_mag(i);
}
static gboolean good(guint64 i)
{
  return i % 3 == 0;
}
static gboolean far_north(guint64 i)
{
  return test_dec_of(i) > 89.9;
}
static gboolean unflagged(guint64 i)
{
  return i % 17 != 4;
}

static const struct {
  const char *expression;
  gboolean (*passes)(guint64 i);
} cases[] = {
  { "RA >= 0", all },
  { "mag < 14.5 && flag == 0", bright },
  { "FLAG<-2", negative },
  { "FLAG % 2 != 0", odd },
  { "FLAG*3e9 % 2e9 != 0", odd },
  { "NAME == 's7'", named },
  { "ISNULL(MAG)", without },
  { "GOOD", good },
  { "dec > 89.9", far_north },
  { "!ISNULL(QUALITY)", unflagged },
};

static char *text_of(const char *heading, char separator)
{
  g_autoptr(GString) text = g_string_new(heading);
  for (guint64 i = 0; i < ROWS; i++) {
    char ra[G_ASCII_DTOSTR_BUF_SIZE], dec[G_ASCII_DTOSTR_BUF_SIZE];
    g_ascii_dtostr(ra, sizeof ra, test_ra_of(i));
    g_ascii_dtostr(dec, sizeof dec, test_dec_of(i));
    g_autofree char *mag = has_mag(i) ? g_strdup_printf("%g", test_mag_of(i)) : g_strdup("");
    g_autofree char *quality = unflagged(i) ? g_strdup("3") : g_strdup("");
    g_string_append_printf(text, "%s,%s,%s,%" G_GINT64_FORMAT ",s%u,%s,%s\n", ra, dec, mag,
                           flag_of(i), (guint)(i % 50), good(i) ? "True" : "False", quality);
  }
  return g_strdelimit(g_strdup(text->str), ",", separator);
}

static void check(const char *path, const char *expression, gboolean (*passes)(guint64 i))
{
  AstroFitsOptions options = { .where = expression };
  AstroFitsReader *reader = test_open_good(path, &options);
  guint64 n, expected = 0;
  double *found = test_read_next(reader, &n);
  g_assert_nonnull(found);
  for (guint64 i = 0; i < ROWS; i++)
    if (passes(i)) {
      g_assert_cmpuint(expected, <, n);
      g_assert_cmpfloat(found[expected], ==, test_ra_of(i));
      g_assert_cmpfloat(found[n + expected], ==, test_dec_of(i));
      expected++;
    }
  g_assert_cmpuint(n, ==, expected);
  test_free(found);
  test_expect_end(reader);
}

static void against_loop(TestPlace *place, gconstpointer data)
{
  static const char heading[] = "RA,Dec,Mag,Flag,Name,Good,Quality\n";
  g_autofree char *csv = text_of(heading, ',');
  g_assert_true(g_file_set_contents(place->path, csv, -1, NULL));
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
    check(place->path, cases[c].expression, cases[c].passes);
  g_autofree char *tabs = text_of("# a table\nRA\tDec\tMag\tFlag\tName\tGood\tQuality\n", '\t');
  g_assert_true(g_file_set_contents(place->path, tabs, -1, NULL));
  for (guint c = 0; c < G_N_ELEMENTS(cases); c++)
    check(place->path, cases[c].expression, cases[c].passes);
}

/* Columns without names are numbered. */
static void without_names(TestPlace *place, gconstpointer data)
{
  g_autofree char *text = text_of("", ';');
  g_assert_true(g_file_set_contents(place->path, text, -1, NULL));
  check(place->path, "col3 < 14.5 && col4 == 0", bright);
  check(place->path, "COL5 == 's7'", named);
}

/* Each of several catalogues, with regions and weights that go with the points. */
static void several(TestPlace *place, gconstpointer data)
{
  static const double expected[2][6] = { { 1, 3, -1, -3, 10, 30 }, { 5, 0, -5, 0, 50, 0 } };
  static const char text[] = "ra dec w z\n1 -1 10 0.5\n2 -2 20 1.5\n3 -3 30 0.25\n"
                             "ra dec w z\n4 -4 40 1\n5 -5 50 0.75\n";
  AstroFitsOptions options = { .columns = { .weight = "w" }, .where = "z < 1" };
  g_assert_true(g_file_set_contents(place->path, text, -1, NULL));
  AstroFitsReader *reader = test_open_good(place->path, &options);
  for (guint c = 0; c < 2; c++) {
    guint64 n;
    double *found = test_read_next(reader, &n);
    g_assert_cmpuint(n, ==, 2 - c);
    for (guint i = 0; i < n; i++)
      for (guint column = 0; column < 3; column++)
        g_assert_cmpfloat(found[column * n + i], ==, expected[c][2 * column + i]);
    test_free(found);
  }
  test_expect_end(reader);
}

/* Lines that a filter leaves out need not be valid points. */
static void left_out(TestPlace *place, gconstpointer data)
{
  AstroFitsOptions options = { .where = "ra == ra && kind != 'sky'" };
  g_assert_true(g_file_set_contents(
      place->path, "ra,dec,kind\n1,2,star\nnan,3,star\n4,99,sky\n5,6,galaxy\n", -1, NULL));
  AstroFitsReader *reader = test_open_good(place->path, &options);
  guint64 n;
  double *found = test_read_next(reader, &n);
  g_assert_cmpuint(n, ==, 2);
  g_assert_cmpfloat(found[1], ==, 5);
  test_free(found);
  test_expect_end(reader);
}

static void refused(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *text, *where, *says;
  } wrong[] = {
    { "ra,dec\n1,2\n", "ra > 1", "none of the 1 points of catalogue 1 is selected" },
    { "ra,dec\n1,2\nra,dec\n0,2\n", "ra > 0", "none of the 1 points of catalogue 2 is selected" },
    { "ra,dec\n", "ra > 0", "catalogue 1 has no points" },
    { "ra,dec\n1,2\n", "colour > 1", "the columns are: ra, dec" },
    { "1,2\n", "ra > 1", "the columns are: col1, col2" },
    { "ra,dec\n1,2\n", "ra >", "syntax error" },
    { "ra,dec\n1,2\n", "ra", "logical" },
    { "ra,dec\n1,2\n", "#ROW < 2", "more than one row" },
    { "ra,dec\n1,2\n", "ra < 9223372036854775808", "is larger than integers of 64 bits" },
    { "ra,dec,id\n1,2,7\n1,2,9007199254740992\n", "id == 9007199254740993",
      "column id has 9007199254740992 in row 2, and filters compute with doubles" },
    { "ra,dec,id\n1,2,-3000000000000000005\n", "$ID$ != 4", "column id has -3000000000000000005" },
    { "ra,dec,id\n1,2,21474836480\n", "id % 10 == 0", "below 21474836480, where % gives" },
    { "ra,dec,id\n1,2,2147483648\n", "id %(10) == 8", "below 2147483648, where % gives" },
    { "ra,dec,x\n1,2,3e9\n", "x % 0.1 == 0", "below 214748365, where % gives" },
    { "ra,dec,x\n1,2,-3e10\n", "x % 10 == 0", "column x has -30000000000 in row 1" },
    { "ra,dec\n1,2\n1\n", "ra > 0", "line 3: 1 columns, expected 2 or more" },
  };
  for (guint k = 0; k < G_N_ELEMENTS(wrong); k++) {
    AstroFitsOptions options = { .where = wrong[k].where };
    g_assert_true(g_file_set_contents(place->path, wrong[k].text, -1, NULL));
    test_expect_refused(place->path, &options, wrong[k].says);
  }
  g_autoptr(GString) wide = g_string_new("1,2");
  for (guint i = 0; i < 1000; i++)
    g_string_append(wide, ",3");
  g_assert_true(g_file_set_contents(place->path, wide->str, -1, NULL));
  AstroFitsOptions options = { .where = "col1 > 0" };
  test_expect_refused(place->path, &options, "at most 999 columns");
}

static void add_tests(void)
{
  static const TestPlaceCase tests[] = {
    { "against-loop", against_loop }, { "without-names", without_names },
    { "several", several },           { "left-out", left_out },
    { "refused", refused },
  };
  test_add_places("/fits-text-filter/", tests, G_N_ELEMENTS(tests));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
