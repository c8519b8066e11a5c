/* astrofitssink and astrofitssrc with catalogues and correlation functions. */
#include "tests/elements/astrofits.h"
#include "tests/elements/catalogues.h"

#include <fitsio.h>

static char *in_folder(TestFile *place, const char *name)
{
  return g_build_filename(place->folder, name, NULL);
}

static void remove_file(TestFile *place, const char *name)
{
  g_autofree char *path = in_folder(place, name);
  g_assert_cmpint(g_unlink(path), ==, 0);
}

static void make_catalogues(TestFile *place, const char *name, guint points, guint catalogues)
{
  test_check_launch(NULL, NULL,
                    "astrocatsrc points=%u catalogues=%u regions=5 ! astrofitssink location=%s/%s",
                    points, catalogues, place->folder, name);
}

/* Files in the order of their names, tables as they are, one a second. */
static void several_catalogues(TestFile *place, gconstpointer data)
{
  static const guint points[] = { 30, 30, 200, 10 };
  make_catalogues(place, "c2.fits", 200, 1);
  make_catalogues(place, "c1.fits", 30, 2);
  make_catalogues(place, "c3.fits.csv", 10, 1);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc name=file region-column=region location=%s/c?.fits* ! "
                      "appsink name=out",
                      place->folder);
  g_autofree char *message = NULL;
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 4);
  for (guint i = 0; i < 4; i++) {
    const GstStructure *caps = test_sample_caps(samples, i);
    GstBuffer *buffer = gst_sample_get_buffer(samples->pdata[i]);
    g_assert_cmpstr(gst_structure_get_name(caps), ==, "application/x-astro-catalogue");
    g_assert_cmpstr(gst_structure_get_string(caps, "columns"), ==, "ra:dec:region");
    g_assert_cmpstr(gst_structure_get_string(caps, "layout"), ==, "column:point");
    g_assert_cmpstr(gst_structure_get_string(caps, "format"), ==, "F64LE");
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, points[i] * 3 * sizeof(double));
    g_assert_cmpuint(GST_BUFFER_PTS(buffer), ==, i * GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_DURATION(buffer), ==, GST_SECOND);
    g_assert_cmpuint(GST_BUFFER_OFFSET(buffer), ==, i);
  }
  /* The catalogues that are read are those that were written. */
  g_autoptr(GPtrArray) made =
      test_samples("astrocatsrc points=30 catalogues=2 regions=5 ! appsink name=out", &message);
  for (guint i = 0; i < 2; i++) {
    gsize bytes, expected_bytes;
    g_autofree gpointer found = test_sample_data(samples, i, &bytes);
    g_autofree gpointer expected = test_sample_data(made, i, &expected_bytes);
    g_assert_cmpmem(found, bytes, expected, expected_bytes);
  }
  remove_file(place, "c1.fits");
  remove_file(place, "c2.fits");
  remove_file(place, "c3.fits.csv");
}

static void check_text(TestFile *place, const char *name, gboolean is_packed)
{
  static const char *const readers[] = {
    "astrofitssrc region-column=region location=%s ! appsink name=out",
    "astrocatsrc region-column=region location=%s ! appsink name=out",
  };
  g_autofree char *path = in_folder(place, name), *message = NULL, *text = NULL;
  make_catalogues(place, name, 30, 3);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_true(g_str_has_prefix(text, is_packed ? "\x1f\x8b" : "ra,dec,region\n"));
  g_autoptr(GPtrArray) made =
      test_samples("astrocatsrc points=30 catalogues=3 regions=5 ! appsink name=out", &message);
  for (guint r = 0; r < (is_packed ? 1 : G_N_ELEMENTS(readers)); r++) {
    g_autofree char *line = g_strdup_printf(readers[r], path);
    g_autoptr(GPtrArray) samples = test_samples(line, &message);
    g_assert_null(message);
    g_assert_cmpuint(samples->len, ==, 3);
    for (guint i = 0; i < 3; i++) {
      gsize bytes, expected_bytes;
      g_autofree gpointer found = test_sample_data(samples, i, &bytes);
      g_autofree gpointer expected = test_sample_data(made, i, &expected_bytes);
      g_assert_cmpmem(found, bytes, expected, expected_bytes);
      g_assert_cmpuint(GST_BUFFER_PTS(gst_sample_get_buffer(samples->pdata[i])), ==,
                       i * GST_SECOND);
    }
  }
  remove_file(place, name);
}

