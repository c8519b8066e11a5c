/* Parsers of arrays and skies: what they read, and their errors. */
#include "core/kit/angle.h"
#include "core/lib/sky/array.h"
#include "core/lib/sky/sky.h"
#include "core/stream/uvw.h"
#include "tests/near.h"
#include "tests/tests.h"
#include <glib/gstdio.h>
#include <math.h>
#include <sys/stat.h>

#define DEGREE (G_PI / 180)

static AstroObservation *read_array(const char *text, guint n, const AstroSite *site,
                                    GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "a.txt", g_strdup(text));
  AstroObservation *observation = astro_array_from_lines(&lines, n, site, error);
  astro_lines_clear(&lines);
  return observation;
}

static AstroSky *read_sky(const char *text, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "s.txt", g_strdup(text));
  AstroSky *sky = astro_sky_from_lines(&lines, ASTRO_SOURCE_STEADY, error);
  astro_lines_clear(&lines);
  return sky;
}

static void test_presets(void)
{
  for (guint i = 0; astro_array_presets[i]; i++) {
    static const guint counts[] = { 1, 2, 3, 27, 64, 1000 };
    for (guint k = 0; k < G_N_ELEMENTS(counts); k++) {
      g_autoptr(GError) error = NULL;
      g_autoptr(AstroObservation) array =
          astro_array_new(astro_array_presets[i], counts[k], NULL, &error);
      g_assert_no_error(error);
      g_assert_cmpuint(array->n_stations, ==, counts[k]);
      g_assert_cmpstr(array->telescope, ==, astro_array_presets[i]);
      for (guint a = 0; a < MIN(counts[k], 64); a++) {
        const double *p = &array->positions[3 * a];
        g_assert_cmpfloat(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), >, 6.35e6);
        for (guint b = 0; b < a; b++) {
          const double *q = &array->positions[3 * b];
          double distance = sqrt(pow(p[0] - q[0], 2) + pow(p[1] - q[1], 2) + pow(p[2] - q[2], 2));
          g_assert_cmpfloat(distance, >, counts[k] > 64 ? 0 : 1);
          g_assert_cmpfloat(distance, <, 130e3);
        }
      }
    }
  }
  g_autoptr(AstroObservation) many = astro_array_new("disc", 0, NULL, NULL);
  g_assert_cmpuint(many->n_stations, ==, ASTRO_ARRAY_STATIONS);
  AstroSite north = { 80 * DEGREE, 0 };
  g_autoptr(AstroObservation) moved = astro_array_new("disc", 3, &north, NULL);
  g_assert_cmpfloat(moved->positions[2], >, 6.2e6);
  double centre[3];
  astro_array_centre(moved, centre);
  for (guint k = 0; k < 3; k++)
    test_near(centre[k],
              (moved->positions[k] + moved->positions[3 + k] + moved->positions[6 + k]) / 3, 1e-6);
}

static void test_array_files(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) array =
      read_array("# x y z\n\n3826577.1 461022.9\t5064892.8 CS001 # core\r\n"
                 "  3826600 461000 5064900\n3826577.1e0 -461022.9 +5064892.8 RS106",
                 0, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(array->n_stations, ==, 3);
  g_assert_cmpstr(array->names[0], ==, "CS001");
  g_assert_cmpstr(array->names[1], ==, "A002");
  g_assert_cmpstr(array->names[2], ==, "RS106");
  test_near(array->positions[0], 3826577.1, 0);
  test_near(array->positions[7], -461022.9, 0);

  AstroSite site = { 0, 90 * DEGREE };
  g_autoptr(AstroObservation) local = read_array("1 2 3\n0 0 0\n", 2, &site, &error);
  g_assert_no_error(error);
  test_near(local->positions[0], -1, 1e-6);
  test_near(local->positions[1], 6378140, 1e-6);
  test_near(local->positions[2], 2, 1e-6);

  /* The same place, given in the file; a site given beside it has priority. */
  g_autoptr(AstroObservation) own = read_array("site 0 90\n1 2 3\n0 0 0\n", 2, NULL, &error);
  g_assert_no_error(error);
  g_assert_cmpmem(own->positions, 6 * sizeof(double), local->positions, 6 * sizeof(double));
  g_autoptr(AstroObservation) given =
      read_array("site 50 7 100 # of these\n1 2 3\n0 0 0\n", 2, &site, &error);
  g_assert_no_error(error);
  g_assert_cmpmem(given->positions, 6 * sizeof(double), local->positions, 6 * sizeof(double));
  g_autoptr(AstroObservation) high = read_array("site 0 90 1000\n1 2 3\n", 0, NULL, &error);
  g_assert_no_error(error);
  test_near(high->positions[1], 6379140, 1e-6);
}

