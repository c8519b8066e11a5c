/* Earth orientation: the IERS's days compared with ERFA by another route, the equinox; leap
 * seconds; files that are refused; and two different orientations along a stream. */
#include "core/lib/sky/earth-error.h"
#include "core/lib/sky/earth-file.h"
#include "core/stream/track.h"
#include "tests/earth-orientation.h"
#include "tests/near.h"
#include <math.h>

#define ARCSEC (G_PI / 648000)
#define SECOND G_GINT64_CONSTANT(1000000000)

static const double stations[6] = { -1601185.4, -5041977.5, 3554875.9,
                                    3826577.1,  461022.9,   5064892.8 };

static AstroObservation *observe(const char *start, double ra, double dec)
{
  AstroObservation *o = astro_observation_new(2);
  memcpy(o->positions, stations, sizeof stations);
  g_assert_true(astro_observation_set_start(o, start, NULL));
  o->has_phase_centre = TRUE;
  o->phase_ra = ra;
  o->phase_dec = dec;
  return o;
}

static AstroEarth *parse(const char *text, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "/folder/finals", g_strdup(text));
  AstroEarth *earth = astro_earth_from_lines(&lines, error);
  astro_lines_clear(&lines);
  g_assert_true((earth != NULL) == (!error || !*error));
  return earth;
}

static const char *finals_of(const char *start)
{
  return g_str_has_prefix(start, "2026") ? test_finals_2026 : test_finals_2016;
}

/* Where the phase centre is in the frame of the earth, by pyerfa 2.0: pnm06a, gst06, pom00, c2teqx
 * and ab, with UT1 - UTC and the pole from the same days by Lagrange's formula in numpy. astropy
 * 7's ITRS differs only by the bending of light, 6 milliarcseconds. "moved" is the effect of these
 * days, arcsec. */
static void test_erfa(void)
{
  static const struct {
    const char *start;
    double seconds, ra, dec, toward[3], moved;
  } cases[] = {
    { "2026-11-20T00:00:00",
      0,
      3.2,
      0.6,
      { -0.470195885825371, 0.680120929187501, 0.562451198446608 },
      1.0605 },
    { "2026-11-20T12:00:00",
      0,
      3.2,
      0.6,
      { 0.464330130617027, -0.684141583219116, 0.562448063301507 },
      0.9769 },
    { "2026-11-25T19:12:00",
      5000.25,
      1.0,
      -0.4,
      { 0.663402141161648, 0.639760361055446, -0.388077672025002 },
      1.3059 },
    { "2016-12-31T23:59:30",
      0,
      5.9,
      1.2,
      { -0.194101288675589, -0.304203418496901, 0.932622629957731 },
      2.4203 },
    { "2016-12-31T23:59:30",
      3600,
      5.9,
      1.2,
      { -0.266395369788579, -0.243409867710849, 0.932622722892914 },
      2.4532 },
    { "2017-01-01T06:00:00",
      0,
      5.9,
      0.1,
      { -0.835952390546207, 0.539359466419859, 0.101365510521905 },
      8.8283 },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) o = observe(cases[i].start, cases[i].ra, cases[i].dec);
    const gint64 ns = (gint64)(cases[i].seconds * 1e9);
    double without[3][3], axes[3][3], moved = 0;
    astro_uvw_axes(o, ns, without);
    o->earth = parse(finals_of(cases[i].start), NULL);
    astro_uvw_axes(o, ns, axes);
    for (guint k = 0; k < 3; k++) {
      test_near(axes[2][k], cases[i].toward[k], 1e-5 * ARCSEC);
      moved = hypot(moved, axes[2][k] - without[2][k]);
    }
    test_near(moved / ARCSEC, cases[i].moved, 1e-4);
  }
}

