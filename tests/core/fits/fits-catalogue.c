/* Catalogues read from FITS tables, binary, ASCII and packed, and from text. Files are made by
 * CFITSIO. */
#include "tests/comma.h"
#include "tests/core/fits/fits-catalogue.h"

#include <gio/gio.h>

static void rows(TestPlace *place, gconstpointer data)
{
  static const guint64 sizes[] = { 1, 7, 1000, 60001 };
  for (guint s = 0; s < G_N_ELEMENTS(sizes); s++) {
    TestTable t = test_plain;
    AstroFitsOptions options = { .columns = { .weight = "weight", .region = "5" } };
    guint64 n;
    t.rows = sizes[s];
    test_make_table(place, &t);
    AstroFitsReader *reader = test_open_good(place->path, &options);
    g_assert_cmpstr(astro_fits_reader_contents(reader)->columns, ==, "ra:dec:weight:region");
    double *found = test_read_next(reader, &n);
    g_assert_cmpuint(n, ==, t.rows);
    for (guint64 i = 0; i < n; i++) {
      g_assert_cmpfloat(found[i], ==, test_ra_of(i));
      g_assert_cmpfloat(found[n + i], ==, test_dec_of(i));
      g_assert_cmpfloat(found[2 * n + i], ==, i % 1000);
      g_assert_cmpfloat(found[3 * n + i], ==, i % 11);
    }
    test_free(found);
    test_expect_end(reader);
  }
}

/* Numbers of every type, in degrees and radians. */
static void types(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *form, *unit;
    double step; /* to which values are stored */
  } kinds[] = { { "D", "rad", 1e-12 }, { "E", "deg", 4e-5 },   { "E", "RADIANS", 4e-5 },
                { "I", "deg", 1 },     { "J", "Degrees", 1 },  { "K", "", 1 },
                { "D", NULL, 1e-12 },  { "D", " deg", 1e-12 }, { "1D", "degree", 1e-12 } };
  for (guint k = 0; k < G_N_ELEMENTS(kinds); k++) {
    TestTable t = test_plain;
    guint64 n;
    t.rows = 500;
    t.forms[0] = t.forms[1] = kinds[k].form;
    t.units[0] = t.units[1] = kinds[k].unit;
    test_make_table(place, &t);
    AstroFitsReader *reader = test_open_good(place->path, NULL);
    g_assert_cmpstr(astro_fits_reader_contents(reader)->columns, ==, "ra:dec");
    double *found = test_read_next(reader, &n);
    g_assert_cmpuint(n, ==, t.rows);
    for (guint64 i = 0; i < n; i++) {
      g_assert_cmpfloat_with_epsilon(found[i], test_ra_of(i), kinds[k].step);
      g_assert_cmpfloat_with_epsilon(found[n + i], test_dec_of(i), kinds[k].step);
    }
    test_free(found);
    test_expect_end(reader);
  }
}

