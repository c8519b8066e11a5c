/* (u,v,w): astropy's numbers, geometries by hand, lengths, rates, and the directions in terms of
 * them. */
#include "core/stream/track.h"
#include "tests/near.h"
#include "tests/tests.h"
#include <math.h>

#define DEGREE (G_PI / 180)
#define SECOND G_GINT64_CONSTANT(1000000000)
#define EARTH_RATE 7.292115e-5 /* rad/s */

static AstroObservation *observe(const double *positions, guint n, const char *start, double ra,
                                 double dec)
{
  AstroObservation *observation = astro_observation_new(n);
  memcpy(observation->positions, positions, 3 * n * sizeof(double));
  g_assert_true(astro_observation_set_start(observation, start, NULL));
  observation->has_phase_centre = TRUE;
  observation->phase_ra = ra;
  observation->phase_dec = dec;
  return observation;
}

static const double stations[9] = { -1601185.4, -5041977.5, 3554875.9, -1602044.9, -5042025.8,
                                    3554427.9,  3826577.1,  461022.9,  5064892.8 };

/* Computed with astropy 5.2 (ITRS and ICRS to GCRS, polar motion and dUT1 forced to zero). It bends
 * light at the sun and we do not: by up to 8 milliarcseconds in these directions, 0.25 m over the
 * earth's radius. */
static void test_astropy(void)
{
  static const struct {
    const char *start;
    double ra, dec, uvw[9];
  } cases[] = {
    { "2026-11-20T12:00:00",
      3.2,
      0.6,
      { -4156093.8744, 1099343.8122, 4705401.2953, -4156832.1951, 1099222.5307, 4704783.2740,
        3425713.9819, 3193075.3696, 4310119.1271 } },
    { "2016-12-31T23:59:59.5",
      1.0,
      -0.4,
      { -4771687.5733, 4160986.6104, 734617.3090, -4772311.7584, 4160342.8735, 734246.1315,
        2953676.6697, 5629565.4524, 303579.3809 } },
    { "2030-03-01T05:06:07.123456789",
      5.9,
      1.45,
      { 2686397.6050, 4946295.4095, 2989967.2389, 2687245.7960, 4946099.5149, 2989538.3165,
        -3827275.0184, 995585.6161, 4986897.7036 } },
  };
  for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
    g_autoptr(AstroObservation) observation =
        observe(stations, 3, cases[i].start, cases[i].ra, cases[i].dec);
    double uvw[9];
    astro_uvw(observation, 0, uvw);
    for (guint k = 0; k < 9; k++)
      test_near(uvw[k], cases[i].uvw[k], 0.25);
    for (guint k = 0; k < 3; k++)
      test_near(uvw[k] - uvw[3 + k], cases[i].uvw[k] - cases[i].uvw[3 + k], 1e-4);
  }
}

/* The elevation of the phase centre at a position, radians. */
static double elevation_at(const AstroObservation *observation, gint64 ns_since_start,
                           const double position[3])
{
  double axes[3][3], up[3];
  astro_uvw_axes(observation, ns_since_start, axes);
  astro_up(position, up);
  const double *toward = axes[2];
  return asin(CLAMP(toward[0] * up[0] + toward[1] * up[1] + toward[2] * up[2], -1.0, 1.0));
}

/* A station on the equator with the phase centre in its zenith, and others a kilometre east, north
 * and up of it. */
static void test_zenith(void)
{
  static const double radius = 6378137;
  static const double positions[12] = { radius, 0, 0,    radius,        1000, 0,
                                        radius, 0, 1000, radius + 1000, 0,    0 };
  g_autoptr(AstroObservation) observation = observe(positions, 4, "2026-11-20T12:00:00", 0, 0);
  astro_zenith(observation, 0, positions, &observation->phase_ra, &observation->phase_dec);
  double uvw[12];
  astro_uvw(observation, 0, uvw);
  test_near(uvw[0], 0, 1e-3);
  test_near(uvw[1], 0, 1e-3);
  test_near(uvw[2], radius, 1e-3);
  /* The pole moved by 0.15 degrees since J2000: north turns by that at most. */
  for (guint station = 1; station < 4; station++)
    for (guint k = 0; k < 3; k++)
      test_near(uvw[3 * station + k] - uvw[k], station - 1 == k ? 1000 : 0, 1000 * 0.16 * DEGREE);
  g_assert_cmpfloat(elevation_at(observation, 0, positions), >, 90 * DEGREE - 1e-7);
}

