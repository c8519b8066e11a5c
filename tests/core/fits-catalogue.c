/* Catalogues from FITS tables and text, tables into FITS files and CSV. Files are made, and ours
 * looked at, by CFITSIO. */
#include "core/fits/fits.h"
#include "core/fits/cfitsio.h"
#include "tests/comma.h"
#include "tests/core/uvfits.h"

#include <gio/gio.h>
#include <math.h>

/* ---- files by CFITSIO ---- */

#define FIELDS 6
static char *const field_names[FIELDS] = { "Ra", "dEC", "Mag", "Weight", "REGION", "Name" };

typedef struct {
  guint64 rows;
  const char *forms[FIELDS], *units[FIELDS], *name;
} Table;
static const Table plain = { 3, { "D", "D", "E", "I", "B", "8A" }, { "deg", "deg" }, "STARS" };

static double ra_of(guint64 i)
{
  return 360.0 * (i * 0.6180339887 - floor(i * 0.6180339887));
}
static double dec_of(guint64 i)
{
  return -90 + (double)(i * 7919 % 18001) / 100;
}
static double mag_of(guint64 i)
{
  return 10 + i % 97 / 8.0;
}

static fitsfile *begin(const char *path)
{
  fitsfile *f;
  int status = 0;
  g_unlink(path);
  fits_create_diskfile(&f, path, &status);
  fits_create_img(f, 8, 0, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  return f;
}

static void add_table(fitsfile *f, const Table *t)
{
  int status = 0;
  fits_create_tbl(f, BINARY_TBL, t->rows, FIELDS, (char **)field_names, (char **)t->forms,
                  (char **)t->units, t->name, &status);
  for (guint64 i = 0; i < t->rows; i++) {
    double radian = t->units[0] && g_ascii_tolower(t->units[0][0]) == 'r' ? G_PI / 180 : 1;
    double values[FIELDS - 1] = { ra_of(i) * radian, dec_of(i) * radian, mag_of(i), i % 1000,
                                  i % 11 };
    g_autofree char *text = g_strdup_printf("s%u", (guint)(i % 50));
    for (int c = 0; c < FIELDS - 1; c++)
      fits_write_col(f, TDOUBLE, c + 1, i + 1, 1, 1, &values[c], &status);
    fits_write_col(f, TSTRING, FIELDS, i + 1, 1, 1, &text, &status);
  }
  g_assert_cmpint(status, ==, 0);
}

static void end(fitsfile *f)
{
  int status = 0;
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static void make(TestPlace *place, const Table *t)
{
  fitsfile *f = begin(place->path);
  add_table(f, t);
  end(f);
}

/* ---- reading ---- */

static AstroFitsReader *open_good(const char *path, const AstroFitsOptions *options)
{
  GError *error = NULL;
  AstroFitsReader *reader = astro_fits_reader_open(path, options, &error);
  g_assert_no_error(error);
  return reader;
}

/* The next catalogue; NULL at the end. */
static double *read_next(AstroFitsReader *reader, guint64 *n)
{
  GError *error = NULL;
  gboolean end;
  if (!astro_fits_reader_next(reader, n, &end, &error)) {
    g_assert_no_error(error);
    g_assert_true(end);
    return NULL;
  }
  gsize bytes = *n * astro_stream_step_bytes(&astro_fits_reader_contents(reader)->stream);
  double *data = test_alloc(bytes);
  AstroFitsFrame frame = { .data = data };
  gboolean done = astro_fits_reader_read(reader, &frame, &end, &error);
  g_assert_no_error(error);
  g_assert_true(done);
  test_check_guard(data, bytes);
  return data;
}

static void expect_end(AstroFitsReader *reader)
{
  guint64 n;
  g_assert_null(read_next(reader, &n));
  g_assert_null(read_next(reader, &n));
  astro_fits_reader_close(reader);
}

/* The error of opening or reading a file, which names it and says so. */
static void expect_refused(const char *path, const AstroFitsOptions *options, const char *says)
{
  g_autoptr(GError) error = NULL;
  guint64 n;
  gboolean end = FALSE, good = TRUE;
  AstroFitsReader *reader = astro_fits_reader_open(path, options, &error);
  if (reader)
    good = astro_fits_reader_next(reader, &n, &end, &error);
  if (reader && good) {
    double *data = g_malloc(n * 4 * sizeof *data);
    AstroFitsFrame frame = { .data = data };
    good = astro_fits_reader_read(reader, &frame, &end, &error);
    g_free(data);
  }
  if (reader)
    astro_fits_reader_close(reader);
  g_assert_false(end);
  g_assert_nonnull(error);
  g_test_message("%s", error->message);
  g_assert_true(g_utf8_validate(error->message, -1, NULL));
  if (!strstr(error->message, says) || !strstr(error->message, path))
    g_error("\"%s\" does not say \"%s\"", error->message, says);
}

static void rows(TestPlace *place, gconstpointer data)
{
  static const guint64 sizes[] = { 1, 7, 1000, 60001 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    Table t = plain;
    AstroFitsOptions options = { .columns = { .weight = "weight", .region = "5" } };
    guint64 n;
    t.rows = sizes[s];
    make(place, &t);
    AstroFitsReader *reader = open_good(place->path, &options);
    g_assert_cmpstr(astro_fits_reader_contents(reader)->columns, ==, "ra:dec:weight:region");
    double *found = read_next(reader, &n);
    g_assert_cmpuint(n, ==, t.rows);
    for (guint64 i = 0; i < n; i++) {
      g_assert_cmpfloat(found[i], ==, ra_of(i));
      g_assert_cmpfloat(found[n + i], ==, dec_of(i));
      g_assert_cmpfloat(found[2 * n + i], ==, i % 1000);
      g_assert_cmpfloat(found[3 * n + i], ==, i % 11);
    }
    test_free(found);
    expect_end(reader);
  }
}

/* Numbers of every type, in degrees and radians. */
static void types(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *form, *unit;
    double step; /* to which values are stored */
  } kinds[] = { { "D", "rad", 1e-12 }, { "E", "deg", 4e-5 },     { "E", "RADIANS", 4e-5 },
                { "I", "deg", 1 },     { "J", "Degrees", 1 },    { "K", "", 1 },
                { "D", NULL, 1e-12 },  { "1D", "degree", 1e-12 } };
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
    Table t = plain;
    guint64 n;
    t.rows = 500;
    t.forms[0] = t.forms[1] = kinds[k].form;
    t.units[0] = t.units[1] = kinds[k].unit;
    make(place, &t);
    AstroFitsReader *reader = open_good(place->path, NULL);
    g_assert_cmpstr(astro_fits_reader_contents(reader)->columns, ==, "ra:dec");
    double *found = read_next(reader, &n);
    g_assert_cmpuint(n, ==, t.rows);
    for (guint64 i = 0; i < n; i++) {
      g_assert_cmpfloat_with_epsilon(found[i], ra_of(i), kinds[k].step);
      g_assert_cmpfloat_with_epsilon(found[n + i], dec_of(i), kinds[k].step);
    }
    test_free(found);
    expect_end(reader);
  }
}

