/* Positions of the stations as seen from the phase centre: the only place where (u,v,w), and so
 * delays, are computed from an observation and a time.
 *
 * Modelled with ERFA: precession and nutation (IAU 2006/2000A), the Earth's rotation, leap seconds,
 * annual aberration; UT1 - UTC and polar motion if the observation has them (earth.h), else UT1 =
 * UTC (an error of up to 13.5 arcsec of rotation) and no polar motion (0.5 arcsec). Left out: the
 * IERS's corrections to the nutation model and tides within a day (0.001 arcsec), diurnal
 * aberration (0.3 arcsec), gravitational deflection, refraction. The phase centre is at its
 * aberrated position; offsets from it (l,m) are not stretched by aberration, an error of a
 * ten-thousandth of the offset. Lengths are preserved: u^2 + v^2 + w^2 is the square of the
 * position.
 *
 * All functions need an observation with a start; those for (u,v,w) also need a phase centre. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_LIGHT_SPEED 299792458.0 /* m/s */

/* Whether the observation's values of UT1 - UTC and polar motion, if it has any, cover that time.
 */
gboolean astro_uvw_check_time(const AstroObservation *observation, gint64 ns_since_start,
                              GError **error);

/* Unit vectors in the frame of the positions (ITRF), that many nanoseconds after the start: [0]
 * east and [1] north (both of ICRS, at the phase centre), and [2] toward the phase centre. */
void astro_uvw_axes(const AstroObservation *observation, gint64 ns_since_start, double axes[3][3]);

/* Fills in n_stations x 3 metres, for each station relative to the geocentre. The difference of two
 * stations is their (u,v,w), with the signs given in ARCHITECTURE.md; a wave from the phase centre
 * reaches a station w/c before the geocentre. */
void astro_uvw(const AstroObservation *observation, gint64 ns_since_start, double *uvw);
/* The same with given axes; track.h computes these faster for many times. */
void astro_uvw_along(const AstroObservation *observation, const double axes[3][3], double *uvw);

/* The unit vector toward the zenith (WGS84 ellipsoid). */
void astro_up(const double position[3], double up[3]);

/* The ICRS direction of the zenith at a position. */
void astro_zenith(const AstroObservation *observation, gint64 ns_since_start,
                  const double position[3], double *ra, double *dec);

/* From an ICRS direction to direction cosines about the phase centre, and back; n may be negative.
 */
void astro_lmn_from_direction(const AstroObservation *observation, double ra, double dec,
                              double lmn[3]);
void astro_direction_from_lmn(const AstroObservation *observation, const double lmn[3], double *ra,
                              double *dec);

/* From east-north-up metres about a geodetic position (WGS84; radians, metres) to geocentric
 * metres. */
void astro_geocentric_from_local(double latitude, double longitude, double height,
                                 const double enu[3], double xyz[3]);

G_END_DECLS