/* UT1 has no leap seconds: nothing jumps at one, nor at midnight. */
static void test_continuity(void)
{
  static const char *const starts[] = { "2016-12-31T23:59:59", "2016-12-30T23:59:59" };
  for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
    g_autoptr(AstroObservation) o = observe(starts[i], 1, 0.5);
    double last[6], uvw[6];
    o->earth = parse(test_finals_2016, NULL);
    astro_uvw(o, 0, last);
    for (guint step = 1; step < 3000; step++) {
      astro_uvw(o, step * (SECOND / 1000), uvw);
      for (guint k = 0; k < 6; k++)
        test_near(uvw[k], last[k], 0.5);
      memcpy(last, uvw, sizeof last);
    }
  }
}

/* A moment is the same whichever side of the leap second it is counted from. */
static void test_leap_second(void)
{
  g_autoptr(AstroObservation) before = observe("2016-12-31T12:00:00", 1, 0.5);
  g_autoptr(AstroObservation) behind = observe("2017-01-01T12:00:00", 1, 0.5);
  double one[3][3], other[3][3];
  before->earth = parse(test_finals_2016, NULL);
  behind->earth = astro_earth_ref(before->earth);
  astro_uvw_axes(before, 86401 * SECOND, one);
  astro_uvw_axes(behind, 0, other);
  for (guint k = 0; k < 9; k++)
    test_near(one[k / 3][k % 3], other[k / 3][k % 3], 1e-5 * ARCSEC);
}

static void test_track(void)
{
  g_autoptr(AstroObservation) o = observe("2026-11-20T12:00:00", 1, 0.5);
  o->earth = parse(test_finals_2026, NULL);
  g_autoptr(AstroTrack) track = astro_track_new(o);
  for (gint64 i = 0; i < 400; i++) {
    const gint64 ns = i * 1007 * SECOND;
    double fast[3][3], exact[3][3];
    astro_track_axes(track, ns, fast);
    astro_uvw_axes(o, ns, exact);
    for (guint k = 0; k < 9; k++)
      test_near(fast[k / 3][k % 3], exact[k / 3][k % 3], 5e-12);
  }
}

/* The zenith agrees with the axes. */
static void test_zenith(void)
{
  g_autoptr(AstroObservation) o = observe("2026-11-20T12:00:00", 0, 0);
  double up[3], axes[3][3];
  o->earth = parse(test_finals_2026, NULL);
  astro_zenith(o, 1000 * SECOND, stations, &o->phase_ra, &o->phase_dec);
  astro_up(stations, up);
  astro_uvw_axes(o, 1000 * SECOND, axes);
  for (guint k = 0; k < 3; k++)
    test_near(axes[2][k], up[k], 1e-5 * ARCSEC);
}

/* The days themselves, parts of a file, and its ends. */
static void test_days(void)
{
  g_autoptr(AstroEarth) earth = parse(test_finals_2026, NULL);
  g_autoptr(AstroEarth) cut = astro_earth_cut(earth, 61366);
  g_autofree char *span = astro_earth_span(earth), *all = astro_earth_describe(earth);
  AstroEarthDay day;
  g_assert_cmpstr(earth->name, ==, "finals");
  g_assert_cmpuint(earth->n, ==, 12);
  g_assert_cmpstr(span, ==, "2026-11-17 to 2026-11-28");
  g_assert_cmpstr(all, ==, "finals (2026-11-17 to 2026-11-28)");
  astro_earth_at(earth, 61364, 0, &day);
  test_near(day.pole_x, 0.114954, 1e-12);
  test_near(day.pole_y, 0.323707, 1e-12);
  test_near(day.ut1_utc, -0.0769478, 1e-12);
  g_assert_cmpint(cut->first_mjd, ==, 61363);
  g_assert_cmpuint(cut->n, ==, 10);
  g_assert_true(astro_earth_covers(earth, 61361, 0));
  g_assert_true(astro_earth_covers(earth, 61371, 1));
  g_assert_false(astro_earth_covers(earth, 61360, 0.999));
  g_assert_false(astro_earth_covers(earth, 61372, 0.001));
  astro_earth_at(earth, 61300, 0.3, &day);
  test_near(day.ut1_utc, -0.0724465, 1e-12);
  astro_earth_at(earth, 61372, 500, &day);
  test_near(day.ut1_utc, -0.0866708, 1e-12);
}

