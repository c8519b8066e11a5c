/* Reading FITS: values of keywords, numbers of every type, tables, and headers that contradict
 * themselves. */
#include "core/backend/backend.h"
#include "core/backend/threads.h"
#include "core/fits/fits.h"
#include "core/fits/table/table.h"
#include "tests/core/fits/uvfits.h"

static void pad(GString *bytes, char with)
{
  while (bytes->len % 2880)
    g_string_append_c(bytes, with);
}

/* Cards, NULL-terminated, and END. */
static void add_header(GString *bytes, const char *const *cards)
{
  for (; *cards; cards++)
    g_string_append_printf(bytes, "%-80s", *cards);
  g_string_append_printf(bytes, "%-80s", "END");
  pad(bytes, ' ');
}

static AstroFitsFile *open_bytes(TestPlace *place, GString *bytes, GError **error)
{
  g_assert_true(g_file_set_contents(place->path, bytes->str, bytes->len, NULL));
  g_string_free(bytes, TRUE);
  return astro_fits_file_open(place->path, error);
}

static void values(TestPlace *place, gconstpointer data)
{
  static const char *const cards[] = { "SIMPLE  =                    T / as it should be",
                                       "BITPIX  =                    8",
                                       "NAXIS   =                    0",
                                       "TEXT    = 'it''s / here  ' / a comment",
                                       "EMPTY   = ''",
                                       "OPEN    = 'no end of it",
                                       "FORTRAN =             1.25D+03 / ",
                                       "WHOLE   =                  -42 / ",
                                       "TWICE   =                    1",
                                       "TWICE   =                    2",
                                       "HUGE    =               1E9999",
                                       "JUNK    =                  12x",
                                       "BLANKED =                      / nothing",
                                       "COMMENT = 'none'",
                                       "NOVALUE   3",
                                       "OFFSET12=                  2.5",
                                       "CRVAL12 =                  3.5",
                                       NULL };
  GString *bytes = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  const char *text = "before";
  double number = 99;
  gint64 integer = 99;

  add_header(bytes, cards);
  AstroFitsFile *file = open_bytes(place, bytes, &error);
  g_assert_no_error(error);
  const AstroFitsHeader *h = astro_fits_file_primary(file);
  g_assert_cmpuint(h->data, ==, 2880);
  g_assert_cmpuint(h->bytes, ==, 0);
  g_assert_true(astro_fits_get_string(h, "TEXT", &text));
  g_assert_cmpstr(text, ==, "it's / here");
  g_assert_true(astro_fits_get_string(h, "EMPTY", &text));
  g_assert_cmpstr(text, ==, "");
  g_assert_true(astro_fits_get_string(h, "OPEN", &text));
  g_assert_cmpstr(text, ==, "no end of it");
  g_assert_true(astro_fits_get_double(h, "FORTRAN", &number));
  g_assert_cmpfloat(number, ==, 1250);
  g_assert_true(astro_fits_get_integer(h, "WHOLE", &integer));
  g_assert_cmpint(integer, ==, -42);
  g_assert_true(astro_fits_get_double(h, "WHOLE", &number));
  g_assert_cmpfloat(number, ==, -42);
  g_assert_true(astro_fits_get_integer(h, "TWICE", &integer));
  g_assert_cmpint(integer, ==, 1);
  g_assert_true(astro_fits_get_double_n(h, "CRVAL", 12, &number));
  g_assert_cmpfloat(number, ==, 3.5);

  static const char *const no_numbers[] = { "HUGE",    "JUNK", "BLANKED", "TEXT",
                                            "NOVALUE", "NONE", "END" };
  for (guint i = 0; i < G_N_ELEMENTS(no_numbers); i++) {
    g_assert_false(astro_fits_get_double(h, no_numbers[i], &number));
    g_assert_false(astro_fits_get_integer(h, no_numbers[i], &integer));
  }
  g_assert_false(astro_fits_get_integer(h, "FORTRAN", &integer));
  g_assert_false(astro_fits_get_string(h, "WHOLE", &text));
  g_assert_cmpfloat(number, ==, 3.5);
  g_assert_cmpint(integer, ==, 1);
  astro_fits_file_close(file);
}