/* Six hours before and after it crosses the meridian a source on the equator is on the horizon of a
 * station there; w of a station to the east falls at the earth's rate. */
static void test_rate(void)
{
  static const double positions[6] = { 6378137, 0, 0, 6378137, 1000, 0 };
  g_autoptr(AstroObservation) observation = observe(positions, 2, "2026-11-20T12:00:00", 0, 0);
  astro_zenith(observation, 0, positions, &observation->phase_ra, &observation->phase_dec);
  double before[6], after[6];
  astro_uvw(observation, -SECOND, before);
  astro_uvw(observation, SECOND, after);
  double rate = ((after[5] - after[2]) - (before[5] - before[2])) / 2;
  /* The source moves west, away from the station in the east. */
  test_near(rate, -EARTH_RATE * 1000, EARTH_RATE * 1000 * 1e-4);
  gint64 quarter = (gint64)(0.25 * 86164.0905 * SECOND);
  for (gint sign = -1; sign <= 1; sign += 2) {
    test_near(elevation_at(observation, sign * quarter, positions), 0, 60.0 / 3600 * DEGREE);
    g_assert_cmpfloat(elevation_at(observation, 2 * sign * quarter, positions), <, -89 * DEGREE);
  }
}

/* Towards the pole w only changes by precession and aberration over a day, and u and v rotate. */
static void test_pole(void)
{
  static const double positions[6] = { 6378137, 0, 0, 6378137, 1000, 0 };
  g_autoptr(AstroObservation) observation =
      observe(positions, 2, "2000-01-01T12:00:00", 0, G_PI / 2);
  double first[6], later[6];
  astro_uvw(observation, 0, first);
  astro_uvw(observation, 6 * 3600 * SECOND, later);
  test_near(first[5] - first[2], 0, 0.2);
  test_near(later[5] - later[2], first[5] - first[2], 0.2);
  /* Seen from above the north pole, the earth rotates from east to north: by the right-hand rule
   * about w, which points at the observer. */
  double u = first[3] - first[0], v = first[4] - first[1];
  double angle = EARTH_RATE * 6 * 3600;
  test_near(hypot(u, v), 1000, 1e-3);
  test_near(later[3] - later[0], u * cos(angle) - v * sin(angle), 0.5);
  test_near(later[4] - later[1], u * sin(angle) + v * cos(angle), 0.5);
}

static void test_lengths(void)
{
  for (guint i = 0; i < 200; i++) {
    g_autoptr(AstroObservation) observation =
        observe(stations, 3, "2026-11-20T12:00:00", g_test_rand_double_range(0, 2 * G_PI),
                g_test_rand_double_range(-G_PI / 2, G_PI / 2));
    double uvw[9], axes[3][3];
    gint64 ns = (gint64)(g_test_rand_double_range(-1, 1) * 1e18);
    astro_uvw(observation, ns, uvw);
    for (guint a = 0; a < 3; a++)
      for (guint b = 0; b < 3; b++) {
        double found = 0, expected = 0;
        for (guint k = 0; k < 3; k++) {
          found += uvw[3 * a + k] * uvw[3 * b + k];
          expected += stations[3 * a + k] * stations[3 * b + k];
        }
        test_near(found, expected, 1.0);
      }
    astro_uvw_axes(observation, ns, axes);
    double handed = axes[2][0] * (axes[0][1] * axes[1][2] - axes[0][2] * axes[1][1]) +
                    axes[2][1] * (axes[0][2] * axes[1][0] - axes[0][0] * axes[1][2]) +
                    axes[2][2] * (axes[0][0] * axes[1][1] - axes[0][1] * axes[1][0]);
    test_near(handed, 1, 1e-12);
  }
}