/* Line ends of Windows, a byte order mark, and days after the predictions do no harm. */
static void test_other_text(void)
{
  g_auto(GStrv) lines = g_strsplit(test_finals_2026, "\n", -1);
  g_autofree char *windows = g_strjoinv("\r\n", lines);
  g_autofree char *longer = g_strconcat("\xef\xbb\xbf", windows, "261129 61373.00\r\n",
                                        "261130 61374.00      \r\n\r\n", NULL);
  g_autoptr(AstroEarth) earth = parse(longer, NULL);
  g_assert_cmpuint(earth->n, ==, 12);
}

/* The text with what stands on a line (from 0), from a column on (from 1), replaced. */
static char *change(const char *text, guint line, guint column, const char *with)
{
  char *changed = g_strdup(text), *at = changed;
  for (guint i = 0; i < line; i++)
    at = strchr(at, '\n') + 1;
  memcpy(at + column - 1, with, strlen(with));
  return changed;
}

static void test_refused(void)
{
  static const struct {
    guint line, column;
    const char *with, *error;
  } cases[] = {
    { 2, 8, "x1363.00",
      "/folder/finals:3: columns 8 to 15 hold \"x1363.00\", expected the modified Julian date" },
    { 2, 8, "61363.50", ":3: the modified Julian date is 61363.5, expected a day from 0 to" },
    { 2, 8, "61364.00", ":3: the modified Julian date is 61364, expected 61363: one line per day" },
    { 3, 19, " 0.11 954", ":4: columns 19 to 27 hold \"0.11 954\", expected the pole's x" },
    { 3, 38, "      nan", ":4: columns 38 to 46 hold \"nan\", expected the pole's y" },
    { 3, 38, " 9.323707", ":4: the pole is at x 0.114954, y 9.32371 arcsec, expected at most 2" },
    { 4, 59, "          ", ":5: columns 59 to 68 hold \"\", expected UT1 - UTC in seconds" },
    { 4, 59, "-0.1786882",
      ":5: UT1 - UTC is -0.178688 s and -0.0769478 s the day before, expected a change of" },
    { 4, 59, "-990786882", ":5: UT1 - UTC is -9.90787e+08 s, expected at most 100" },
    { 4, 19, "                                                  ",
      "/folder/finals:6: found values again after days without any" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = change(test_finals_2026, cases[i].line, cases[i].column, cases[i].with);
    g_autoptr(GError) error = NULL;
    g_assert_null(parse(text, &error));
    test_says(error->message, cases[i].error);
  }
}

static void test_too_short(void)
{
  static const char *const texts[] = { "", "261117 61361.00\n", "\n\n" };
  for (guint i = 0; i < G_N_ELEMENTS(texts); i++) {
    g_autoptr(GError) error = NULL;
    g_assert_null(parse(texts[i], &error));
    test_says(error->message, "/folder/finals has 0 days of UT1 - UTC, expected 4 or more");
  }
  g_autofree char *three = g_strndup(test_finals_2026, 3 * 79);
  g_autoptr(GError) error = NULL;
  g_assert_null(parse(three, &error));
  test_says(error->message, "has 3 days");
}

static void refuse_amend(AstroObservation *o, const char *path, const char *expected)
{
  g_autoptr(GError) error = NULL;
  g_assert_false(astro_earth_amend(o, path, &error));
  test_says(error->message, expected);
}

/* An Earth orientation that an observation has stays, and a different one is refused by name. */
static void test_amend(void)
{
  char *path = test_write_finals(test_finals_2026);
  g_autofree char *changed_text = change(test_finals_2026, 3, 59, "-0.0769578"); /* 10 us */
  char *changed = test_write_finals(changed_text);
  g_autofree char *name = g_path_get_basename(path);
  g_autoptr(AstroObservation) o = observe("2026-11-20T12:00:00", 1, 0.5);
  g_autoptr(AstroObservation) early = observe("2016-12-31T12:00:00", 1, 0.5);
  g_autoptr(AstroObservation) none = observe("2026-11-20T12:00:00", 1, 0.5);
  g_autoptr(AstroObservation) startless = astro_observation_new(0);
  gboolean is_assumed;

  g_assert_true(astro_earth_amend(o, NULL, NULL));
  g_assert_true(astro_earth_amend(o, "", NULL));
  g_assert_null(o->earth);
  g_assert_true(astro_earth_amend(o, path, NULL));
  g_assert_cmpstr(o->earth->name, ==, name);
  g_assert_cmpint(o->earth->first_mjd, ==, 61361);
  g_assert_true(astro_earth_amend(o, path, NULL));
  g_assert_true(astro_earth_settle(o, NULL, &is_assumed, NULL));
  g_assert_false(is_assumed);
  refuse_amend(o, changed,
               "sources differ by up to 0.00015 arcsec. Expected the same file from the source "
               "on, or earth-orientation unset here");
  refuse_amend(early, path,
               " covers 2026-11-17 to 2026-11-28, but the observation starts at "
               "2016-12-31T12:00:00.000000000Z");
  refuse_amend(startless, path, "the observation has no start");
  refuse_amend(o, "/nowhere/finals", "/nowhere/finals");
  refuse_amend(o, "/nowhere/finals", "earth-orientation: "); /* whose file it is */
  g_assert_true(astro_earth_settle(none, "", &is_assumed, NULL));
  g_assert_true(is_assumed);
  refuse_amend(none, path,
               "was computed with the Earth orientation none, UT1 = UTC: sources differ by "
               "up to 1.23 arcsec");
  test_remove_finals(path);
  test_remove_finals(changed);
}

static void test_check_time(void)
{
  g_autoptr(AstroObservation) o = observe("2026-11-27T12:00:00", 1, 0.5);
  g_autoptr(GError) error = NULL;
  g_assert_true(astro_uvw_check_time(o, G_MAXINT64 / 2, &error));
  o->earth = parse(test_finals_2026, NULL);
  g_assert_true(astro_uvw_check_time(o, 43200 * SECOND, &error));
  g_assert_false(astro_uvw_check_time(o, 43201 * SECOND, &error));
  g_assert_cmpstr(error->message, ==,
                  "the Earth orientation of finals covers 2026-11-17 to 2026-11-28, but the stream "
                  "has reached 2026-11-28T00:00:01.000000000Z: expected a file that covers it, or "
                  "another start");
}

/* Days travel with the observation, and so does the statement that there are none. */
static void test_event(void)
{
  g_autoptr(AstroObservation) o = observe("2026-11-20T12:00:00", 1, 0.5);
  for (guint i = 0; i < 3; i++) {
    g_clear_pointer(&o->earth, astro_earth_unref);
    o->earth = i == 0 ? NULL : i == 1 ? astro_earth_new_none() : parse(test_finals_2026, NULL);
    g_autoptr(GstEvent) event = astro_observation_to_event(o);
    g_autoptr(GError) error = NULL;
    g_autoptr(AstroObservation) back = astro_observation_from_event(event, &error);
    g_assert_no_error(error);
    g_assert_true((back->earth != NULL) == (o->earth != NULL));
    if (!o->earth)
      continue;
    g_assert_cmpstr(back->earth->name, ==, o->earth->name);
    g_assert_cmpuint(back->earth->n, ==, o->earth->n);
    g_assert_cmpint(back->earth->first_mjd, ==, o->earth->first_mjd);
    g_assert_cmpmem(back->earth->days, back->earth->n * sizeof(AstroEarthDay), o->earth->days,
                    o->earth->n * sizeof(AstroEarthDay));
  }
}

/* Days that an application gives are checked like those of a file. */
static void test_bad_events(void)
{
  static const struct {
    const char *fields, *says;
  } cases[] = {
    { "earth-orientation=(int)1", "field \"earth-orientation\" is gint 1, expected a string" },
    { "earth-orientation-mjd=61361", "field \"earth-orientation\" is missing" },
    { "earth-orientation=finals,earth-orientation-mjd=(guint64)61361",
      "expected an int, a day of years" },
    { "earth-orientation=finals,earth-orientation-days=<0.0>",
      "\"earth-orientation-mjd\" is missing" },
    { "earth-orientation=finals,earth-orientation-mjd=61361",
      "field \"earth-orientation-days\" is missing" },
    { "earth-orientation=finals,earth-orientation-mjd=61361,earth-orientation-days=<0.0,x>",
      "Earth orientation finals has 0 days, expected 4 or more" },
    { "earth-orientation=finals,earth-orientation-mjd=61361,earth-orientation-days=<0.1,0.2,nan,0."
      "1,0.2,"
      "0.3,0.1,0.2,0.3,0.1,0.2,0.3>",
      "earth-orientation-days[2] is not a finite double" },
    { "earth-orientation=finals,earth-orientation-mjd=61361,earth-orientation-days=<0.1,0.2,0.3,0."
      "1,0.2,"
      "0.3,0.1,0.2,0.4,0.1,0.2,0.3>",
      "Earth orientation finals, 2026-11-19: UT1 - UTC is 0.4 s and 0.3 s the day before" },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autofree char *text = g_strconcat("astro-observation,stations=<a>,positions=<1.0,2.0,3.0>,",
                                        cases[i].fields, NULL);
    GstStructure *s = gst_structure_from_string(text, NULL);
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(s);
    g_autoptr(GstEvent) event = gst_event_new_custom(GST_EVENT_CUSTOM_DOWNSTREAM_STICKY, s);
    g_assert_null(astro_observation_from_event(event, &error));
    test_says(error->message, cases[i].says);
  }
}

/* The effect of UT1 = UTC is less than a tenth of the beam of 100 m at 150 MHz, but more than that
 * of 9000 km. */
static void test_errors(void)
{
  g_autoptr(AstroObservation) o = observe("2026-11-20T12:00:00", 1, 0);
  const double error = astro_earth_error_of_delays(o);
  double beam;
  test_near(error, 13.5, 0.1);
  test_near(astro_earth_error_of_uvw(0.01), 0.135, 1e-3);
  g_assert_true(astro_earth_error_is_seen(o, 150e6, error, &beam));
  test_near(beam, 299792458.0 / 150e6 / 7873390 / ARCSEC, 1e-3);
  for (guint k = 0; k < 3; k++)
    o->positions[3 + k] = o->positions[k] + (k == 0 ? 100 : 0);
  g_assert_false(astro_earth_error_is_seen(o, 150e6, error, &beam));
  g_assert_true(astro_earth_error_is_seen(o, 10e9, error, &beam));
  test_near(beam, 299792458.0 / 10e9 / 100 / ARCSEC, 1e-3);
  g_assert_false(astro_earth_error_is_seen(o, 0, error, &beam));
  o->phase_dec = G_PI / 2;
  test_near(astro_earth_error_of_delays(o), 0.6, 1e-9);
}

static void add_tests(void)
{
  g_test_add_func("/earth/erfa", test_erfa);
  g_test_add_func("/earth/continuity", test_continuity);
  g_test_add_func("/earth/leap-second", test_leap_second);
  g_test_add_func("/earth/track", test_track);
  g_test_add_func("/earth/zenith", test_zenith);
  g_test_add_func("/earth/days", test_days);
  g_test_add_func("/earth/other-text", test_other_text);
  g_test_add_func("/earth/refused", test_refused);
  g_test_add_func("/earth/too-short", test_too_short);
  g_test_add_func("/earth/amend", test_amend);
  g_test_add_func("/earth/check-time", test_check_time);
  g_test_add_func("/earth/event", test_event);
  g_test_add_func("/earth/bad-events", test_bad_events);
  g_test_add_func("/earth/errors", test_errors);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