#define MARK "\xef\xbb\xbf"

/* Editors on Windows put it at the beginning, before a comment, a site or a number. */
static void test_byte_order_mark(void)
{
  static const char *const arrays[] = { MARK "# mine\nsite 50 7\n1 2 3\n",
                                        MARK "site 50 7\r\n1 2 3\r\n", MARK "\n6.4e6 0 0\n",
                                        MARK "6.4e6 0 0" };
  g_autoptr(GError) error = NULL;
  for (guint i = 0; i < G_N_ELEMENTS(arrays); i++) {
    g_autoptr(AstroObservation) array = read_array(arrays[i], 1, NULL, &error);
    g_assert_no_error(error);
    g_assert_nonnull(array);
  }
  g_autoptr(AstroSky) sky = read_sky(MARK "10 20 3\n", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sky->n, ==, 1);
}

static void test_array_errors(void)
{
  static const struct {
    const char *text;
    guint n;
    const char *says;
  } cases[] = {
    { "", 0, "0 stations found, expected 1" },
    { "# only this\n", 3, "0 stations found, expected 3" },
    { "6.4e6 0 0\n6.4e6 1 0\n", 3,
      "2 stations found, expected 3: set stations=2, the number in the file, or, in a simulation, "
      "0" },
    { "6.4e6 0 0\n\n6.4e6 1\n", 0, "a.txt:3: 2 fields found" },
    { "6.4e6 0 0 A 5\n", 0, "a.txt:1: 5 fields found" },
    { "6.4e6 0 zero\n", 0, "a.txt:1: z is \"zero\", expected metres" },
    { "6.4e6 1,5 0\n", 0, "a.txt:1: y is \"1,5\"" },
    { "nan 0 0\n", 0, "a.txt:1: x is \"nan\"" },
    { "1e300 0 0\n", 0, "a.txt:1: x is \"1e300\"" },
    { "6.4e6 0 0\n1 2 3\n", 0, "a.txt:2: (1, 2, 3) is inside the Earth: set latitude" },
    { "site 1 2\n6.4e6 0 0\n", 0, "a.txt:2: (6.4e6, 0, 0) cannot be metres east" },
    { "site 1\n", 0, "a.txt:1: 1 numbers of a site found, expected latitude" },
    { "site 1 2 3 4\n", 0, "a.txt:1: 4 numbers of a site found, expected latitude" },
    { "site 91 2\n", 0, "a.txt:1: latitude is \"91\", expected a number within 90 degrees" },
    { "site -30:42:00 2\n", 0, "latitude is \"-30:42:00\", expected a number within 90 degrees" },
    { "site 1 nan\n", 0, "longitude is \"nan\", expected a number within 360 degrees" },
    { "site 1 2 1km\n", 0, "height is \"1km\", expected a number within 1e+06 metres" },
    { "site 1 2\nsite 1 2\n", 0,
      "a.txt:2: found a site, expected it once and before all stations" },
    { "6.4e6 0 0\nsite 1 2\n", 0, "a.txt:2: found a site, expected it once and before" },
    { "site 1 2\n", 0, "0 stations found, expected 1" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(read_array(cases[i].text, cases[i].n, NULL, &error));
    g_assert_nonnull(error);
    test_says(error->message, cases[i].says);
  }
  g_autoptr(GError) error = NULL;
  const AstroSite site = { 52.9 * DEGREE, 6.9 * DEGREE };
  g_assert_null(read_array("3826577.1 461022.9 5064892.8\n", 0, &site, &error));
  test_says(error->message, "a.txt:1: (3826577.1, 461022.9, 5064892.8) cannot be metres east");
  g_clear_error(&error);
  g_assert_null(astro_array_new("no-such-array", 3, NULL, &error));
  g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE);
  g_assert_nonnull(strstr(error->message, "vla-like"));
  g_clear_error(&error);
  g_assert_null(astro_array_new("disc", 100000, NULL, &error));
  g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_VALUE);
  g_clear_error(&error);
  g_assert_null(astro_array_new("/", 3, NULL, &error));
  g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE);
}

