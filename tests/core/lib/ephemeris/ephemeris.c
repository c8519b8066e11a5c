#include "core/lib/ephemeris/phases.h"
#include "tests/tests.h"

#include <math.h>

#define EQUATORIAL                                                                                 \
  "PSR J1234+56\nRAJ 12:34:56.789 1 0.001\nDECJ 56:12:34.56 1\nPMRA -45.6\nPMDEC 78.9\nPX 1.5\n"   \
  "POSEPOCH 57000\nF0 305.123456789012345 1 1e-12\nF1 -1.5D-15\nF2 1e-26\nPEPOCH 57200\n"          \
  "DM 12.345\nEPHEM builtin\nCLOCK TT(TAI)\nUNITS TDB\n"
#define ZERO "TZRMJD 57201.123456789012345\nTZRSITE @\nTZRFRQ 0\n"
#define ECLIPTIC                                                                                   \
  "PSR J0000-0000\nELONG 123.456789\nELAT -1.2345\nPMELONG 5.5\nPMELAT -3.3\nPOSEPOCH 57100\n"     \
  "ECL IERS2003\nF0 29.9401197604790419\nF1 -3.7648e-10\nPEPOCH 57200\nDM 56.7\nEPHEM builtin\n"   \
  "CLOCK TT(TAI)\nUNITS TDB\n"

static AstroEphemeris *read_text(const char *text, GError **error)
{
  AstroLines lines;
  astro_lines_init(&lines, "test.par", g_strdup(text));
  AstroEphemeris *ephemeris = astro_ephemeris_from_lines(&lines, error);
  astro_lines_clear(&lines);
  return ephemeris;
}

/* PINT 1.1.8 says this with its builtin ephemeris of planets, at 150 MHz: the day and its fraction
 * (UTC), the whole and the rest of the turns of both pulsars; and the orientation of the Earth that
 * it used. tests/interop/pulsar.py makes such numbers anew. */
static const struct {
  gint32 mjd;
  double day;
  double equatorial[2], ecliptic[2];
  AstroEarthDay earth;
} pint[] = {
  { 57200,
    0.2500000,
    { -23053701, 0.293783431 },
    { 635019, -0.310980391 },
    { 0.136607250, 0.450680500, -0.673999575000 } },
  { 57230,
    0.8734567,
    { 784228928, -0.281613033 },
    { 79849470, -0.253310917 },
    { 0.189001262, 0.424301151, 0.304129769785 } },
  { 57261,
    0.4969134,
    { 1591532073, -0.308308784 },
    { 159065191, -0.398531839 },
    { 0.226048500, 0.376081537, 0.278898771808 } },
  { 57292,
    0.1203701,
    { 2398859711, -0.443225867 },
    { 238281703, 0.295134220 },
    { 0.217443787, 0.324958278, 0.237060881127 } },
  { 57322,
    0.7438268,
    { 3206209243, 0.494523216 },
    { 317497586, 0.039814341 },
    { 0.176610494, 0.275963877, 0.186035237517 } },
  { 57353,
    0.3672835,
    { 4013571942, -0.106616834 },
    { 396710802, 0.273071660 },
    { 0.118246318, 0.254316750, 0.137836512027 } },
  { 57383,
    0.9907402,
    { 4820934921, 0.204800638 },
    { 475919233, 0.166286984 },
    { 0.059744020, 0.254396907, 0.088593780440 } },
  { 57414,
    0.6141969,
    { 5628284855, -0.477938314 },
    { 555121331, 0.339832334 },
    { 0.003920390, 0.292521478, 0.032603695447 } },
  { 57445,
    0.2376536,
    { 6435612193, -0.310504887 },
    { 634316635, -0.136172200 },
    { -0.022587678, 0.349032069, -0.015648746571 } },
  { 57475,
    0.8611103,
    { 7242914107, 0.049764329 },
    { 713505896, -0.156403827 },
    { -0.010320473, 0.416096082, -0.076931092936 } },
  { 57506,
    0.4845670,
    { 8050194993, 0.189230677 },
    { 792690791, -0.166158759 },
    { 0.030184916, 0.469219082, -0.130985694429 } },
  { 57537,
    0.1080237,
    { 8857464684, 0.317514081 },
    { 871873386, 0.166354309 },
    { 0.085368361, 0.496673793, -0.181177009380 } },
  { 57567,
    0.7314804,
    { 9664735476, 0.157132770 },
    { 951055578, 0.157806856 },
    { 0.147997942, 0.486552186, -0.210130123800 } },
};

