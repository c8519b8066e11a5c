/* Where the stations are as seen from the phase centre: the one place that turns an observation and
 * a time into (u,v,w), and so into delays.
 *
 * Modelled with ERFA: precession and nutation (IAU 2006/2000A), the earth's rotation, leap seconds,
 * annual aberration; UT1 - UTC and polar motion where the observation has them (earth.h), else UT1
 * = UTC (up to 13.5 arcsec of rotation) and no polar motion (0.5 arcsec). Left out: what the IERS
 * measures of nutation beside the model and of tides within a day (0.001 arcsec), diurnal
 * aberration (0.3 arcsec), gravitational deflection, refraction. The phase
 * centre stands at its aberrated place; offsets from it (l,m) are not stretched by aberration, a
 * ten-thousandth of the offset. All lengths are kept: u^2 + v^2 + w^2 is the square of the
 * position.
 *
 * All functions want an observation with a start; those on (u,v,w) one with a phase centre too. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_LIGHT_SPEED 299792458.0 /* m/s */

/* Whether the observation's days of UT1 - UTC and the pole, if it has any, reach that far. */
gboolean astro_uvw_check_time(const AstroObservation *observation, gint64 ns_since_start,
                              GError **error);

/* Unit vectors in the frame of the positions (ITRF) at that many nanoseconds from the start: [0]
 * east, [1] north (both of ICRS, at the phase centre) and [2] toward the phase centre. */
void astro_uvw_axes(const AstroObservation *observation, gint64 ns_since_start, double axes[3][3]);

/* Fills n_stations x 3 metres, each station relative to the geocentre. The difference of two
 * stations is the (u,v,w) of ARCHITECTURE.md's signs; a wave from the phase centre reaches a
 * station w/c before the geocentre. */
void astro_uvw(const AstroObservation *observation, gint64 ns_since_start, double *uvw);
/* The same along axes of that moment; track.h has them at less cost for many moments. */
void astro_uvw_along(const AstroObservation *observation, const double axes[3][3], double *uvw);

/* The unit vector toward the zenith, of the WGS84 ellipsoid. */
void astro_up(const double position[3], double up[3]);

/* The ICRS direction that stands in the zenith of a position. */
void astro_zenith(const AstroObservation *observation, gint64 ns_since_start,
                  const double position[3], double *ra, double *dec);

/* ICRS direction to direction cosines about the phase centre and back; n may be negative. */
void astro_lmn_from_direction(const AstroObservation *observation, double ra, double dec,
                              double lmn[3]);
void astro_direction_from_lmn(const AstroObservation *observation, const double lmn[3], double *ra,
                              double *dec);

/* East-north-up metres about a geodetic place (WGS84; radians, metres) to geocentric metres. */
void astro_geocentric_from_local(double latitude, double longitude, double height,
                                 const double enu[3], double xyz[3]);

G_END_DECLS