static void test_angles(void)
{
  static const struct {
    const char *ra, *dec;
    double ra_degrees, dec_degrees;
  } good[] = {
    { "200.5", "-30", 200.5, -30 },
    { "13:31:08.3", "+30:30:33", 202.784583333333, 30.5091666666667 },
    { "00:00:00", "-0:30:00", 0, -0.5 },
    { "23:59:59.999", "89:59:59.9", 359.999995833333, 89.9999722222222 },
    { "-12:00:00", "-00:00:36.0", -180, -0.01 },
    { "1e2", "5:00:00", 100, 5 },
  };
  static const char *const bad[][2] = {
    { "24:00:00", "0" }, { "13:31", "0" },       { "13:60:00", "0" },   { "13:31:60", "0" },
    { "13:31:-1", "0" }, { "13:31:nan", "0" },   { "13.5:31:00", "0" }, { "::", "0" },
    { "1:2:3:4", "0" },  { "+-1:00:00", "0" },   { "", "0" },           { "0", "1: 2:3" },
    { "0", "1:2:" },     { "0", "13h31m08.3s" }, { "0", "1:2:1e" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(good); i++) {
    double ra, dec;
    g_assert_true(astro_angles_parse(good[i].ra, good[i].dec, &ra, &dec));
    test_near(ra, good[i].ra_degrees, 1e-12 * 360);
    test_near(dec, good[i].dec_degrees, 1e-12 * 90);
  }
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    double ra, dec;
    if (astro_angles_parse(bad[i][0], bad[i][1], &ra, &dec))
      g_error("%s,%s is taken for %g,%g", bad[i][0], bad[i][1], ra, dec);
  }
}

static void test_inline(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroSky) sky = astro_sky_new(" 0.5,-0.25,3 ; 0,0,1e-3;", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sky->n, ==, 2);
  g_assert_false(sky->is_celestial);
  test_near(sky->sources[0].lmn[0], 0.5, 0);
  test_near(sky->sources[0].lmn[1], -0.25, 0);
  test_near(sky->sources[0].lmn[2], sqrt(1 - 0.3125), 1e-15);
  test_near(sky->sources[0].flux, 3, 0);
  test_near(sky->sources[1].lmn[2], 1, 0);
  g_autoptr(AstroSky) empty = astro_sky_new("", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(empty->n, ==, 0);

  static const char *const bad[][2] = {
    { "0,0", "source 1 is \"0,0\": expected three numbers" },
    { "0,0,1;0,0,1,2", "source 2" },
    { "0,0,x", "expected three numbers" },
    { "0,,1", "expected three numbers" },
    { "0,0,inf", "expected three numbers" },
    { "1,0,1", "must be below 1" },
    { "0.8,0.7,1", "must be below 1" },
    { "0,-1.5,1", "must be below 1" },
    { "0,0,-1", "flux must be at least 0" },
    { "no-such-file", "neither a file nor a list" },
    { "/dev/null", "is not a regular file" },
    { "/", "is not a regular file" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) wrong = NULL;
    g_assert_null(astro_sky_new(bad[i][0], &wrong));
    g_assert_nonnull(wrong);
    test_says(wrong->message, bad[i][1]);
  }
}