/* Scaled integers, as CFITSIO reads them. */
static void scaled(TestPlace *place, gconstpointer data)
{
  TestTable t = test_plain;
  fitsfile *f = test_begin_file(place->path);
  int status = 0;
  guint64 n;
  t.forms[0] = "J";
  t.forms[1] = "I";
  test_add_table(f, &t);
  fits_write_key_dbl(f, "TSCAL1", 0.25, 10, NULL, &status);
  fits_write_key_dbl(f, "TZERO1", 7, 10, NULL, &status);
  fits_write_key_dbl(f, "TSCAL2", 0.01, 10, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  test_end_file(f);
  AstroFitsOptions options = { .where = "RA > 20" };
  AstroFitsReader *reader = test_open_good(place->path, &options);
  double *found = test_read_next(reader, &n);
  g_assert_cmpuint(n, ==, 2); /* 0, 222 and 84 are stored */
  g_assert_cmpfloat(found[0], ==, 222 * 0.25 + 7);
  g_assert_cmpfloat_with_epsilon(found[2], rint(test_dec_of(1)) * 0.01, 0.011);
  test_free(found);
  test_expect_end(reader);
}

/* Unsigned integers of 64 bits, as numpy writes them: TZERO is 2^63, beside which doubles lose the
 * last digits. */
static void no_sign(TestPlace *place, gconstpointer data)
{
  TestTable t = test_plain;
  fitsfile *f = test_begin_file(place->path);
  int status = 0;
  t.rows = 500;
  t.forms[4] = "W"; /* CFITSIO's name for it */
  test_add_table(f, &t);
  for (guint64 i = 0; i < t.rows; i++) {
    ULONGLONG region = i % 11;
    fits_write_col(f, TULONGLONG, 5, (LONGLONG)i + 1, 1, 1, &region, &status);
  }
  g_assert_cmpint(status, ==, 0);
  test_end_file(f);
  AstroFitsOptions options = { .columns = { .region = "region" }, .where = "region != 4" };
  guint64 n, at = 0;
  AstroFitsReader *reader = test_open_good(place->path, &options);
  double *found = test_read_next(reader, &n);
  for (guint64 i = 0; i < t.rows; i++)
    if (i % 11 != 4)
      g_assert_cmpfloat(found[2 * n + at++], ==, i % 11);
  g_assert_cmpuint(n, ==, at);
  test_free(found);
  test_expect_end(reader);
}

static void where(TestPlace *place, gconstpointer data)
{
  static const char *const expressions[] = { "MAG < 12.5", "name == 's7' || weight == 3",
                                             "ra > 100 && ra < 110 && region != 4", "1 == 1",
                                             "abs(dec) <= 0.5" };
  TestTable t = test_plain;
  t.rows = 60001; /* several pieces */
  test_make_table(place, &t);
  for (guint e = 0; e < G_N_ELEMENTS(expressions); e++) {
    AstroFitsOptions options = { .columns = { .region = "region" }, .where = expressions[e] };
    AstroFitsReader *reader = test_open_good(place->path, &options);
    guint64 n, at = 0;
    double *found = test_read_next(reader, &n);
    g_test_message("%s: %" G_GUINT64_FORMAT " rows", expressions[e], n);
    for (guint64 i = 0; i < t.rows; i++) {
      const gboolean keep[] = { test_mag_of(i) < 12.5, i % 50 == 7 || i % 1000 == 3,
                                test_ra_of(i) > 100 && test_ra_of(i) < 110 && i % 11 != 4, TRUE,
                                fabs(test_dec_of(i)) <= 0.5 };
      if (!keep[e])
        continue;
      g_assert_cmpuint(at, <, n);
      g_assert_cmpfloat(found[at], ==, test_ra_of(i));
      g_assert_cmpfloat(found[n + at], ==, test_dec_of(i));
      g_assert_cmpfloat(found[2 * n + at], ==, i % 11);
      at++;
    }
    g_assert_cmpuint(at, ==, n);
    test_free(found);
    test_expect_end(reader);
  }
}

/* ---- ASCII tables ---- */

#define TEXT_FIELDS 6
static char *const text_names[TEXT_FIELDS] = { "Id", "RA", "DEC", "Mag", "Weight", "Name" };
static char *const text_forms[TEXT_FIELDS] = { "I8", "D24.16", "F12.6", "E12.5", "F6.1", "A8" };
static char *const text_units[TEXT_FIELDS] = { "", "deg", "deg", "mag", "", "" };

/* Every third star has no magnitude, marked by TNULL; every fifth has no weight, which is left
 * blank. */
static void make_text_table(const char *path, guint64 rows)
{
  fitsfile *f = test_begin_file(path);
  int status = 0;
  fits_create_tbl(f, ASCII_TBL, (LONGLONG)rows, TEXT_FIELDS, (char **)text_names,
                  (char **)text_forms, (char **)text_units, "STARS", &status);
  fits_write_key_str(f, "TNULL4", "none", NULL, &status);
  fits_set_hdustruc(f, &status);
  for (guint64 i = 0; i < rows; i++) {
    double values[TEXT_FIELDS - 1] = { (double)i, test_ra_of(i), test_dec_of(i), test_mag_of(i),
                                       i % 100 + 0.5 };
    g_autofree char *name = g_strdup_printf("s%u", (guint)(i % 50));
    for (int c = 0; c < TEXT_FIELDS - 1; c++)
      if (c == 3 && i % 3 == 2)
        fits_write_col_null(f, c + 1, (LONGLONG)i + 1, 1, 1, &status);
      else if (c != 4 || i % 5 != 4)
        fits_write_col(f, TDOUBLE, c + 1, (LONGLONG)i + 1, 1, 1, &values[c], &status);
    fits_write_col(f, TSTRING, TEXT_FIELDS, (LONGLONG)i + 1, 1, 1, &name, &status);
  }
  g_assert_cmpint(status, ==, 0);
  test_end_file(f);
}

static void text_table(TestPlace *place, gconstpointer data)
{
  static const char *const expressions[] = { NULL, "MAG < 12.5", "WEIGHT > 0 && name == 's8'",
                                             "isnull(mag) && id > 1000" };
  const guint64 rows = 20001; /* several pieces */
  make_text_table(place->path, rows);
  for (guint e = 0; e < G_N_ELEMENTS(expressions); e++) {
    AstroFitsOptions options = { .columns = { .region = "ID" }, .where = expressions[e] };
    AstroFitsReader *reader = test_open_good(place->path, &options);
    guint64 n, at = 0;
    double *found = test_read_next(reader, &n);
    for (guint64 i = 0; i < rows; i++) {
      const gboolean keep[] = { TRUE, test_mag_of(i) < 12.5 && i % 3 != 2,
                                i % 5 != 4 && i % 50 == 8, i % 3 == 2 && i > 1000 };
      if (!keep[e])
        continue;
      g_assert_cmpuint(at, <, n);
      g_assert_cmpfloat_with_epsilon(found[at], test_ra_of(i), 1e-13);
      g_assert_cmpfloat_with_epsilon(found[n + at], test_dec_of(i), 1e-12);
      g_assert_cmpfloat(found[2 * n + at], ==, (double)i);
      at++;
    }
    g_assert_cmpuint(at, ==, n);
    test_free(found);
    test_expect_end(reader);
  }
}

/* A blank field is zero by the standard, but no weight for a catalogue. */
static void text_table_refused(TestPlace *place, gconstpointer data)
{
  AstroFitsOptions options = { .columns = { .weight = "weight" } },
                   mag = { .columns = { .weight = "mag" } }, name = { .columns = { .ra = "name" } };
  make_text_table(place->path, 10);
  test_expect_refused(place->path, &options, "point 5: column Weight is nan");
  test_expect_refused(place->path, &mag, "point 3: column Mag is nan");
  test_expect_refused(place->path, &name, "column Name holds 8 values of type A");
}

/* A locale with a decimal comma changes no number, neither in expressions nor in headers. */
static void where_with_commas(TestPlace *place, gconstpointer data)
{
  TestTable t = test_plain;
  fitsfile *f = test_begin_file(place->path);
  int status = 0;
  guint64 n, expected = 0;
  t.rows = 1000;
  t.forms[3] = "J";
  test_add_table(f, &t);
  fits_write_key_dbl(f, "TSCAL4", 0.25, 10, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  test_end_file(f);
  for (guint64 i = 0; i < t.rows; i++)
    expected += test_mag_of(i) < 12.5 && i % 1000 > 2.5 * 4;
  if (!comma_begin())
    return;
  AstroFitsOptions options = { .where = "MAG < 12.5 && WEIGHT > 2.5" };
  AstroFitsReader *reader = test_open_good(place->path, &options);
  double *found = test_read_next(reader, &n);
  comma_end();
  g_assert_cmpuint(n, ==, expected);
  test_free(found);
  test_expect_end(reader);
}

/* Rows that end in bytes outside all columns, arrays among other columns, columns without names. */
static void odd_tables(TestPlace *place, gconstpointer data)
{
  char *const odd[] = { "A'B", "", "RA", "DEC", "it is 5 % of what?" };
  char *const forms[] = { "1PE", "3X", "D", "D", "2C" };
  const double ra = 12, dec = -13;
  fitsfile *f = test_begin_file(place->path);
  int status = 0;
  guint64 n;
  fits_create_tbl(f, BINARY_TBL, 1, 5, (char **)odd, (char **)forms, NULL, "ODD", &status);
  fits_write_col(f, TDOUBLE, 3, 1, 1, 1, (void *)&ra, &status);
  fits_write_col(f, TDOUBLE, 4, 1, 1, 1, (void *)&dec, &status);
  fits_insert_col(f, 6, "LAST", "7D", &status);
  g_assert_cmpint(status, ==, 0);
  test_end_file(f);
  g_autofree char *bytes = NULL;
  gsize size;
  g_assert_true(g_file_get_contents(place->path, &bytes, &size, NULL));
  char *fields = g_strstr_len(bytes + 2880, 2880, "TFIELDS =                    6");
  g_assert_nonnull(fields);
  fields[29] = '5';
  g_assert_true(g_file_set_contents(place->path, bytes, size, NULL));
  AstroFitsOptions options = { .where = "RA == 12 && DEC == -13" };
  AstroFitsReader *reader = test_open_good(place->path, &options);
  double *found = test_read_next(reader, &n);
  g_assert_cmpuint(n, ==, 1);
  g_assert_cmpfloat(found[0], ==, ra);
  g_assert_cmpfloat(found[1], ==, dec);
  test_free(found);
  test_expect_end(reader);
}

/* The first table does not have the columns; later ones of the same name are catalogues too. */
static void several(TestPlace *place, gconstpointer data)
{
  char *const other[] = { "X" };
  char *const forms[] = { "D" };
  fitsfile *f = test_begin_file(place->path);
  int status = 0;
  guint64 n;
  TestTable t = test_plain;
  fits_create_tbl(f, BINARY_TBL, 0, 1, (char **)other, (char **)forms, NULL, "STARS", &status);
  g_assert_cmpint(status, ==, 0);
  test_add_table(f, &t);
  t.name = "OTHERS";
  test_add_table(f, &t);
  t.name = "STARS";
  t.rows = 5;
  test_add_table(f, &t);
  test_end_file(f);
  AstroFitsReader *reader = test_open_good(place->path, NULL);
  for (guint k = 0; k < 2; k++) {
    double *found = test_read_next(reader, &n);
    g_assert_cmpuint(n, ==, k ? 5 : 3);
    g_assert_cmpfloat(found[1], ==, test_ra_of(1));
    test_free(found);
  }
  test_expect_end(reader);
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
  TestTable t = test_plain;
  g_autofree char *bytes = NULL;
  gsize size;
  guint64 n;
  t.rows = 30000;
  test_make_table(place, &t);
  g_assert_true(g_file_get_contents(place->path, &bytes, &size, NULL));
  /* Two packed files, one after the other, and other bytes after them. */
  GBytes *first = pack(bytes, 100000), *second = pack(bytes + 100000, size - 100000);
  g_autoptr(GByteArray) packed = g_byte_array_new();
  g_byte_array_append(packed, g_bytes_get_data(first, NULL), g_bytes_get_size(first));
  g_byte_array_append(packed, g_bytes_get_data(second, NULL), g_bytes_get_size(second));
  guint whole = packed->len;
  g_byte_array_append(packed, (const guint8 *)"rest", 4);
  g_bytes_unref(first);
  g_bytes_unref(second);
  g_assert_true(g_file_set_contents(place->path, (char *)packed->data, packed->len, NULL));
  AstroFitsReader *reader = test_open_good(place->path, NULL);
  double *found = test_read_next(reader, &n);
  g_assert_cmpuint(n, ==, t.rows);
  for (guint64 i = 0; i < n; i++)
    g_assert_cmpfloat(found[n + i], ==, test_dec_of(i));
  test_free(found);
  test_expect_end(reader);

  g_assert_true(g_file_set_contents(place->path, (char *)packed->data, whole - 9, NULL));
  test_expect_refused(place->path, NULL, "cut short");
  packed->data[whole / 4] ^= 0xff;
  g_assert_true(g_file_set_contents(place->path, (char *)packed->data, whole, NULL));
  test_expect_refused(place->path, NULL, "cannot unpack");
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
    AstroFitsReader *reader = test_open_good(place->path, &options);
    double *found = test_read_next(reader, &n);
    static const double expected[] = { 10, 30, 20, -40, 1, 2 };
    g_assert_cmpuint(n, ==, 2);
    for (guint i = 0; i < (files[k].weight ? 6 : 4); i++)
      g_assert_cmpfloat(found[i], ==, expected[i]);
    test_free(found);
    test_expect_end(reader);
  }
}

static void add_tests(void)
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
  };
  test_add_places("/fits-catalogue/", cases, G_N_ELEMENTS(cases));
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