static void numbers(TestPlace *place, gconstpointer data)
{
  static const guint8 bytes[16] = { 0xff, 0xfe, 0x80, 0x00, 0x00, 0x00, 0x00, 0x01,
                                    0xc0, 0x45, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00 };
  gint64 blank = -2, other = 5;
  g_assert_cmpfloat(astro_fits_value(bytes, 8, 0, NULL), ==, 255);
  g_assert_cmpfloat(astro_fits_value(bytes, 16, 0, NULL), ==, -2);
  g_assert_cmpfloat(astro_fits_value(bytes, 16, 0, &other), ==, -2);
  g_assert_true(isnan(astro_fits_value(bytes, 16, 0, &blank)));
  g_assert_cmpfloat(astro_fits_value(bytes, 16, 1, NULL), ==, -32768);
  g_assert_cmpfloat(astro_fits_value(bytes, 32, 1, NULL), ==, 1);
  g_assert_cmpfloat(astro_fits_value(bytes, 64, 1, NULL), ==, (double)(gint64)0xc045400000000000);
  g_assert_cmpfloat(astro_fits_value(bytes, -64, 1, NULL), ==, -42.5);
  g_assert_cmpfloat(astro_fits_value(bytes, -32, 2, NULL), ==, -3.08203125);
}

#define TABLE(rows, width, fields)                                                                 \
  "XTENSION= 'BINTABLE'", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = " width, "NAXIS2  = " rows,     \
      "PCOUNT  = 0", "GCOUNT  = 1", "TFIELDS = " fields, "EXTNAME = 'A TABLE '"