/* Files without an end are refused, and a pipe is taken only where it is read once. */
static void test_no_files(void)
{
  g_autofree char *folder = g_dir_make_tmp("sky-XXXXXX", NULL);
  g_autofree char *pipe = g_build_filename(folder, "pipe", NULL);
  g_autoptr(GError) error = NULL;
  g_assert_null(astro_array_new("/dev/zero", 4, NULL, &error));
  g_assert_nonnull(error);
  test_says(error->message, "/dev/zero is a device, expected a text file");
  g_clear_error(&error);
  g_assert_cmpint(mkfifo(pipe, 0600), ==, 0);
  g_assert_null(astro_sky_new(pipe, &error));
  g_assert_nonnull(error);
  test_says(error->message, "is not a regular file");
  g_unlink(pipe);
  g_rmdir(folder);
}

static void test_sky_files(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroSky) sky =
      read_sky("# ra dec flux index\n180 45 2.5\n-170.5 -90 1 -0.7\n", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sky->n, ==, 2);
  g_assert_true(sky->is_celestial);
  test_near(sky->sources[0].ra, G_PI, 1e-15);
  test_near(sky->sources[0].dec, G_PI / 4, 1e-15);
  test_near(sky->sources[0].flux, 2.5, 0);
  test_near(sky->sources[1].spectral_index, -0.7, 0);
  g_autoptr(AstroSky) sixtieths = read_sky("12:00:00 +45:00:00 2.5\n", &error);
  g_assert_no_error(error);
  test_near(sixtieths->sources[0].ra, G_PI, 1e-15);
  test_near(sixtieths->sources[0].dec, G_PI / 4, 1e-15);

  static const char *const bad[][2] = {
    { "1 2\n", "s.txt:1: found \"1 2\", expected numbers" },
    { "1 2 3\n1 2 3 4 5\n", "s.txt:2" },
    { "1 91 3\n", "dec within 90" },
    { "400 0 3\n", "ra must be within 360" },
    { "1 2 -3\n", "flux must be at least 0" },
    { "1 2 3 99\n", "the spectral index" },
    { "10h20m30s 2 3\n", "expected numbers" },
    { "10:20:30 91:00:00 3\n", "dec within 90" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) wrong = NULL;
    g_assert_null(read_sky(bad[i][0], &wrong));
    g_assert_nonnull(wrong);
    test_says(wrong->message, bad[i][1]);
  }

  g_autofree char *path = NULL;
  gint fd = g_file_open_tmp("sky-XXXXXX", &path, &error);
  g_assert_no_error(error);
  g_close(fd, NULL);
  g_file_set_contents(path, "180 45 2.5\n", -1, &error);
  g_assert_no_error(error);
  g_autoptr(AstroSky) again = astro_sky_new(path, &error);
  g_assert_no_error(error);
  g_assert_cmpuint(again->n, ==, 1);
  g_file_set_contents(path, "180 45\0 2.5\n", 12, &error);
  g_assert_no_error(error);
  g_assert_null(astro_sky_new(path, &error));
  g_assert_error(error, ASTRO_SKY_ERROR, ASTRO_SKY_ERROR_FILE);
  g_unlink(path);
}

