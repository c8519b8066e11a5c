/* Computes (u,v,w), zeniths and direction cosines. */
#include "config.h"
#include "core/stream/uvw.h"
#include "core/stream/stream.h"
#include "core/kit/units.h"
#include <erfa.h>
#include <erfam.h>
#include <math.h>

#define MJD_ZERO 2400000.5

typedef struct {
  double to_earth[3][3]; /* GCRS to ITRF */
  double velocity[3];    /* of the Earth, as a fraction of the speed of light */
  double sun_distance;   /* au */
  double contraction;    /* sqrt(1 - velocity^2) */
} Moment;

static double dot(const double a[3], const double b[3])
{
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Both clocks run evenly from the start, so that a leap second has no effect. */
static void moment_at(const AstroObservation *observation, gint64 ns_since_start, Moment *moment)
{
  double tt[2], ut1[2], heliocentric[2][3], barycentric[2][3], tai_minus_utc = 0, fraction;
  int year, month, day;
  AstroEarthDay earth;
  eraJd2cal(MJD_ZERO, observation->start_mjd, &year, &month, &day, &fraction);
  eraDat(year, month, day, 0.0, &tai_minus_utc);
  ut1[0] = MJD_ZERO + observation->start_mjd;
  ut1[1] = observation->start_ns / ASTRO_NS_PER_DAY + ns_since_start / ASTRO_NS_PER_DAY;
  tt[0] = ut1[0];
  tt[1] = ut1[1] + (tai_minus_utc + ERFA_TTMTAI) / ERFA_DAYSEC;
  astro_earth_at(observation->earth, observation->start_mjd, ut1[1], &earth);
  ut1[1] += earth.ut1_utc / ERFA_DAYSEC;
  eraC2t06a(tt[0], tt[1], ut1[0], ut1[1], earth.pole_x * ERFA_DAS2R, earth.pole_y * ERFA_DAS2R,
            moment->to_earth);

  eraEpv00(tt[0], tt[1], heliocentric, barycentric);
  for (guint i = 0; i < 3; i++)
    moment->velocity[i] = barycentric[1][i] * (ERFA_AULT / ERFA_DAYSEC);
  moment->sun_distance = eraPm(heliocentric[0]);
  moment->contraction = sqrt(1.0 - dot(moment->velocity, moment->velocity));
}

static void aberrate(const Moment *moment, const double direction[3], double apparent[3])
{
  double natural[3] = { direction[0], direction[1], direction[2] };
  double velocity[3] = { moment->velocity[0], moment->velocity[1], moment->velocity[2] };
  eraAb(natural, velocity, moment->sun_distance, moment->contraction, apparent);
}

/* Unit vectors to the east, to the north and toward a direction, in the frame of the direction. */
static void tangent_axes(double ra, double dec, double axes[3][3])
{
  double sin_ra = sin(ra), cos_ra = cos(ra), sin_dec = sin(dec), cos_dec = cos(dec);
  double rows[3][3] = { { -sin_ra, cos_ra, 0.0 },
                        { -sin_dec * cos_ra, -sin_dec * sin_ra, cos_dec },
                        { cos_dec * cos_ra, cos_dec * sin_ra, sin_dec } };
  eraCr(rows, axes);
}

/* Rotates vector by the smallest rotation that takes from to to, two unit vectors close to each
 * other. Aberration shifts along great circles, so this takes north to where aberration moves it.
 */
static void carry_along(const double from[3], const double to[3], double vector[3])
{
  double axis[3] = { from[1] * to[2] - from[2] * to[1], from[2] * to[0] - from[0] * to[2],
                     from[0] * to[1] - from[1] * to[0] };
  double cosine = dot(from, to), along = dot(axis, vector) / (1.0 + cosine);
  double cross[3] = { axis[1] * vector[2] - axis[2] * vector[1],
                      axis[2] * vector[0] - axis[0] * vector[2],
                      axis[0] * vector[1] - axis[1] * vector[0] };
  for (guint i = 0; i < 3; i++)
    vector[i] = cosine * vector[i] + cross[i] + along * axis[i];
}

gboolean astro_uvw_check_time(const AstroObservation *observation, gint64 ns_since_start,
                              GError **error)
{
  const AstroEarth *earth = observation->earth;
  const double days =
      (double)observation->start_ns / ASTRO_NS_PER_DAY + (double)ns_since_start / ASTRO_NS_PER_DAY;
  if (!earth || !observation->has_start || astro_earth_covers(earth, observation->start_mjd, days))
    return TRUE;
  g_autofree char *span = astro_earth_span(earth);
  g_autofree char *time = astro_observation_get_time(observation, (guint64)ns_since_start);
  return astro_stream_refuse(error, ASTRO_STREAM_ERROR_SIZE,
                             "the Earth orientation of %s covers %s, but the stream has reached "
                             "%s: expected a file that covers it, or another start",
                             earth->name, span, time ? time : "no time");
}

void astro_uvw_axes(const AstroObservation *observation, gint64 ns_since_start, double axes[3][3])
{
  Moment moment;
  double celestial[3][3], apparent[3];
  moment_at(observation, ns_since_start, &moment);
  tangent_axes(observation->phase_ra, observation->phase_dec, celestial);
  aberrate(&moment, celestial[2], apparent);
  carry_along(celestial[2], apparent, celestial[0]);
  carry_along(celestial[2], apparent, celestial[1]);
  eraCp(apparent, celestial[2]);
  for (guint i = 0; i < 3; i++)
    eraRxp(moment.to_earth, celestial[i], axes[i]);
}

void astro_uvw_along(const AstroObservation *observation, const double axes[3][3], double *uvw)
{
  for (guint station = 0; station < observation->n_stations; station++)
    for (guint i = 0; i < 3; i++)
      uvw[3 * station + i] = dot(axes[i], &observation->positions[3 * station]);
}

void astro_uvw(const AstroObservation *observation, gint64 ns_since_start, double *uvw)
{
  double axes[3][3];
  astro_uvw_axes(observation, ns_since_start, axes);
  astro_uvw_along(observation, axes, uvw);
}

void astro_up(const double position[3], double up[3])
{
  double longitude, latitude, height, xyz[3] = { position[0], position[1], position[2] };
  eraGc2gd(ERFA_WGS84, xyz, &longitude, &latitude, &height);
  eraS2c(longitude, latitude, up);
}

void astro_zenith(const AstroObservation *observation, gint64 ns_since_start,
                  const double position[3], double *ra, double *dec)
{
  Moment moment;
  double up[3], apparent[3], direction[3], shifted[3];
  moment_at(observation, ns_since_start, &moment);
  astro_up(position, up);
  eraTrxp(moment.to_earth, up, apparent);
  eraCp(apparent, direction);
  /* Each round reduces the error by a factor of ten thousand. */
  for (guint round = 0; round < 4; round++) {
    double length;
    aberrate(&moment, direction, shifted);
    for (guint i = 0; i < 3; i++)
      direction[i] += apparent[i] - shifted[i];
    eraPn(direction, &length, direction);
  }
  eraC2s(direction, ra, dec);
  *ra = eraAnp(*ra);
}

void astro_lmn_from_direction(const AstroObservation *observation, double ra, double dec,
                              double lmn[3])
{
  double axes[3][3], direction[3];
  tangent_axes(observation->phase_ra, observation->phase_dec, axes);
  eraS2c(ra, dec, direction);
  eraRxp(axes, direction, lmn);
}

void astro_direction_from_lmn(const AstroObservation *observation, const double lmn[3], double *ra,
                              double *dec)
{
  double axes[3][3], direction[3], cosines[3] = { lmn[0], lmn[1], lmn[2] };
  tangent_axes(observation->phase_ra, observation->phase_dec, axes);
  eraTrxp(axes, cosines, direction);
  eraC2s(direction, ra, dec);
  *ra = eraAnp(*ra);
}

void astro_geocentric_from_local(double latitude, double longitude, double height,
                                 const double enu[3], double xyz[3])
{
  double axes[3][3], place[3];
  tangent_axes(longitude, latitude, axes);
  eraGd2gc(ERFA_WGS84, longitude, latitude, height, place);
  for (guint i = 0; i < 3; i++)
    xyz[i] = place[i] + axes[0][i] * enu[0] + axes[1][i] * enu[1] + axes[2][i] * enu[2];
}