static void table(TestPlace *place, gconstpointer data)
{
  static const char *const primary[] = { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0", NULL };
  static const char *const cards[] = { TABLE("2", "20", "5"), "TFORM1  = '4A'",
                                       "TTYPE1  = 'WORD'",    "TFORM2  = '2I'",
                                       "TTYPE2  = 'Pair'",    "TSCAL2  = 0.5",
                                       "TZERO2  = 10.0",      "TFORM3  = 'D'",
                                       "TTYPE3  = 'ONE'",     "TFORM4  = '9X'",
                                       "TTYPE4  = 'BITS'",    "TFORM5  = '2B'",
                                       "TTYPE5  = 'SMALL'",   NULL };
  static const guint8 rows[40] = { 'a', 'b',  ' ',      ' ',      0,         1,
                                   0,   2,    [16] = 1, [18] = 7, [19] = 8,  [20] = 'c',
                                   0,   'd',  'e',      0xff,     0xff,      0,
                                   4,   0x3f, 0xf8,     [38] = 9, [39] = 200 };
  GString *bytes = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  AstroFitsTable t;

  add_header(bytes, primary);
  add_header(bytes, cards);
  g_string_append_len(bytes, (const char *)rows, sizeof rows);
  pad(bytes, 0);
  AstroFitsFile *file = open_bytes(place, bytes, &error);
  g_assert_no_error(error);
  g_assert_null(astro_fits_file_find_table(file, "OTHER"));
  g_assert_true(
      astro_fits_table_open(&t, file, astro_fits_file_find_table(file, "A TABLE"), &error));
  g_assert_cmpuint(t.n_rows, ==, 2);
  const AstroFitsColumn *word = astro_fits_table_find(&t, "word", TRUE, 1);
  const AstroFitsColumn *two = astro_fits_table_find(&t, "PAIR", FALSE, 2);
  const AstroFitsColumn *one = astro_fits_table_find(&t, "ONE", FALSE, 1);
  const AstroFitsColumn *small = astro_fits_table_find(&t, "SMALL", FALSE, 2);
  g_assert_true(word && two && one && small);
  g_assert_null(astro_fits_table_find(&t, "WORD", FALSE, 1));
  g_assert_null(astro_fits_table_find(&t, "PAIR", TRUE, 1));
  g_assert_null(astro_fits_table_find(&t, "PAIR", FALSE, 3));
  g_assert_null(astro_fits_table_find(&t, "BITS", FALSE, 1));

  g_assert_true(astro_fits_table_read(&t, 0, &error));
  g_autofree char *first = astro_fits_table_text(&t, word);
  g_assert_cmpstr(first, ==, "ab");
  g_assert_cmpfloat(astro_fits_table_number(&t, two, 0), ==, 10.5);
  g_assert_cmpfloat(astro_fits_table_number(&t, two, 1), ==, 11);
  g_assert_cmpfloat(astro_fits_table_number(&t, one, 0), ==, 0);
  g_assert_cmpfloat(astro_fits_table_number(&t, small, 1), ==, 8);
  g_assert_true(astro_fits_table_read(&t, 1, &error));
  g_autofree char *second = astro_fits_table_text(&t, word);
  g_assert_cmpstr(second, ==, "c");
  g_assert_cmpfloat(astro_fits_table_number(&t, two, 0), ==, 9.5);
  g_assert_cmpfloat(astro_fits_table_number(&t, one, 0), ==, 1.5);
  g_assert_cmpfloat(astro_fits_table_number(&t, small, 1), ==, 200);
  astro_fits_table_clear(&t);
  astro_fits_file_close(file);
}

#define TEXT_TABLE(width)                                                                          \
  "XTENSION= 'TABLE   '", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = " width, "NAXIS2  = 1",         \
      "PCOUNT  = 0", "GCOUNT  = 1", "TFIELDS = 1", "TTYPE1  = 'X'"

/* One field each, as programs have them. */
static void text_fields(TestPlace *place, gconstpointer data)
{
  static const char *const primary[] = { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0", NULL };
  static const struct {
    const char *cards[16], *row;
    double value;
    const char *expect; /* NULL: the table is good */
  } tables[] = {
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.4'", "TBCOL1  = 1", NULL }, "    12.5000 ", 12.5, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'E12.4'", "TBCOL1  = 1", NULL }, "1.25E+01    ", 12.5, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'D12.4'", "TBCOL1  = 1", NULL },
      "  -1.25D-02 ",
      -0.0125,
      NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'I4'", "TBCOL1  = 3", NULL }, "77 -1277    ", -12, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F6'", "TBCOL1  = 7", NULL }, "999999 +.5   ", 0.5, NULL },
    /* without a decimal point, the format places it */
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.2'", "TBCOL1  = 1", NULL }, "        1250", 12.5, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'E12.3'", "TBCOL1  = 1", NULL }, " 1250E1     ", 12.5, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'I4'", "TBCOL1  = 1", "TSCAL1  = 0.5", "TZERO1  = 3.0", NULL },
      "  19        ",
      12.5,
      NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'I4'", "TBCOL1  = 1", "TNULL1  = '19'", NULL },
      "  19        ",
      NAN,
      NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F9.3'", "TBCOL1  = 1", "TNULL1  = '***'", NULL },
      "***         ",
      NAN,
      NULL },
    /* no numbers */
    { { TEXT_TABLE("12"), "TFORM1  = 'F8.3'", "TBCOL1  = 1", NULL }, "        12.5", NAN, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.3'", "TBCOL1  = 1", NULL }, "12:30:00.0  ", NAN, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.3'", "TBCOL1  = 1", NULL }, "0x1p3       ", NAN, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.3'", "TBCOL1  = 1", NULL }, "infinity    ", NAN, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.3'", "TBCOL1  = 1", NULL }, "1 2         ", NAN, NULL },
    { { TEXT_TABLE("12"), "TFORM1  = 'F12.3'", "TBCOL1  = 1", NULL }, "+           ", NAN, NULL },
    /* no tables */
    { { TEXT_TABLE("12"), "TFORM1  = 'F13.3'", "TBCOL1  = 1", NULL }, "", 0, "wider than a row" },
    { { TEXT_TABLE("12"), "TFORM1  = 'F6.3'", "TBCOL1  = 8", NULL }, "", 0, "wider than a row" },
    { { TEXT_TABLE("12"), "TFORM1  = 'F6.3'", "TBCOL1  = 0", NULL }, "", 0, "TBCOL" },
    { { TEXT_TABLE("12"), "TFORM1  = 'F6.3'", NULL }, "", 0, "TBCOL" },
    { { TEXT_TABLE("12"), "TFORM1  = 'F'", "TBCOL1  = 1", NULL }, "", 0, "an unknown type" },
    { { TEXT_TABLE("12"), "TFORM1  = '6F'", "TBCOL1  = 1", NULL }, "", 0, "an unknown type" },
    { { TEXT_TABLE("12"), "TFORM1  = 'F99999999999999999999.3'", "TBCOL1  = 1", NULL },
      "",
      0,
      "wider than a row" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
    GString *bytes = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    AstroFitsTable t;
    double value;
    add_header(bytes, primary);
    add_header(bytes, tables[i].cards);
    g_string_append_printf(bytes, "%-12s", tables[i].row);
    pad(bytes, ' ');
    AstroFitsFile *file = open_bytes(place, bytes, &error);
    g_assert_no_error(error);
    gboolean good = astro_fits_table_open(&t, file, astro_fits_file_header(file, 1), &error);
    g_test_message("%u: %s", i, good ? "" : error->message);
    g_assert_cmpint(good, ==, tables[i].expect == NULL);
    if (good) {
      g_assert_true(astro_fits_column_is_number(&t.columns[0]));
      astro_fits_table_values(&t, &t.columns[0], (const guint8 *)tables[i].row, 1, &value);
      g_assert_true(value == tables[i].value || (isnan(value) && isnan(tables[i].value)));
      astro_fits_table_clear(&t);
    } else {
      test_says(error->message, tables[i].expect);
    }
    astro_fits_file_close(file);
  }
}

