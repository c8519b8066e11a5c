/* Shared by tests of catalogues in files: tables written by CFITSIO, and catalogues read one after
 * the other. */
#pragma once

#include "core/fits/cfitsio.h"
#include "core/fits/fits.h"
#include "tests/core/fits/uvfits.h"

#include <math.h>

#define TEST_FIELDS 6
static char *const test_field_names[TEST_FIELDS] = {
  "Ra", "dEC", "Mag", "Weight", "REGION", "Name"
};

typedef struct {
  guint64 rows;
  const char *forms[TEST_FIELDS], *units[TEST_FIELDS], *name;
} TestTable;
static const TestTable test_plain = {
  3, { "D", "D", "E", "I", "B", "8A" }, { "deg", "deg" }, "STARS"
};

static inline double test_ra_of(guint64 i)
{
  return 360.0 * (i * 0.6180339887 - floor(i * 0.6180339887));
}
static inline double test_dec_of(guint64 i)
{
  return -90 + (double)(i * 7919 % 18001) / 100;
}
static inline double test_mag_of(guint64 i)
{
  return 10 + i % 97 / 8.0;
}

static inline fitsfile *test_begin_file(const char *path)
{
  fitsfile *f;
  int status = 0;
  g_unlink(path);
  fits_create_diskfile(&f, path, &status);
  fits_create_img(f, 8, 0, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  return f;
}

static inline void test_add_table(fitsfile *f, const TestTable *t)
{
  int status = 0;
  fits_create_tbl(f, BINARY_TBL, t->rows, TEST_FIELDS, (char **)test_field_names, (char **)t->forms,
                  (char **)t->units, t->name, &status);
  for (guint64 i = 0; i < t->rows; i++) {
    double radian = t->units[0] && g_ascii_tolower(t->units[0][0]) == 'r' ? G_PI / 180 : 1;
    double values[TEST_FIELDS - 1] = { test_ra_of(i) * radian, test_dec_of(i) * radian,
                                       test_mag_of(i), i % 1000, i % 11 };
    g_autofree char *text = g_strdup_printf("s%u", (guint)(i % 50));
    for (int c = 0; c < TEST_FIELDS - 1; c++)
      fits_write_col(f, TDOUBLE, c + 1, i + 1, 1, 1, &values[c], &status);
    fits_write_col(f, TSTRING, TEST_FIELDS, i + 1, 1, 1, &text, &status);
  }
  g_assert_cmpint(status, ==, 0);
}

static inline void test_end_file(fitsfile *f)
{
  int status = 0;
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static inline void test_make_table(TestPlace *place, const TestTable *t)
{
  fitsfile *f = test_begin_file(place->path);
  test_add_table(f, t);
  test_end_file(f);
}

static inline AstroFitsReader *test_open_good(const char *path, const AstroFitsOptions *options)
{
  GError *error = NULL;
  AstroFitsReader *reader = astro_fits_reader_open(path, options, &error);
  g_assert_no_error(error);
  return reader;
}

/* The next catalogue; NULL at the end. */
static inline double *test_read_next(AstroFitsReader *reader, guint64 *n)
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

static inline void test_expect_end(AstroFitsReader *reader)
{
  guint64 n;
  g_assert_null(test_read_next(reader, &n));
  g_assert_null(test_read_next(reader, &n));
  astro_fits_reader_close(reader);
}

/* Checks the error of opening or reading a file, which names the file and has these words. */
static inline void test_expect_refused(const char *path, const AstroFitsOptions *options,
                                       const char *says)
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