static AstroObservation *observe(guint row)
{
  static const double position[3] = { 3826577.462, 461022.624, 5064892.526 };
  AstroObservation *observation = astro_observation_new(1);
  AstroEarthDay days[5];
  for (guint i = 0; i < G_N_ELEMENTS(days); i++)
    days[i] = pint[row].earth;
  for (guint i = 0; i < 3; i++)
    observation->positions[i] = position[i];
  observation->has_start = TRUE;
  observation->start_mjd = pint[row].mjd;
  observation->earth = astro_earth_new("test", pint[row].mjd - 1, days, 5, NULL);
  return observation;
}

/* The difference from PINT in microseconds. */
static double error_of(const char *text, guint row, const double turns[2])
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe(row);
  AstroEphemeris *ephemeris = read_text(text, &error);
  g_assert_no_error(error);
  const double spin = (double)ephemeris->spin[0];
  g_autoptr(AstroPhases) phases = astro_phases_new(ephemeris, NULL, observation, 150e6, &error);
  g_assert_no_error(error);
  long double found;
  astro_phases_exact(phases, (long double)pint[row].day * 86400, 150e6, &found, &error);
  g_assert_no_error(error);
  return (double)(found - (long double)turns[0] - (long double)turns[1]) / spin * 1e6;
}

static void test_pint(void)
{
  double worst = 0;
  for (guint i = 0; i < G_N_ELEMENTS(pint); i++) {
    const double equatorial = error_of(EQUATORIAL ZERO, i, pint[i].equatorial),
                 ecliptic = error_of(ECLIPTIC, i, pint[i].ecliptic);
    g_test_message("day %d: %.6f and %.6f us from PINT", pint[i].mjd, equatorial, ecliptic);
    worst = MAX(worst, MAX(fabs(equatorial), fabs(ecliptic)));
  }
  g_assert_cmpfloat(worst, <, 0.001);
}

/* Phases of steps are the exact ones at their middles, whichever block they are in. */
static void test_steps(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe(3);
  g_autoptr(AstroPhases) phases =
      astro_phases_new(read_text(EQUATORIAL, NULL), NULL, observation, 150e6, &error);
  g_assert_no_error(error);
  const AstroPhaseSteps steps = { 0.25, 10, 3 };
  enum { N = 1000 };
  double whole[N], parts[N];
  g_assert_true(astro_phases_of_steps(phases, &steps, 5, N, whole, NULL));
  for (guint i = N; i-- > 0;) {
    long double exact;
    g_assert_true(astro_phases_of_steps(phases, &steps, 5 + i, 1, &parts[i], NULL));
    g_assert_cmpfloat(whole[i], ==, parts[i]);
    g_assert_true(astro_phases_exact(phases, 0.25L + (5.5L + i) * 0.3L, 150e6, &exact, NULL));
    const double error_turns = whole[i] - (double)(exact - floorl(exact));
    g_assert_cmpfloat(fabs(error_turns - rint(error_turns)), <, 3e-9);
  }
}

/* A fixed period: phase 0 at time zero, and the delay of dispersion as the simulator has it. */
static void test_period(void)
{
  g_autoptr(AstroPhases) phases = astro_phases_new_period(0.1, 10, 150e6);
  const AstroPhaseSteps steps = { 0, 100, 1 };
  double turns[20], lag;
  g_assert_true(astro_phases_of_steps(phases, &steps, 0, 20, turns, NULL));
  for (guint i = 0; i < 20; i++)
    g_assert_cmpfloat(fabs(turns[i] - (i % 10 + 0.5) / 10), <, 1e-12);
  g_assert_true(astro_phases_lag(phases, 3, 140e6, &lag, NULL));
  g_assert_cmpfloat(fabs(lag - 4.148808e16 * (1 / 140e6 / 140e6 - 1 / 150e6 / 150e6) / 0.1), <,
                    1e-9);
  g_assert_true(astro_phases_lag(phases, 3, 150e6, &lag, NULL));
  g_assert_cmpfloat(lag, ==, 0);
}