/* Text can hold several catalogues, to the last bit; also packed by gzip. */
static void csv_catalogues(TestFile *place, gconstpointer data)
{
  check_text(place, "c.csv", FALSE);
  check_text(place, "c.csv.gz", TRUE);
}

/* An ASCII table as CFITSIO writes it: numbers of all forms, text, one told by TNULL, one blank. */
static void make_ascii_table(const char *path)
{
  static const char *const names[] = { "ID", "RA", "DEC", "MAG", "W", "NAME" }, *const forms[] = {
    "I8", "D24.16", "F10.4", "E12.5", "F4.1", "A6"
  };
  static const double values[][5] = { { 1, 1 / 3., -10.25, 18.5, 1 },
                                      { 2, 2 / 3., -20.5, 0, 2 },
                                      { 3, 300.125, 90, 21, 0 } };
  fitsfile *f;
  int status = 0;
  char *star = (char *)"star";
  fits_create_diskfile(&f, path, &status);
  fits_create_tbl(f, ASCII_TBL, G_N_ELEMENTS(values), G_N_ELEMENTS(names), (char **)names,
                  (char **)forms, NULL, "STARS", &status);
  fits_write_key_str(f, "TNULL4", "-", NULL, &status);
  fits_set_hdustruc(f, &status);
  for (guint row = 0; row < G_N_ELEMENTS(values); row++) {
    for (guint c = 0; c < G_N_ELEMENTS(values[0]); c++)
      if (row == 1 && c == 3)
        fits_write_col_null(f, 4, 2, 1, 1, &status);
      else if (row != 2 || c != 4)
        fits_write_col(f, TDOUBLE, (int)c + 1, row + 1, 1, 1, (void *)&values[row][c], &status);
    fits_write_col(f, TSTRING, 6, row + 1, 1, 1, &star, &status);
  }
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

static void ascii_table(TestFile *place, gconstpointer data)
{
  static const double expected[] = { 1 / 3., 2 / 3., -10.25, -20.5, 1, 2 };
  g_autofree char *path = in_folder(place, "c.fits"), *message = NULL;
  make_ascii_table(path);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc location=%s weight-column=w where=\"DEC<0&&NAME=='star'\" ! "
                      "appsink name=out",
                      path);
  g_autoptr(GPtrArray) samples = test_samples(line, &message);
  g_assert_null(message);
  g_assert_cmpuint(samples->len, ==, 1);
  gsize bytes;
  g_autofree double *found = test_sample_data(samples, 0, &bytes);
  g_assert_cmpuint(bytes, ==, sizeof expected);
  for (guint i = 0; i < G_N_ELEMENTS(expected); i++)
    g_assert_cmpfloat_with_epsilon(found[i], expected[i], 1e-15);
  test_check_launch("point 3: column W is nan", path,
                    "astrofitssrc name=file location=%s weight-column=w ! fakesink", path);
  test_check_launch("point 2: column MAG is nan", path,
                    "astrofitssrc name=file location=%s weight-column=mag ! fakesink", path);
  remove_file(place, "c.fits");
}

/* Properties that are set meanwhile count for the next start. */
static void late_settings(TestFile *place, gconstpointer data)
{
  make_catalogues(place, "c1.fits", 30, 1);
  make_catalogues(place, "c2.fits", 40, 1);
  g_autofree char *line =
      g_strdup_printf("astrofitssrc name=file location=%s/c?.fits", place->folder);
  GstHarness *h = gst_harness_new_parse(line);
  gst_element_set_bus(h->element, place->bus);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  test_set_all_later(h);
  gst_harness_play(h);
  for (guint i = 0; i < 2; i++) {
    GstBuffer *buffer = gst_harness_pull(h);
    g_assert_nonnull(buffer);
    g_assert_cmpuint(gst_buffer_get_size(buffer), ==, (30 + 10 * i) * 2 * sizeof(double));
    gst_buffer_unref(buffer);
  }
  gst_element_set_bus(h->element, NULL);
  gst_harness_teardown(h);
  remove_file(place, "c1.fits");
  remove_file(place, "c2.fits");
}

