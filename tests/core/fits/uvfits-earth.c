/* Earth orientation in UVFITS: what we write, what is read back, and files of other programs. */
#include "core/lib/sky/earth-file.h"
#include "tests/core/fits/fits-key.h"
#include "tests/core/fits/uvfits-written.h"
#include "tests/earth-orientation.h"

static AstroEarth *days_of(const char *text)
{
  AstroLines lines;
  astro_lines_init(&lines, "finals2000A.all", g_strdup(text));
  AstroEarth *earth = astro_earth_from_lines(&lines, NULL);
  astro_lines_clear(&lines);
  return earth;
}

/* An integration of three stations on 2026-11-20, half an hour before midnight. */
static void write_file(const char *path, AstroEarth *earth)
{
  AstroFitsContents c = test_contents(3, 1, 2, ASTRO_FORMAT_CF32LE);
  c.observation->earth = earth;
  g_autofree gpointer data = test_make_data(&c, 1, 1);
  const AstroFitsFrames frames = { .data = data, .frames = 1, .duration_ns = 10 * GST_SECOND };
  test_write_uvfits(path, &c, &frames, 1, NULL);
  astro_fits_contents_clear(&c);
}

static AstroFitsReader *open_file(const char *path, const char *finals, GError **error)
{
  const AstroFitsOptions options = { .earth_orientation = finals };
  return astro_fits_reader_open(path, &options, error);
}

static const AstroEarth *earth_of(AstroFitsReader *reader)
{
  g_assert_nonnull(reader);
  return astro_fits_reader_contents(reader)->observation->earth;
}

static fitsfile *open_stations(const char *path)
{
  fitsfile *f;
  int status = 0;
  fits_open_diskfile(&f, path, READWRITE, &status);
  fits_movnam_hdu(f, BINARY_TBL, (char *)"AIPS AN", 1, &status);
  g_assert_cmpint(status, ==, 0);
  return f;
}

static void close_file(fitsfile *f)
{
  int status = 0;
  fits_close_file(f, &status);
  g_assert_cmpint(status, ==, 0);
}

/* Keywords for the reference day, for other programs; Greenwich's sidereal time is for UT1: 15.041
 * arcsec a second. */
static void test_keys(TestPlace *place, gconstpointer data)
{
  double sidereal[2];
  for (guint i = 0; i < 2; i++) {
    write_file(place->path, i ? days_of(test_finals_2026) : NULL);
    fitsfile *f = open_stations(place->path);
    g_assert_cmpfloat_with_epsilon(test_key_number(f, "UT1UTC"), i ? -0.0769478 : 0, 1e-12);
    g_assert_cmpfloat_with_epsilon(test_key_number(f, "POLARX"), i ? 0.114954 : 0, 1e-12);
    g_assert_cmpfloat_with_epsilon(test_key_number(f, "POLARY"), i ? 0.323707 : 0, 1e-12);
    test_key_text(f, "EARTHORI", i ? "finals2000A.all" : "none");
    sidereal[i] = test_key_number(f, "GSTIA0");
    close_file(f);
  }
  g_assert_cmpfloat_with_epsilon((sidereal[1] - sidereal[0]) * 3600, -0.0769478 * 15.041, 1e-5);
}

/* Every digit of every day. */
static void test_back(TestPlace *place, gconstpointer data)
{
  AstroEarth *written = days_of(test_finals_2026);
  char *finals = test_write_finals(test_finals_2026);
  g_autoptr(GError) error = NULL;
  write_file(place->path, astro_earth_ref(written));
  for (guint i = 0; i < 2; i++) {
    AstroFitsReader *reader = open_file(place->path, i ? finals : NULL, &error);
    const AstroEarth *read = earth_of(reader);
    g_assert_cmpstr(read->name, ==, "finals2000A.all");
    g_assert_cmpint(read->first_mjd, ==, written->first_mjd);
    g_assert_cmpmem(read->days, read->n * sizeof *read->days, written->days,
                    written->n * sizeof *written->days);
    astro_fits_reader_close(reader);
  }
  astro_earth_unref(written);
  test_remove_finals(finals);
}

/* That (u,v,w) were made with UT1 = UTC is recorded as well, and another orientation does not fit
 * them. */
static void test_none(TestPlace *place, gconstpointer data)
{
  char *finals = test_write_finals(test_finals_2026);
  g_autoptr(GError) error = NULL;
  write_file(place->path, astro_earth_new_none());
  AstroFitsReader *reader = open_file(place->path, NULL, &error);
  g_assert_cmpuint(earth_of(reader)->n, ==, 0);
  astro_fits_reader_close(reader);
  g_assert_null(open_file(place->path, finals, &error));
  test_says(error->message, "was computed with the Earth orientation none, UT1 = UTC");
  test_remove_finals(finals);
}

/* As other programs write it: without our keywords, and with one value. */
static void make_foreign(const char *path, double ut1_utc, double pole_x)
{
  int status = 0;
  write_file(path, NULL);
  fitsfile *f = open_stations(path);
  fits_delete_key(f, "EARTHORI", &status);
  fits_update_key(f, TDOUBLE, "UT1UTC", &ut1_utc, NULL, &status);
  fits_update_key(f, TDOUBLE, "POLARX", &pole_x, NULL, &status);
  g_assert_cmpint(status, ==, 0);
  close_file(f);
}