/* Words behind a source, in lists and in files alike. */
static void test_words(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroSky) sky =
      astro_sky_new("0,0,2, q=0.3,U=-0.4 , v=1e-3,rm=-12.5;0,0,1;0,0,0,line=1.42e9:2e5:3,"
                    "line=1.4e9:1e5:1;0,0,5,line=1e9:1e6:-5",
                    &error);
  g_assert_no_error(error);
  g_assert_cmpuint(sky->n, ==, 4);
  const AstroSource *source = sky->sources;
  test_near(source->quv[0], 0.3, 0);
  test_near(source->quv[1], -0.4, 0);
  test_near(source->quv[2], 1e-3, 0);
  test_near(source->rotation_measure, -12.5, 0);
  g_assert_true(astro_source_is_polarised(source) && !astro_source_is_plain(source));
  g_assert_true(astro_source_is_plain(source + 1));
  g_assert_cmpuint(source[2].n_lines, ==, 2);
  test_near(source[2].lines[1].frequency, 1.4e9, 0);
  test_near(source[2].lines[1].width, 1e5, 0);
  test_near(source[2].lines[1].flux, 1, 0);
  test_near(source[3].lines[0].flux, -5, 0);
  g_autoptr(AstroSky) file =
      read_sky("1 2 3 q=3\n1 2 3 -0.7 u=1 rm=5 line=1e9:1e6:2 # this\n", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(file->n, ==, 2);
  test_near(file->sources[0].quv[0], 3, 0);
  test_near(file->sources[1].spectral_index, -0.7, 0);
  test_near(file->sources[1].rotation_measure, 5, 0);
  g_assert_cmpuint(file->sources[1].n_lines, ==, 1);
  /* 0.6 and 0.8 are not exact, and yet all of 1. */
  g_autoptr(AstroSky) full = astro_sky_new("0,0,1,q=0.6,u=0.8", &error);
  g_assert_no_error(error);
  g_assert_cmpuint(full->n, ==, 1);

  static const char *const bad[][2] = {
    { "1 2 3\n1 2 3 q=2 u=2 v=2\n", "s.txt:2: found \"1 2 3 q=2 u=2 v=2\", q, u and v together "
                                    "are 3.4641 Jy, more than the flux of 3 Jy" },
    { "1 2 0 v=0.1\n", "more than the flux of 0 Jy" },
    { "1 2 3 q=x\n", "\"q=x\": expected a number" },
    { "1 2 3 q=\n", "\"q=\": expected a number" },
    { "1 2 3 q=nan\n", "\"q=nan\": expected a number" },
    { "1 2 3 q=1 q=1\n", "\"q=1\" comes a second time" },
    { "1 2 3 i=1\n", "\"i=1\" is not known, expected q=, u=, v= (Jy), rm=" },
    { "1 2 3 q=1 4\n", "\"4\" is not known" },
    { "1 2 3 =1\n", "\"=1\" is not known" },
    { "1 2 q=1\n", "expected numbers: ra dec flux" },
    { "q=1 2 3\n", "expected numbers: ra dec flux" },
    { "1 2 3 rm=1e12\n", "rotation measure must be within 1e+09" },
    { "1 2 3 line=1e9\n", "line=1e9: expected line=CENTRE:WIDTH:FLUX" },
    { "1 2 3 line=1e9:1e6:2:3\n", "expected line=CENTRE:WIDTH:FLUX" },
    { "1 2 3 line=1e9::2\n", "expected line=CENTRE:WIDTH:FLUX" },
    { "1 2 3 line=1e9:0:2\n", "expected a centre and a width above 0 Hz" },
    { "1 2 3 line=-1e9:5:2\n", "expected a centre and a width above 0 Hz" },
    { "1 2 3 line=1e9:1e6:-4\n",
      "the line at 1000000000 Hz absorbs 4 Jy, more than the flux of 3" },
    { "1 2 0 line=1e9:1e6:1 line=1e9:1e6:-1\n", "absorbs 1 Jy" },
    { "Sun 0 3\n", "s.txt:1: found \"Sun 0 3\", the Sun moves among the stars" },
    { "jupiter\n", "Jupiter moves among the stars" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) wrong = NULL;
    g_assert_null(read_sky(bad[i][0], &wrong));
    g_assert_nonnull(wrong);
    test_says(wrong->message, bad[i][1]);
  }
  g_autoptr(GError) wrong = NULL;
  g_assert_null(astro_sky_new("0,0,1;0,0,2,q=1,u=2", &wrong));
  test_says(wrong->message,
            "sky: source 2 is \"0,0,2,q=1,u=2\": q, u and v together are 2.23607 Jy");
  g_clear_error(&wrong);
  g_assert_null(astro_sky_new("moon", &wrong));
  test_says(wrong->message, "sky \"moon\": the Moon moves among the stars");
}