/* Impossible headers of a table. */
static void bad_tables(TestPlace *place, gconstpointer data)
{
  static const char *const primary[] = { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0", NULL };
  static const struct {
    const char *cards[16], *expect;
  } tables[] = {
    { { TABLE("2", "4", "1"), "TFORM1  = '5A'", NULL }, "wider than a row" },
    { { TABLE("2", "4", "2"), "TFORM1  = '3A'", "TFORM2  = '1I'", NULL }, "wider than a row" },
    { { TABLE("2", "4", "1"), "TFORM1  = '99999999999999999999D'", NULL }, "wider than a row" },
    { { TABLE("2", "4", "1"), "TFORM1  = '1Z'", NULL }, "an unknown type" },
    { { TABLE("2", "4", "1"), NULL }, "an unknown type" },
    { { TABLE("2", "4", "1000"), NULL }, "999" },
    { { TABLE("2", "4", "-1"), NULL }, "999" },
    { { TABLE("1000", "1000", "0"), NULL }, "cut short" },
    { { TABLE("0", "9000000000000000000", "0"), NULL }, NULL },
  };
  for (guint i = 0; i < G_N_ELEMENTS(tables); i++) {
    GString *bytes = g_string_new(NULL);
    g_autoptr(GError) error = NULL;
    AstroFitsTable t;
    add_header(bytes, primary);
    add_header(bytes, tables[i].cards);
    g_string_append_c(bytes, 0);
    pad(bytes, 0);
    AstroFitsFile *file = open_bytes(place, bytes, &error);
    g_assert_no_error(error);
    const AstroFitsHeader *header = astro_fits_file_find_table(file, "A TABLE");
    g_assert_nonnull(header);
    g_assert_cmpint(astro_fits_table_open(&t, file, header, &error), ==, tables[i].expect == NULL);
    if (tables[i].expect) {
      g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT);
      g_assert_nonnull(strstr(error->message, tables[i].expect));
    } else {
      astro_fits_table_clear(&t);
    }
    astro_fits_file_close(file);
  }
}