/* Scaled integers, as CFITSIO reads them. */
static void scaled(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  fitsfile *f = begin(place->path);
  int status = 0;
  guint64 n;
  t.forms[0] = "J";
  t.forms[1] = "I";
  add_table(f, &t);
  fits_write_key_dbl(f, "TSCAL1", 0.25, 10, NULL, &status);
  fits_write_key_dbl(f, "TZERO1", 7, 10, NULL, &status);
  fits_write_key_dbl(f, "TSCAL2", 0.01, 10, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  end(f);
  AstroFitsOptions options = { .where = "RA > 20" };
  AstroFitsReader *reader = open_good(place->path, &options);
  double *found = read_next(reader, &n);
  g_assert_cmpuint(n, ==, 2); /* 0, 222 and 84 are stored */
  g_assert_cmpfloat(found[0], ==, 222 * 0.25 + 7);
  g_assert_cmpfloat_with_epsilon(found[2], rint(dec_of(1)) * 0.01, 0.011);
  test_free(found);
  expect_end(reader);
}

/* Integers of 64 bits with no sign, as numpy has them: TZERO is 2^63, which doubles do not see the
 * last digits beside. */
static void no_sign(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  fitsfile *f = begin(place->path);
  int status = 0;
  t.rows = 500;
  t.forms[4] = "W"; /* CFITSIO's name for it */
  add_table(f, &t);
  for (guint64 i = 0; i < t.rows; i++) {
    ULONGLONG region = i % 11;
    fits_write_col(f, TULONGLONG, 5, (LONGLONG)i + 1, 1, 1, &region, &status);
  }
  g_assert_cmpint(status, ==, 0);
  end(f);
  AstroFitsOptions options = { .columns = { .region = "region" }, .where = "region != 4" };
  guint64 n, at = 0;
  AstroFitsReader *reader = open_good(place->path, &options);
  double *found = read_next(reader, &n);
  for (guint64 i = 0; i < t.rows; i++)
    if (i % 11 != 4)
      g_assert_cmpfloat(found[2 * n + at++], ==, i % 11);
  g_assert_cmpuint(n, ==, at);
  test_free(found);
  expect_end(reader);
}

static void where(TestPlace *place, gconstpointer data)
{
  static const char *const expressions[] = { "MAG < 12.5", "name == 's7' || weight == 3",
                                             "ra > 100 && ra < 110 && region != 4", "1 == 1",
                                             "abs(dec) <= 0.5" };
  Table t = plain;
  t.rows = 60001; /* several pieces */
  make(place, &t);
  for (guint e = 0; e < G_N_ELEMENTS(expressions); e++) {
    AstroFitsOptions options = { .columns = { .region = "region" }, .where = expressions[e] };
    AstroFitsReader *reader = open_good(place->path, &options);
    guint64 n, at = 0;
    double *found = read_next(reader, &n);
    g_test_message("%s: %" G_GUINT64_FORMAT " rows", expressions[e], n);
    for (guint64 i = 0; i < t.rows; i++) {
      const gboolean keep[] = { mag_of(i) < 12.5, i % 50 == 7 || i % 1000 == 3,
                                ra_of(i) > 100 && ra_of(i) < 110 && i % 11 != 4, TRUE,
                                fabs(dec_of(i)) <= 0.5 };
      if (!keep[e])
        continue;
      g_assert_cmpuint(at, <, n);
      g_assert_cmpfloat(found[at], ==, ra_of(i));
      g_assert_cmpfloat(found[n + at], ==, dec_of(i));
      g_assert_cmpfloat(found[2 * n + at], ==, i % 11);
      at++;
    }
    g_assert_cmpuint(at, ==, n);
    test_free(found);
    expect_end(reader);
  }
}

/* ---- ASCII tables ---- */

#define TEXT_FIELDS 6
static char *const text_names[TEXT_FIELDS] = { "Id", "RA", "DEC", "Mag", "Weight", "Name" };
static char *const text_forms[TEXT_FIELDS] = { "I8", "D24.16", "F12.6", "E12.5", "F6.1", "A8" };
static char *const text_units[TEXT_FIELDS] = { "", "deg", "deg", "mag", "", "" };

/* Every third star has no magnitude, told by TNULL; every fifth none of its weight, which is left
 * blank. */
static void make_text_table(const char *path, guint64 rows)
{
  fitsfile *f = begin(path);
  int status = 0;
  fits_create_tbl(f, ASCII_TBL, (LONGLONG)rows, TEXT_FIELDS, (char **)text_names,
                  (char **)text_forms, (char **)text_units, "STARS", &status);
  fits_write_key_str(f, "TNULL4", "none", NULL, &status);
  fits_set_hdustruc(f, &status);
  for (guint64 i = 0; i < rows; i++) {
    double values[TEXT_FIELDS - 1] = { (double)i, ra_of(i), dec_of(i), mag_of(i), i % 100 + 0.5 };
    g_autofree char *name = g_strdup_printf("s%u", (guint)(i % 50));
    for (int c = 0; c < TEXT_FIELDS - 1; c++)
      if (c == 3 && i % 3 == 2)
        fits_write_col_null(f, c + 1, (LONGLONG)i + 1, 1, 1, &status);
      else if (c != 4 || i % 5 != 4)
        fits_write_col(f, TDOUBLE, c + 1, (LONGLONG)i + 1, 1, 1, &values[c], &status);
    fits_write_col(f, TSTRING, TEXT_FIELDS, (LONGLONG)i + 1, 1, 1, &name, &status);
  }
  g_assert_cmpint(status, ==, 0);
  end(f);
}

static void text_table(TestPlace *place, gconstpointer data)
{
  static const char *const expressions[] = { NULL, "MAG < 12.5", "WEIGHT > 0 && name == 's8'",
                                             "isnull(mag) && id > 1000" };
  const guint64 rows = 20001; /* several pieces */
  make_text_table(place->path, rows);
  for (guint e = 0; e < G_N_ELEMENTS(expressions); e++) {
    AstroFitsOptions options = { .columns = { .region = "ID" }, .where = expressions[e] };
    AstroFitsReader *reader = open_good(place->path, &options);
    guint64 n, at = 0;
    double *found = read_next(reader, &n);
    for (guint64 i = 0; i < rows; i++) {
      const gboolean keep[] = { TRUE, mag_of(i) < 12.5 && i % 3 != 2, i % 5 != 4 && i % 50 == 8,
                                i % 3 == 2 && i > 1000 };
      if (!keep[e])
        continue;
      g_assert_cmpuint(at, <, n);
      g_assert_cmpfloat_with_epsilon(found[at], ra_of(i), 1e-13);
      g_assert_cmpfloat_with_epsilon(found[n + at], dec_of(i), 1e-12);
      g_assert_cmpfloat(found[2 * n + at], ==, (double)i);
      at++;
    }
    g_assert_cmpuint(at, ==, n);
    test_free(found);
    expect_end(reader);
  }
}

/* What is left blank is zero to the standard, but no weight to a catalogue. */
static void text_table_refused(TestPlace *place, gconstpointer data)
{
  AstroFitsOptions options = { .columns = { .weight = "weight" } },
                   mag = { .columns = { .weight = "mag" } }, name = { .columns = { .ra = "name" } };
  make_text_table(place->path, 10);
  expect_refused(place->path, &options, "point 5: column Weight is nan");
  expect_refused(place->path, &mag, "point 3: column Mag is nan");
  expect_refused(place->path, &name, "column Name holds 8 of type A");
}

/* An application's decimal comma changes no number, neither the expression's nor the header's. */
static void where_with_commas(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  fitsfile *f = begin(place->path);
  int status = 0;
  guint64 n, expected = 0;
  t.rows = 1000;
  t.forms[3] = "J";
  add_table(f, &t);
  fits_write_key_dbl(f, "TSCAL4", 0.25, 10, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  end(f);
  for (guint64 i = 0; i < t.rows; i++)
    expected += mag_of(i) < 12.5 && i % 1000 > 2.5 * 4;
  if (!comma_begin())
    return;
  AstroFitsOptions options = { .where = "MAG < 12.5 && WEIGHT > 2.5" };
  AstroFitsReader *reader = open_good(place->path, &options);
  double *found = read_next(reader, &n);
  comma_end();
  g_assert_cmpuint(n, ==, expected);
  test_free(found);
  expect_end(reader);
}

/* Rows that end in bytes of no column, arrays elsewhere, names that are none. */
static void odd_tables(TestPlace *place, gconstpointer data)
{
  char *const odd[] = { "A'B", "", "RA", "DEC", "it is 5 % of what?" };
  char *const forms[] = { "1PE", "3X", "D", "D", "2C" };
  const double ra = 12, dec = -13;
  fitsfile *f = begin(place->path);
  int status = 0;
  guint64 n;
  fits_create_tbl(f, BINARY_TBL, 1, 5, (char **)odd, (char **)forms, NULL, "ODD", &status);
  fits_write_col(f, TDOUBLE, 3, 1, 1, 1, (void *)&ra, &status);
  fits_write_col(f, TDOUBLE, 4, 1, 1, 1, (void *)&dec, &status);
  fits_insert_col(f, 6, "LAST", "7D", &status);
  g_assert_cmpint(status, ==, 0);
  end(f);
  g_autofree char *bytes = NULL;
  gsize size;
  g_assert_true(g_file_get_contents(place->path, &bytes, &size, NULL));
  char *fields = g_strstr_len(bytes + 2880, 2880, "TFIELDS =                    6");
  g_assert_nonnull(fields);
  fields[29] = '5';
  g_assert_true(g_file_set_contents(place->path, bytes, size, NULL));
  AstroFitsOptions options = { .where = "RA == 12 && DEC == -13" };
  AstroFitsReader *reader = open_good(place->path, &options);
  double *found = read_next(reader, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpfloat(found[0], ==, ra);
  g_assert_cmpfloat(found[1], ==, dec);
  test_free(found);
  expect_end(reader);
}

/* A table without the columns comes first; later ones of the same name are catalogues too. */
static void several(TestPlace *place, gconstpointer data)
{
  char *const other[] = { "X" };
  char *const forms[] = { "D" };
  fitsfile *f = begin(place->path);
  int status = 0;
  guint64 n;
  Table t = plain;
  fits_create_tbl(f, BINARY_TBL, 0, 1, (char **)other, (char **)forms, NULL, "STARS", &status);
  g_assert_cmpint(status, ==, 0);
  add_table(f, &t);
  t.name = "OTHERS";
  add_table(f, &t);
  t.name = "STARS";
  t.rows = 5;
  add_table(f, &t);
  end(f);
  AstroFitsReader *reader = open_good(place->path, NULL);
  for (guint k = 0; k < 2; k++) {
    double *found = read_next(reader, &n);
    g_assert_cmpuint(n, ==, k ? 5 : 3);
    g_assert_cmpfloat(found[1], ==, ra_of(1));
    test_free(found);
  }
  expect_end(reader);
}

/* ---- gzip ---- */

static GBytes *pack(const char *data, gsize size)
{
  g_autoptr(GConverter) gzip =
      G_CONVERTER(g_zlib_compressor_new(G_ZLIB_COMPRESSOR_FORMAT_GZIP, -1));
  g_autoptr(GOutputStream) out = g_memory_output_stream_new_resizable();
  g_autoptr(GOutputStream) in = g_converter_output_stream_new(out, gzip);
  g_assert_true(g_output_stream_write_all(in, data, size, NULL, NULL, NULL));
  g_assert_true(g_output_stream_close(in, NULL, NULL));
  return g_memory_output_stream_steal_as_bytes(G_MEMORY_OUTPUT_STREAM(out));
}

static void gzip(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  g_autofree char *bytes = NULL;
  gsize size;
  guint64 n;
  t.rows = 30000;
  make(place, &t);
  g_assert_true(g_file_get_contents(place->path, &bytes, &size, NULL));
  /* As two packed files, one behind the other, and what is none behind them. */
  GBytes *first = pack(bytes, 100000), *second = pack(bytes + 100000, size - 100000);
  g_autoptr(GByteArray) packed = g_byte_array_new();
  g_byte_array_append(packed, g_bytes_get_data(first, NULL), g_bytes_get_size(first));
  g_byte_array_append(packed, g_bytes_get_data(second, NULL), g_bytes_get_size(second));
  guint whole = packed->len;
  g_byte_array_append(packed, (const guint8 *)"rest", 4);
  g_bytes_unref(first);
  g_bytes_unref(second);
  g_assert_true(g_file_set_contents(place->path, (char *)packed->data, packed->len, NULL));
  AstroFitsReader *reader = open_good(place->path, NULL);
  double *found = read_next(reader, &n);
  g_assert_cmpuint(n, ==, t.rows);
  for (guint64 i = 0; i < n; i++)
    g_assert_cmpfloat(found[n + i], ==, dec_of(i));
  test_free(found);
  expect_end(reader);

  g_assert_true(g_file_set_contents(place->path, (char *)packed->data, whole - 9, NULL));
  expect_refused(place->path, NULL, "cut short");
  packed->data[whole / 4] ^= 0xff;
  g_assert_true(g_file_set_contents(place->path, (char *)packed->data, whole, NULL));
  expect_refused(place->path, NULL, "cannot unpack");
}

/* ---- text ---- */

static void text(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *text, *ra, *weight;
  } files[] = { { "ra,dec,w\n10,20,1\n30,-40,2\n", NULL, NULL },
                { "w  DEC  RA # and more\n1 20 10\n2 -40 30\n", NULL, "W" },
                { "# no names\n10 20 1\n30 -40 2\n", NULL, "3" },
                { "10;20\n\n30;-40", "1", NULL } };
  for (guint k = 0; k < G_N_ELEMENTS(files); k++) {
    AstroFitsOptions options = { .columns = { .ra = files[k].ra, .weight = files[k].weight } };
    guint64 n;
    g_assert_true(g_file_set_contents(place->path, files[k].text, -1, NULL));
    AstroFitsReader *reader = open_good(place->path, &options);
    double *found = read_next(reader, &n);
    static const double expected[] = { 10, 30, 20, -40, 1, 2 };
    g_assert_cmpuint(n, ==, 2);
    for (guint i = 0; i < (files[k].weight ? 6 : 4); i++)
      g_assert_cmpfloat(found[i], ==, expected[i]);
    test_free(found);
    expect_end(reader);
  }
}

/* ---- what is refused ---- */

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
  make(place, &plain);
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++)
    expect_refused(place->path, &cases[k].options, cases[k].says);
}