/* No jumps from one millisecond to the next, neither at midnight nor in the leap second. */
static void test_continuity(void)
{
  static const char *const starts[] = { "2026-11-20T23:59:59", "2016-12-31T23:59:59",
                                        "2016-12-31T12:00:00" };
  for (guint i = 0; i < G_N_ELEMENTS(starts); i++) {
    g_autoptr(AstroObservation) observation = observe(stations, 3, starts[i], 1, 0.5);
    double last[9], uvw[9];
    astro_uvw(observation, 0, last);
    for (guint step = 1; step < 3000; step++) {
      astro_uvw(observation, step * (SECOND / 1000), uvw);
      for (guint k = 0; k < 9; k++)
        test_near(uvw[k], last[k], 0.5);
      memcpy(last, uvw, sizeof last);
    }
  }
}

static void check_track(AstroTrack *track, const AstroObservation *observation, gint64 ns)
{
  double fast[3][3], exact[3][3];
  astro_track_axes(track, ns, fast);
  astro_uvw_axes(observation, ns, exact);
  for (guint k = 0; k < 9; k++)
    test_near(fast[k / 3][k % 3], exact[k / 3][k % 3], 1e-12);
}

/* The fast way agrees with the exact one, backward and forward, interval after interval, and does
 * not jump where they meet. */
static void test_track(void)
{
  g_autoptr(AstroObservation) observation = observe(stations, 3, "2026-11-20T12:00:00", 1, 0.5);
  g_autoptr(AstroTrack) track = astro_track_new(observation);
  for (guint i = 0; i < 300; i++) {
    gint64 ns = (gint64)(g_test_rand_double_range(-1, 1) * 1e14);
    if (i % 3 == 0)
      ns = ns / (60 * SECOND) * (60 * SECOND) - (gint64)(i % 2);
    check_track(track, observation, ns);
  }
  for (gint64 i = -200; i < 200; i++)
    check_track(track, observation, i * 25 * SECOND);
  for (gint64 i = 200; i > -200; i--)
    check_track(track, observation, i * 25 * SECOND);
}

/* The delay of a source is u l + v m + w n, and n - 1 about the phase centre. */
static void test_directions(void)
{
  g_autoptr(AstroObservation) observation =
      observe(stations, 3, "2026-11-20T12:00:00", 200 * DEGREE, 40 * DEGREE);
  double lmn[3], ra, dec;
  astro_lmn_from_direction(observation, 200 * DEGREE, 41 * DEGREE, lmn);
  test_near(lmn[0], 0, 1e-15);
  test_near(lmn[1], sin(1 * DEGREE), 1e-15);
  test_near(lmn[2], cos(1 * DEGREE), 1e-15);
  astro_lmn_from_direction(observation, 200.001 * DEGREE, 40 * DEGREE, lmn);
  test_near(lmn[0], 0.001 * DEGREE * cos(40 * DEGREE), 1e-12);
  astro_direction_from_lmn(observation, (double[]){ 0.6, -0.3, sqrt(1 - 0.45) }, &ra, &dec);
  astro_lmn_from_direction(observation, ra, dec, lmn);
  test_near(lmn[0], 0.6, 1e-14);
  test_near(lmn[1], -0.3, 1e-14);
  test_near(lmn[2], sqrt(1 - 0.45), 1e-14);
}

static void test_local(void)
{
  double xyz[3];
  astro_geocentric_from_local(0, 0, 0, (double[]){ 1, 2, 3 }, xyz);
  test_near(xyz[0], 6378137 + 3, 1e-6);
  test_near(xyz[1], 1, 1e-6);
  test_near(xyz[2], 2, 1e-6);
  astro_geocentric_from_local(90 * DEGREE, 0, 10, (double[]){ 1, 2, 3 }, xyz);
  test_near(xyz[0], -2, 1e-6);
  test_near(xyz[1], 1, 1e-6);
  test_near(xyz[2], 6356752.3142 + 13, 1e-3);
}

int main(int argc, char **argv)
{
  g_test_init(&argc, &argv, NULL);
  g_test_add_func("/uvw/astropy", test_astropy);
  g_test_add_func("/uvw/zenith", test_zenith);
  g_test_add_func("/uvw/rate", test_rate);
  g_test_add_func("/uvw/pole", test_pole);
  g_test_add_func("/uvw/lengths", test_lengths);
  g_test_add_func("/uvw/continuity", test_continuity);
  g_test_add_func("/uvw/track", test_track);
  g_test_add_func("/uvw/directions", test_directions);
  g_test_add_func("/uvw/local", test_local);
  return g_test_run();
}