/* By an ephemeris the lag is that of the file's own constant, in the barycentre's frame. */
static void test_lag(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe(0);
  AstroEphemeris *ephemeris = read_text(ECLIPTIC, NULL);
  g_assert_cmpfloat(fabs(astro_ephemeris_dm(ephemeris) / 56.7 - 1.000137291), <, 1e-8);
  g_autoptr(AstroPhases) phases = astro_phases_new(ephemeris, NULL, observation, 150e6, &error);
  g_assert_no_error(error);
  double lag;
  g_assert_true(astro_phases_lag(phases, 0, 140e6, &lag, NULL));
  const double seconds = lag / 29.9401197604790419,
               still = 56.7 / 2.41e-16 * (1 / 140e6 / 140e6 - 1 / 150e6 / 150e6);
  g_assert_cmpfloat(fabs(seconds / still - 1), <, 2.2e-4);
  g_assert_cmpfloat(fabs(seconds / still - 1), >, 1e-7);
}

/* A spin that leaves no digits for the phase is refused. */
static void test_too_far(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe(0);
  g_autoptr(AstroPhases) phases =
      astro_phases_new(read_text("RAJ 1:00:00\nDECJ 1:00:00\nF0 1\nF3 1e250\nPEPOCH 50000\n", NULL),
                       NULL, observation, 150e6, &error);
  const AstroPhaseSteps steps = { 0, 10, 3 };
  double turns;
  g_assert_no_error(error);
  g_assert_false(astro_phases_of_steps(phases, &steps, 5, 1, &turns, &error));
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, "turns from its epoch"));
}

/* The Earth's orientation has to cover the time of the stream. */
static void test_earth(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe(0);
  g_autoptr(AstroPhases) phases =
      astro_phases_new(read_text(EQUATORIAL, NULL), NULL, observation, 150e6, &error);
  const AstroPhaseSteps steps = { 0, 1, 1 };
  double turns;
  g_assert_no_error(error);
  g_assert_true(astro_phases_of_steps(phases, &steps, 2 * 86400, 1, &turns, NULL));
  g_assert_false(astro_phases_of_steps(phases, &steps, 4 * 86400, 1, &turns, &error));
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, "Earth orientation of test covers"));
}

/* P0 and P1 are F0 and F1 in other words; names have synonyms. */
static void test_synonyms(void)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroEphemeris) e = read_text("PSRJ X\nRA 1:00:00\nDEC -1:30:00\nP 0.5\nPDOT 1e-10\n"
                                          "PEPOCH 50000.5\n# comment\nC comment\nTRES 12.3\n",
                                          &error);
  g_assert_no_error(error);
  g_assert_cmpfloat((double)e->spin[0], ==, 2);
  g_assert_cmpfloat(fabs((double)e->spin[1] + 4e-10), <, 1e-24);
  g_assert_cmpfloat(fabs(e->longitude - G_PI / 12), <, 1e-15);
  g_assert_cmpfloat(fabs(e->latitude + G_PI / 120), <, 1e-15);
  g_assert_cmpint(e->position_epoch.mjd, ==, 50000);
  g_assert_cmpfloat((double)e->epoch.day, ==, 0.5);
  g_assert_false(e->has_zero);
}

#define PLACE "RAJ 1:00:00\nDECJ 1:00:00\n"
#define SPIN "F0 1\nPEPOCH 50000\n"