static void refused_tables(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  t.units[1] = "hourangle";
  make(place, &t);
  expect_refused(place->path, NULL, "column dEC is in units of \"hourangle\", expected deg or rad");
  t = plain;
  t.forms[0] = "2D";
  make(place, &t);
  expect_refused(place->path, NULL, "expected one number");
  t = plain;
  t.rows = 0;
  make(place, &t);
  expect_refused(place->path, NULL, "table STARS: it has no rows");
  end(begin(place->path));
  expect_refused(place->path, NULL, "expected UVFITS");
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
    fitsfile *f = begin(place->path);
    int status = 0;
    double value = cases[k].value;
    add_table(f, &plain);
    fits_write_col(f, TDOUBLE, cases[k].column, 2, 1, 1, &value, &status);
    g_assert_cmpint(status, ==, 0);
    end(f);
    expect_refused(place->path, &options, cases[k].says);
    /* A filter may leave such rows out. */
    options.where = "name != 's1'";
    AstroFitsReader *reader = open_good(place->path, &options);
    guint64 n;
    double *found = read_next(reader, &n);
    g_assert_cmpuint(n, ==, 2);
    test_free(found);
    expect_end(reader);
    if (!isnan(cases[k].value))
      continue;
    options.where = "Ra==Ra && dEC==dEC"; /* as the message says */
    reader = open_good(place->path, &options);
    test_free(read_next(reader, &n));
    g_assert_cmpuint(n, ==, 2);
    expect_end(reader);
  }
}