static void bad_headers(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *cards[8], *expect;
  } headers[] = {
    { { "SIMPLE  = T", "NAXIS   = 0", NULL }, "BITPIX" },
    { { "SIMPLE  = T", "BITPIX  = 7", "NAXIS   = 0", NULL }, "BITPIX" },
    { { "SIMPLE  = T", "BITPIX  = 8", NULL }, "NAXIS" },
    { { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 17", NULL }, "NAXIS" },
    { { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1", NULL }, "NAXIS1" },
    { { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = -1", NULL }, "NAXIS1" },
    { { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 5000000000", "NAXIS2  = 5000000000",
        NULL },
      "NAXIS2" },
    { { "SIMPLE  = T", "BITPIX  = 64", "NAXIS   = 1", "NAXIS1  = 5000000000",
        "GCOUNT  = 5000000000", NULL },
      "GCOUNT" },
    { { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 1", "PCOUNT  = -1", NULL },
      "PCOUNT" },
    { { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1", "NAXIS1  = 1", "GCOUNT  = -1", NULL },
      "GCOUNT" },
  };
  g_autoptr(GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(headers); i++) {
    GString *bytes = g_string_new(NULL);
    add_header(bytes, headers[i].cards);
    g_assert_null(open_bytes(place, bytes, &error));
    g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, headers[i].expect));
    g_clear_error(&error);
  }
  static const gint lengths[] = { 5760, 2880, 2879, 9 }; /* of headers without an end */
  for (guint i = 0; i < G_N_ELEMENTS(lengths); i++) {
    GString *endless = g_string_new(NULL);
    g_string_append_printf(endless, "%-*s", lengths[i], "SIMPLE  = T");
    g_string_truncate(endless, (gsize)lengths[i]);
    g_assert_null(open_bytes(place, endless, &error));
    g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT);
    g_assert_nonnull(strstr(error->message, "cut short"));
    g_clear_error(&error);
  }
}

/* Pieces inside the part that was read last, across its end, beyond the file, and larger than
 * it. */
static void pieces(TestPlace *place, gconstpointer data)
{
  static const char *const cards[] = { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 1",
                                       "NAXIS1  = 3000000", NULL };
  static const struct {
    guint64 at;
    gsize bytes;
  } reads[] = { { 0, 10 },      { 2880, 5 },          { (1 << 20) - 2, 4 },
                { 7, 1 << 20 }, { 7, (1 << 20) + 1 }, { 3002870, 10 },
                { 100, 0 },     { 50, 2000000 } };
  GString *bytes = g_string_new(NULL);
  g_autoptr(GError) error = NULL;
  add_header(bytes, cards);
  gsize begin = bytes->len;
  g_string_set_size(bytes, begin + 3000000);
  test_fill(bytes->str + begin, 3000000, 5);
  g_autofree char *copy = g_memdup2(bytes->str, bytes->len);
  gsize length = bytes->len;
  AstroFitsFile *file = open_bytes(place, bytes, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(astro_fits_file_bytes(file), ==, length);
  for (guint i = 0; i < G_N_ELEMENTS(reads); i++) {
    guint8 *found = test_alloc(reads[i].bytes);
    g_assert_true(astro_fits_file_read(file, reads[i].at, found, reads[i].bytes, &error));
    g_assert_cmpmem(found, reads[i].bytes, copy + reads[i].at, reads[i].bytes);
    test_check_guard(found, reads[i].bytes);
    test_free(found);
  }
  char byte[20];
  g_assert_false(astro_fits_file_read(file, length - 10, byte, 20, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_FORMAT);
  astro_fits_file_close(file);
}

/* Answers that reading goes on as often as left says, and then gives it up for good. */
static gboolean runs_out(gpointer left)
{
  guint *more = left;
  return *more == 0 || --*more == 0;
}

/* A look that is given up at any point says nothing of what the file is. */
static void given_up(TestPlace *place, gconstpointer data)
{
  static const char *const cards[] = { "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 0", NULL },
                           *const more[] = { "XTENSION= 'IMAGE   '", "BITPIX  = 8", "NAXIS   = 1",
                                             "NAXIS1  = 10000", NULL };
  GString *bytes = g_string_new(NULL);
  add_header(bytes, cards);
  for (guint i = 0; i < 3; i++) {
    add_header(bytes, more);
    g_string_set_size(bytes, bytes->len + 4 * 2880);
  }
  g_assert_true(g_file_set_contents(place->path, bytes->str, bytes->len, NULL));
  g_string_free(bytes, TRUE);
  guint times = 0;
  for (AstroFitsFile *file = NULL; !file; times++) {
    guint left = times + 1;
    const AstroStop stop = { runs_out, &left };
    g_autoptr(GError) error = NULL;
    astro_stop_set(&stop);
    file = astro_fits_file_open(place->path, &error);
    astro_stop_set(NULL);
    if (!file) {
      g_assert_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_GIVEN_UP);
      continue;
    }
    g_assert_no_error(error);
    g_assert_nonnull(astro_fits_file_header(file, 3));
    astro_fits_file_close(file);
    break;
  }
  g_assert_cmpuint(times, >=, 3);
}

static void add_tests(void)
{
  static const TestPlaceCase cases[] = {
    { "values", values },           { "numbers", numbers },       { "table", table },
    { "text-fields", text_fields }, { "bad-tables", bad_tables }, { "bad-headers", bad_headers },
    { "pieces", pieces },           { "given-up", given_up },
  };
  test_add_places("/fits-file/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