static void check_foreign(const char *path, const char *finals, double ut1_utc, const char *note)
{
  g_autoptr(GError) error = NULL;
  AstroFitsReader *reader = open_file(path, finals, &error);
  const AstroEarth *earth = earth_of(reader);
  const char *found = astro_fits_reader_contents(reader)->note;
  g_assert_true((earth != NULL) == (ut1_utc != 0));
  if (earth) {
    AstroEarthDay day;
    astro_earth_at(earth, 61364, 0.5, &day);
    g_assert_cmpfloat_with_epsilon(day.ut1_utc, ut1_utc, 1e-6);
  }
  if (note)
    test_says(found, note);
  else
    g_assert_cmpstr(found, ==, NULL);
  astro_fits_reader_close(reader);
}

/* One value is used if there is nothing better. A file of all days is better, and a value far from
 * it gives a warning; an impossible value is not used. */
static void test_foreign(TestPlace *place, gconstpointer data)
{
  char *finals = test_write_finals(test_finals_2026);
  make_foreign(place->path, 0, 0);
  check_foreign(place->path, NULL, 0, NULL);
  check_foreign(place->path, finals, -0.0778173, NULL);
  make_foreign(place->path, -0.0769, 0.1);
  check_foreign(place->path, NULL, -0.0769, NULL);
  make_foreign(place->path, 0.4, 0.1);
  check_foreign(place->path, NULL, 0.4, NULL);
  check_foreign(place->path, finals, -0.0778173,
                "table AIPS AN: UT1UTC, POLARX and POLARY differ by 7.2");
  make_foreign(place->path, 0.4, 3000);
  check_foreign(
      place->path, NULL, 0,
      "table AIPS AN: the pole is at x 3000, y 0 arcsec, expected at most 2: UT1UTC, POLARX "
      "and POLARY are not used");
  test_remove_finals(finals);
}

/* An error names the row or column of a broken table. */
static void test_broken(TestPlace *place, gconstpointer data)
{
  static const struct {
    const char *column; /* NULL: the whole of the first is renamed */
    double value;       /* in row 5 */
    const char *says;
  } cases[] = {
    { "MJD", 61366,
      "table EARTH ORIENTATION, row 5: MJD is 61366, expected 61365, one row per day" },
    { "UT1-UTC", 0.3, "2026-11-21: UT1 - UTC is 0.3 s and -0.0769478 s the day before" },
    { "POLE", 7, "2026-11-21: the pole is at x 7, y 0.324255 arcsec, expected at most 2" },
    { NULL, 0, "table EARTH ORIENTATION lacks column MJD of 1 numbers" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    int status = 0, column = 0;
    double value = cases[i].value;
    write_file(place->path, days_of(test_finals_2026));
    fitsfile *f = open_stations(place->path);
    fits_movnam_hdu(f, BINARY_TBL, (char *)"EARTH ORIENTATION", 0, &status);
    if (cases[i].column) {
      fits_get_colnum(f, CASEINSEN, (char *)cases[i].column, &column, &status);
      fits_write_col(f, TDOUBLE, column, 5, 1, 1, &value, &status);
    } else {
      fits_update_key(f, TSTRING, "TTYPE1", (char *)"DAY", NULL, &status);
    }
    g_assert_cmpint(status, ==, 0);
    close_file(f);
    g_assert_null(open_file(place->path, NULL, &error));
    test_says(error->message, cases[i].says);
    test_says(error->message, place->path);
  }
}

/* An integration after the last day is not written with that day's values. */
static void test_late(TestPlace *place, gconstpointer data)
{
  AstroFitsContents c = test_contents(3, 1, 2, ASTRO_FORMAT_CF32LE);
  AstroFitsTally tally = { 0 };
  c.observation->earth = days_of(test_finals_2026);
  g_autofree gpointer samples = test_make_data(&c, 1, 1);
  g_autoptr(GError) error = NULL;
  const AstroFitsFrames frames = {
    .data = samples, .frames = 1, .start_ns = 8 * 86400 * GST_SECOND, .duration_ns = 10 * GST_SECOND
  };
  AstroPartFile *file = astro_part_file_create(place->path, NULL);
  gpointer writer = astro_uvfits_writer.create(file, &c, NULL);
  g_assert_false(astro_uvfits_writer.write(writer, &frames, &tally, &error));
  test_says(error->message,
            "covers 2026-11-17 to 2026-11-28, but the stream has reached 2026-11-28");
  astro_uvfits_writer.destroy(writer);
  astro_part_file_discard(file);
  astro_fits_contents_clear(&c);
}

int main(int argc, char **argv)
{
  static const struct {
    const char *name;
    void (*test)(TestPlace *place, gconstpointer data);
  } tests[] = {
    { "/uvfits-earth/keys", test_keys },     { "/uvfits-earth/back", test_back },
    { "/uvfits-earth/none", test_none },     { "/uvfits-earth/foreign", test_foreign },
    { "/uvfits-earth/broken", test_broken }, { "/uvfits-earth/late", test_late },
  };
  test_init_gstreamer(&argc, &argv);
  g_test_init(&argc, &argv, NULL);
  for (guint i = 0; i < G_N_ELEMENTS(tests); i++)
    g_test_add(tests[i].name, TestPlace, NULL, test_place_set_up, tests[i].test,
               test_place_tear_down);
  const int result = g_test_run();
  gst_deinit();
  return result;
}