/* An integer that stands for no value. */
static void blank(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  fitsfile *f = begin(place->path);
  int status = 0;
  AstroFitsOptions options = { .columns = { .weight = "weight" } };
  add_table(f, &t);
  fits_write_key_lng(f, "TNULL4", 2, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  end(f);
  expect_refused(place->path, &options, "point 3: column Weight is nan");
  options.where = "!ISNULL(weight)";
  AstroFitsReader *reader = open_good(place->path, &options);
  guint64 n;
  double *found = read_next(reader, &n);
  g_assert_cmpuint(n, ==, 2);
  test_free(found);
  expect_end(reader);
}

static void cut_short(TestPlace *place, gconstpointer data)
{
  Table t = plain;
  g_autofree char *bytes = NULL;
  gsize size;
  t.rows = 1000;
  make(place, &t);
  g_assert_true(g_file_get_contents(place->path, &bytes, &size, NULL));
  g_assert_true(g_file_set_contents(place->path, bytes, 2880 * 3 + 100, NULL));
  expect_refused(place->path, NULL, "cut short");
  g_assert_true(g_file_set_contents(place->path, bytes, 2880 + 100, NULL));
  expect_refused(place->path, NULL, "expected UVFITS");
}

static void refused_text(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *text;
    AstroFitsOptions options;
    const char *says;
  } cases[] = {
    { "l,b\n1,2\n", { .where = NULL }, "no column \"RA\"; there are: l, b" },
    { "ra,dec\n1,2\n", { .where = "ra > 0" }, "FITS tables only" },
    { "1,91\n", { .where = NULL }, "-90 to 90" },
    { "1,nan\n", { .where = NULL }, "no number" },
    { "ra,dec\n", { .where = NULL }, "no points" },
    { "ra,dec\n1,2\n\nra,dec\n", { .where = NULL }, "catalogue 2 has no points" },
    { "any words", { .where = NULL }, "SIMPLE" },
    { "\x01\x02", { .where = NULL }, "SIMPLE" },
    { "", { .where = NULL }, "is empty" },
  };
  for (guint k = 0; k < G_N_ELEMENTS(cases); k++) {
    g_assert_true(g_file_set_contents(place->path, cases[k].text, -1, NULL));
    expect_refused(place->path, &cases[k].options, cases[k].says);
  }
}

