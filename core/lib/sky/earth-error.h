/* The possible error from taking UT1 as UTC and the pole as fixed, in arcsec on the sky. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* In delays of the phase centre: the whole sky is shifted. */
double astro_earth_error_of_delays(const AstroObservation *observation);

/* In (u,v,w): the sky is rotated and stretched about the phase centre, where the data are right
 * already. distance: from there, radians. */
double astro_earth_error_of_uvw(double distance);

/* Whether the error is more than a tenth of the beam, in arcsec, of the longest baseline (or one
 * nearly as long) at that frequency. */
gboolean astro_earth_error_is_seen(const AstroObservation *observation, double frequency,
                                   double error, double *beam);

G_END_DECLS