/* Bad files, and words that the error must have: a line where one is to blame. */
static const struct {
  const char *text, *word;
} bad[] = {
  { PLACE SPIN "BINARY ELL1\n", "test.par:5: \"BINARY\" belongs to a binary pulsar" },
  { PLACE SPIN "PB 1.5\n", "test.par:5: " },
  { PLACE SPIN "UNITS TCB\n", "test.par:5: UNITS is \"TCB\", expected TDB" },
  { PLACE SPIN "GLEP_1 50000\n", "test.par:5: the term \"GLEP_1\" is unknown" },
  { PLACE SPIN "F1\n", "test.par:5: F1 is \"\"" },
  { PLACE SPIN "F1 1e-15x\n", "test.par:5: F1" },
  { PLACE SPIN "F1 nan\n", "F1" },
  { PLACE SPIN "F1 0x1p3\n", "F1" },
  { PLACE SPIN "F1 1e9999\n", "F1" },
  { PLACE SPIN "F0 2\n", "F0 comes again" },
  { PLACE SPIN "NE_SW 4\n", "solar wind" },
  { PLACE SPIN "CORRECT_TROPOSPHERE Y\n", "expected N" },
  { PLACE SPIN "P0 1\n", "both F0 and P0" },
  { PLACE SPIN "ELONG 3\n", "mixes" },
  { PLACE SPIN "TZRSITE @\n", "without TZRMJD" },
  { PLACE SPIN "DM -3\n", "DM out of range" },
  { PLACE SPIN "ECL B1950\n", "IERS2010" },
  { PLACE "PEPOCH 50000\n", "neither F0 nor P0" },
  { PLACE "PEPOCH 50000\nF0 0\n", "expected 1e-6 to 1e6 Hz" },
  { PLACE "PEPOCH 50000\nP0 -1\n", "expected 1e-6 to 1e6 Hz" },
  { PLACE "F0 1\n", "no PEPOCH" },
  { PLACE "F0 1\nPEPOCH 5000000\n", "PEPOCH" },
  { PLACE "F0 1\nPEPOCH -1\n", "PEPOCH" },
  { SPIN "RAJ 1:00:00\n", "no position" },
  { SPIN "RAJ 1.5\nDECJ 1:00:00\n", "test.par:3: RAJ is \"1.5\", expected hours" },
  { "", "neither" },
};

static void test_refused(void)
{
  for (guint i = 0; i < G_N_ELEMENTS(bad); i++) {
    g_autoptr(GError) error = NULL;
    AstroEphemeris *ephemeris = read_text(bad[i].text, &error);
    g_assert_null(ephemeris);
    g_assert_nonnull(error);
    g_test_message("%s", error->message);
    g_assert_nonnull(strstr(error->message, bad[i].word));
  }
}

static void check_stream(const char *text, gboolean has_start, guint stations, double centre,
                         const char *word)
{
  g_autoptr(GError) error = NULL;
  g_autoptr(AstroObservation) observation = observe(0);
  observation->has_start = has_start;
  observation->n_stations = stations;
  AstroPhases *phases = astro_phases_new(read_text(text, NULL), NULL, observation, centre, &error);
  g_assert_null(phases);
  g_test_message("%s", error->message);
  g_assert_nonnull(strstr(error->message, word));
}

static void test_streams(void)
{
  check_stream(EQUATORIAL, FALSE, 1, 150e6, "start-time");
  check_stream(EQUATORIAL, TRUE, 0, 150e6, "no station");
  check_stream(EQUATORIAL, TRUE, 1, 0, "frequency");
  check_stream(EQUATORIAL "TZRMJD 57200\nTZRSITE gbt\n", TRUE, 1, 150e6, "TZRSITE");
}

static void add_tests(void)
{
  g_test_add_func("/ephemeris/pint", test_pint);
  g_test_add_func("/ephemeris/steps", test_steps);
  g_test_add_func("/ephemeris/period", test_period);
  g_test_add_func("/ephemeris/lag", test_lag);
  g_test_add_func("/ephemeris/synonyms", test_synonyms);
  g_test_add_func("/ephemeris/refused", test_refused);
  g_test_add_func("/ephemeris/earth", test_earth);
  g_test_add_func("/ephemeris/too-far", test_too_far);
  g_test_add_func("/ephemeris/streams", test_streams);
}

int main(int argc, char **argv)
{
  return test_run(argc, argv, add_tests);
}