/* What downstream takes decides with the file. */
static void unwanted(TestPlace *place, gconstpointer data)
{
  AstroFitsOptions options = { .wanted = gst_caps_from_string("application/x-astro-visibilities") };
  make(place, &plain);
  expect_refused(place->path, &options, "found a catalogue");
  g_assert_true(g_file_set_contents(place->path, "1 2\n", -1, NULL));
  expect_refused(place->path, &options, "found text");
  gst_caps_unref(options.wanted);
  options.wanted = gst_caps_from_string("application/x-astro-catalogue");
  astro_fits_reader_close(open_good(place->path, &options));
  gst_caps_unref(options.wanted);
}

/* ---- writing ---- */

/* Writes buffers of rows, one after the other. */
static void write_file(const char *path, const char *caps_text, const double *data,
                       const guint64 *sizes, guint n)
{
  GError *error = NULL;
  AstroFitsContents contents = { .stations = 0 };
  g_autoptr(GstCaps) caps = gst_caps_from_string(caps_text);
  AstroFitsTally tally = { 0 };
  gboolean good = astro_fits_contents_from_caps(&contents, caps, &error);
  g_assert_no_error(error);
  const AstroFitsWriterKind *kind = astro_fits_writer_kind(contents.stream.quantity, path, &error);
  g_assert_no_error(error);
  AstroPartFile *file = astro_part_file_create(path, &error);
  gpointer writer = kind->create(file, &contents, &error);
  g_assert_no_error(error);
  guint64 n_values = 0;
  for (guint k = 0; k < n; k++) {
    AstroFitsFrames frames = { .data = data, .frames = sizes[k] };
    good = good && kind->write(writer, &frames, &tally, &error);
    guint64 values = sizes[k] * astro_stream_step_bytes(&contents.stream) / sizeof *data;
    data += values;
    n_values += values;
  }
  good = good && kind->finish(writer, &error) && astro_part_file_commit(file, &error);
  g_assert_no_error(error);
  g_assert_true(good);
  g_assert_cmpuint(tally.values, ==, n_values);
  g_assert_cmpuint(tally.not_finite, ==, 0);
  kind->destroy(writer);
  astro_fits_contents_clear(&contents);
}