/* Lines whose centre is outside of the band. */
static void test_outside(void)
{
  g_autoptr(AstroSky) sky =
      astro_sky_new("0,0,1;0,0,1,line=1.45e9:1e6:1,line=1.5e9:1e6:1;0,0,1,line=1.3e9:1e6:-1", NULL);
  g_autofree char *outside = astro_sky_tell_outside(sky, 1.45e9, 20e6);
  test_says(outside,
            "the line of source 2 at 1500000000 Hz (and 1 more) is outside of the band from "
            "1440000000 to 1460000000 Hz");
  g_assert_null(astro_sky_tell_outside(sky, 1.4e9, 200e6));
}

static void test_resolve(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) array = astro_array_new("disc", 4, NULL, NULL);
  double centre[3];
  astro_array_centre(array, centre);
  g_assert_true(astro_observation_set_start(array, "2026-11-20T12:00:00", NULL));
  array->has_phase_centre = TRUE;
  astro_zenith(array, 0, centre, &array->phase_ra, &array->phase_dec);

  g_autofree char *text = g_strdup_printf("%.15g %.15g 1\n%.15g %.15g 1\n",
                                          array->phase_ra / DEGREE, array->phase_dec / DEGREE,
                                          array->phase_ra / DEGREE, array->phase_dec / DEGREE + 10);
  g_autoptr(AstroSky) sky = read_sky(text, &error);
  g_assert_no_error(error);
  g_assert_true(astro_sky_resolve(sky, array, &error));
  test_near(sky->sources[0].lmn[2], 1, 1e-12);
  test_near(sky->sources[1].lmn[0], 0, 1e-12);
  test_near(sky->sources[1].lmn[1], sin(10 * DEGREE), 1e-12);
  g_assert_true(astro_sky_check_horizon(sky, array, 0, &error));
  g_assert_false(astro_sky_check_horizon(sky, array, 43200 * GST_SECOND, &error));
  g_assert_nonnull(strstr(error->message, "below the horizon of disc"));
  g_clear_error(&error);
  /* Up again after a day, but not all the day. */
  g_assert_false(astro_sky_check_horizon(sky, array, 86164 * GST_SECOND, &error));
  g_clear_error(&error);

  g_autoptr(AstroSky) flat = astro_sky_new("0.1,0.2,1", &error);
  g_assert_true(astro_sky_resolve(flat, array, &error));
  double lmn[3];
  astro_lmn_from_direction(array, flat->sources[0].ra, flat->sources[0].dec, lmn);
  test_near(lmn[0], 0.1, 1e-12);
  test_near(lmn[1], 0.2, 1e-12);

  g_autofree char *behind = g_strdup_printf("%.15g %.15g 1\n", array->phase_ra / DEGREE - 180,
                                            -array->phase_dec / DEGREE);
  g_autoptr(AstroSky) hidden = read_sky(behind, &error);
  g_assert_no_error(error);
  g_assert_false(astro_sky_resolve(hidden, array, &error));
  g_assert_nonnull(strstr(error->message, "180.0 degrees from the phase centre"));
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/sky/presets", test_presets);
  g_test_add_func("/sky/array-files", test_array_files);
  g_test_add_func("/sky/byte-order-mark", test_byte_order_mark);
  g_test_add_func("/sky/array-errors", test_array_errors);
  g_test_add_func("/sky/angles", test_angles);
  g_test_add_func("/sky/inline", test_inline);
  g_test_add_func("/sky/no-files", test_no_files);
  g_test_add_func("/sky/files", test_sky_files);
  g_test_add_func("/sky/words", test_words);
  g_test_add_func("/sky/outside", test_outside);
  g_test_add_func("/sky/resolve", test_resolve);
  return g_test_run();
}