static void catalogue_duration(TestFile *place, gconstpointer data)
{
  gint64 duration = 0;
  make_catalogues(place, "c1.fits", 10, 1);
  make_catalogues(place, "c2.fits", 10, 1);
  g_autofree char *line = g_strdup_printf("astrofitssrc location=%s/c*.fits", place->folder);
  GstHarness *h = gst_harness_new_parse(line);
  gst_harness_set_sink_caps(h, gst_caps_new_any());
  gst_harness_play(h);
  gst_buffer_unref(gst_harness_pull(h));
  g_assert_true(gst_element_query_duration(h->element, GST_FORMAT_TIME, &duration));
  g_assert_cmpint(duration, ==, 2 * GST_SECOND);
  gst_harness_teardown(h);
  remove_file(place, "c1.fits");
  remove_file(place, "c2.fits");
}

static void bad_catalogues(TestFile *place, gconstpointer data)
{
  g_autofree char *first = in_folder(place, "c1.fits");
  make_catalogues(place, "c1.fits", 10, 1);
  test_write_file(place, 1);
  test_check_launch("No file matches", place->folder,
                    "astrofitssrc name=file location=%s/x*.fits ! fakesink", place->folder);
  test_check_launch("there are: ra, dec, region", first,
                    "astrofitssrc name=file ra-column=alpha location=%s ! fakesink", first);
  test_check_launch("COLOUR", first, "astrofitssrc name=file where=COLOUR>1 location=%s ! fakesink",
                    first);
  test_check_launch("visibilities among 2 files", place->path,
                    "astrofitssrc name=file location=%s/[cv]* ! fakesink", place->folder);
  test_check_launch(
      "found a catalogue (a table), expected visibilities", first,
      "astrofitssrc name=file location=%s ! application/x-astro-visibilities ! fakesink", first);
  /* its tables are looked at */
  test_check_launch("AIPS AN: no column", place->path,
                    "astrofitssrc name=file location=%s ! application/x-astro-catalogue ! fakesink",
                    place->path);
  remove_file(place, "c1.fits");
}

/* A file whose second catalogue is bad fails in mid-stream. */
static void bad_later(TestFile *place, gconstpointer data)
{
  g_autofree char *text = in_folder(place, "c2.txt");
  make_catalogues(place, "c1.fits", 10, 1);
  g_assert_true(g_file_set_contents(text, "10 20\n30\n", -1, NULL));
  test_check_launch("line 2", text, "astrofitssrc name=file location=%s/c* ! fakesink",
                    place->folder);
  remove_file(place, "c1.fits");
  remove_file(place, "c2.txt");
}

static void empty_catalogue(TestFile *place, gconstpointer data)
{
  make_catalogues(place, "c.fits", 0, 1);
  test_check_launch("no rows", place->folder,
                    "astrofitssrc name=file location=%s/c.fits ! fakesink", place->folder);
  remove_file(place, "c.fits");
}

static void check_key(fitsfile *f, const char *key, const char *expected)
{
  int status = 0;
  char found[FLEN_VALUE] = "";
  fits_read_keyword(f, key, found, NULL, &status);
  g_assert_cmpstr(g_strstrip(found), ==, expected);
}

/* With an interval each table has the points and pairs of the random catalogues so far. */
static void told_of_correlations(TestFile *place, gconstpointer data)
{
  static const char *const random_points[] = { "200", "400", "600" }, *const rr_pairs[] = {
    "19900.0", "39800.0", "59700.0"
  };
  fitsfile *f;
  int status = 0;
  g_autofree char *path = in_folder(place, "w.fits");
  test_check_launch(NULL, NULL,
                    "astrohistogram name=h regions=4 interval=1 min-angle=1000 ! "
                    "astrotpacf estimator=hamilton ! astrofitssink location=%s  "
                    "astrocatsrc points=300 ! h.data  "
                    "astrocatsrc points=200 catalogues=3 seed=2 ! h.random",
                    path);
  fits_open_diskfile(&f, path, READONLY, &status);
  for (int t = 0; t < 3; t++) {
    fits_movabs_hdu(f, t + 2, NULL, &status);
    g_assert_cmpint(status, ==, 0);
    check_key(f, "ESTIMATR", "'hamilton'");
    check_key(f, "INTCONST", "0.0");
    check_key(f, "NREGIONS", "4");
    check_key(f, "NSAMPLES", "4");
    check_key(f, "NDATA", "300");
    check_key(f, "NRANDOM", random_points[t]);
    check_key(f, "NCATALOG", t == 0 ? "1" : t == 1 ? "2" : "3");
    check_key(f, "DDPAIRS", "44850.0");
    check_key(f, "RRPAIRS", rr_pairs[t]);
  }
  fits_close_file(f, &status);
  remove_file(place, "w.fits");
}