static void write_catalogues(TestPlace *place, gconstpointer data)
{
  static const guint64 sizes[] = { 5, 0, 40000 };
  g_autofree double *points = g_new(double, 3 * 40005);
  AstroFitsOptions options = { .columns = { .weight = "weight" } };
  fitsfile *f;
  int status = 0, hdus = 0;
  long n_rows;
  for (guint i = 0; i < 3 * 40005; i++)
    points[i] = sin(i) * 89;
  write_file(place->path,
             "application/x-astro-catalogue, format=F64LE, layout=column:point, "
             "columns=ra:dec:weight",
             points, sizes, 3);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_get_num_hdus(f, &hdus, &status);
  g_assert_cmpint(hdus, ==, 4);
  for (guint k = 0; k < 3; k++) {
    char unit[FLEN_VALUE] = "";
    long version = 0;
    fits_movabs_hdu(f, k + 2, NULL, &status);
    fits_get_num_rows(f, &n_rows, &status);
    fits_read_key_str(f, "TUNIT2", unit, NULL, &status);
    fits_read_key_lng(f, "EXTVER", &version, NULL, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_cmpint(n_rows, ==, sizes[k]);
    g_assert_cmpint(version, ==, k + 1);
    g_assert_cmpstr(unit, ==, "deg");
  }
  double value;
  fits_read_col(f, TDOUBLE, 3, 40000, 1, 1, NULL, &value, NULL, &status);
  g_assert_cmpfloat(value, ==, points[3 * 40005 - 1]);
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);

  AstroFitsReader *reader = open_good(place->path, &options);
  guint64 n;
  double *found = read_next(reader, &n);
  g_assert_cmpmem(found, n * 3 * sizeof *found, points, 5 * 3 * sizeof *found);
  test_free(found);
  astro_fits_reader_close(reader);
}