/* The sink says nothing about what it does not know, as with another program's histogram, nor about
 * earlier tables. */
static void not_told_of_correlation(TestFile *place, gconstpointer data)
{
  static const double table[] = { 1, 2, 3, 4 };
  fitsfile *f;
  int status = 0;
  char found[FLEN_VALUE];
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, "application/x-astro-correlation-function,format=F64LE,"
                                  "layout=column:bin,bins=2,columns=theta:w");
  gst_harness_push(h, gst_buffer_new_memdup(table, sizeof table));
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  fits_open_diskfile(&f, place->path, READONLY, &status);
  fits_movabs_hdu(f, 2, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  fits_read_keyword(f, "ESTIMATR", found, NULL, &status);
  g_assert_cmpint(status, ==, KEY_NO_EXIST);
  status = 0;
  fits_close_file(f, &status);
  gst_harness_teardown(h);
}

static void correlation(TestFile *place, gconstpointer data)
{
  static const char *const names[] = { "w.fits", "w.csv" };
  g_autofree char *text = NULL, *path = in_folder(place, "w.csv");
  for (guint i = 0; i < G_N_ELEMENTS(names); i++)
    test_check_launch(
        NULL, NULL,
        "astrohistogram name=h regions=4 min-angle=100 max-angle=10000 bins-per-decade=1 ! "
        "astrotpacf ! astrofitssink location=%s/%s  astrocatsrc points=300 ! h.data  "
        "astrocatsrc points=300 seed=2 ! h.random",
        place->folder, names[i]);
  g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
  g_assert_true(g_str_has_prefix(text, "theta,low,high,w,error,dd,dr,rr,cov0,cov1\n"));
  g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
  g_assert_cmpuint(g_strv_length(lines), ==, 4);
  remove_file(place, "w.csv");
  remove_file(place, "w.fits");
}

/* Two catalogues, the second without points, and the messages about their file. */
static void told_of_tables(TestFile *place, gconstpointer data)
{
  static const double points[] = { 1, 2, 3, -4, -5, -6 };
  guint64 tables = 0, n_rows = 0;
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, "application/x-astro-catalogue,format=F64LE,"
                                  "layout=column:point,columns=ra:dec");
  gst_harness_push(h, gst_buffer_new_memdup(points, sizeof points));
  gst_harness_push(h, gst_buffer_new());
  g_assert_true(gst_harness_push_event(h, gst_event_new_eos()));
  g_autoptr(GstMessage) message = gst_bus_pop_filtered(place->bus, GST_MESSAGE_ELEMENT);
  const GstStructure *file = gst_message_get_structure(message);
  g_assert_true(gst_structure_has_name(file, "astro-file"));
  g_assert_cmpstr(gst_structure_get_string(file, "location"), ==, place->path);
  g_assert_cmpstr(gst_structure_get_string(file, "columns"), ==, "ra:dec");
  g_assert_true(gst_structure_get_uint64(file, "tables", &tables));
  g_assert_true(gst_structure_get_uint64(file, "rows", &n_rows));
  g_assert_cmpuint(tables, ==, 2);
  g_assert_cmpuint(n_rows, ==, 3);
  gst_harness_teardown(h);
}

static void no_table(TestFile *place, gconstpointer data)
{
  GstHarness *h = test_new_sink(place);
  gst_harness_set_src_caps_str(h, "application/x-astro-correlation-function,format=F64LE,"
                                  "layout=column:bin,bins=3,columns=theta:w");
  g_assert_false(gst_harness_push_event(h, gst_event_new_eos()));
  test_expect_error(place, "before its first correlation function");
  gst_harness_teardown(h);
}

int main(int argc, char **argv)
{
  static const TestFileCase cases[] = {
    { "several-catalogues", several_catalogues },
    { "csv-catalogues", csv_catalogues },
    { "ascii-table", ascii_table },
    { "late-settings", late_settings },
    { "catalogue-duration", catalogue_duration },
    { "bad-catalogues", bad_catalogues },
    { "bad-later", bad_later },
    { "empty-catalogue", empty_catalogue },
    { "correlation", correlation },
    { "told-of-correlations", told_of_correlations },
    { "not-told-of-correlation", not_told_of_correlation },
    { "told-of-tables", told_of_tables },
    { "no-table", no_table },
  };
  return test_files(argc, argv, cases, G_N_ELEMENTS(cases));
}