#define CORRELATION                                                                                \
  "application/x-astro-correlation-function, format=F64LE, layout=column:bin, bins=3, "            \
  "columns=theta:w:cov0:cov1:cov2"

static void write_correlation(TestPlace *place, gconstpointer data)
{
  static const double table[] = { 1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
  static const guint64 one = 1;
  fitsfile *f;
  int status = 0, column = 0, type = 0;
  long repeat = 0;
  double row[3], w;
  char unit[FLEN_VALUE] = "";
  write_file(place->path, CORRELATION, table, &one, 1);
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"CORRELATION", 0, &status);
  fits_read_key_str(f, "TUNIT1", unit, NULL, &status);
  g_assert_cmpstr(unit, ==, "arcmin");
  fits_get_colnum(f, CASEINSEN, (char *)"cov", &column, &status);
  fits_get_coltype(f, column, &type, &repeat, NULL, &status);
  g_assert_cmpint(repeat, ==, 3);
  g_assert_cmpint(type, ==, TDOUBLE);
  for (guint k = 0; k < 3; k++) {
    fits_read_col(f, TDOUBLE, column, k + 1, 1, 3, NULL, row, NULL, &status);
    for (guint c = 0; c < 3; c++)
      g_assert_cmpfloat(row[c], ==, 10 + 3 * c + k);
  }
  fits_read_col(f, TDOUBLE, 2, 2, 1, 1, NULL, &w, NULL, &status);
  g_assert_true(isnan(w));
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static void write_csv(TestPlace *place, gconstpointer data)
{
  static const double table[] = { 1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18,
                                  1, 2, 3, 0.5, NAN, -0.25, 10, 11, 12, 13, 14, 15, 16, 17, 18 };
  static const guint64 ones[] = { 1, 1 };
  static const char expected[] = "theta,w,cov0,cov1,cov2\n1,0.5,10,13,16\n2,,11,14,17\n"
                                 "3,-0.25,12,15,18\n";
  g_autofree char *path = g_build_filename(place->folder, "t.CSV", NULL), *found = NULL;
  g_autofree char *twice = g_strconcat(expected, "\n", expected, NULL);
  write_file(path, CORRELATION, table, ones, 2);
  g_assert_true(g_file_get_contents(path, &found, NULL, NULL));
  g_assert_cmpstr(found, ==, twice);
  g_unlink(path);
}

static void too_many_columns(TestPlace *place, gconstpointer data)
{
  GError *error = NULL;
  GString *names = g_string_new("a");
  AstroFitsContents contents = { .stream = { .quantity = ASTRO_QUANTITY_CATALOGUE } };
  for (guint i = 0; i < 999; i++)
    g_string_append(names, ":b");
  contents.columns = g_string_free(names, FALSE);
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  const AstroFitsWriterKind *kind =
      astro_fits_writer_kind(ASTRO_QUANTITY_CATALOGUE, place->path, NULL);
  g_assert_null(kind->create(file, &contents, &error));
  g_assert_error(error, ASTRO_FITS_ERROR, ASTRO_FITS_ERROR_HEADER);
  g_error_free(error);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&contents);
}

int main(int argc, char **argv)
{
  static const TestPlaceCase cases[] = {
    { "rows", rows },
    { "types", types },
    { "scaled", scaled },
    { "no-sign", no_sign },
    { "where", where },
    { "text-table", text_table },
    { "text-table-refused", text_table_refused },
    { "where-with-commas", where_with_commas },
    { "odd-tables", odd_tables },
    { "several", several },
    { "gzip", gzip },
    { "text", text },
    { "refused-columns", refused_columns },
    { "refused-tables", refused_tables },
    { "refused-values", refused_values },
    { "refused-text", refused_text },
    { "blank", blank },
    { "cut-short", cut_short },
    { "unwanted", unwanted },
    { "write-catalogues", write_catalogues },
    { "write-correlation", write_correlation },
    { "write-csv", write_csv },
    { "too-many-columns", too_many_columns },
  };
  gst_init(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  test_add_places("/fits-catalogue/", cases, G_N_ELEMENTS(cases));
  int result = g_test_run();
  gst_deinit();
  return result;
}
