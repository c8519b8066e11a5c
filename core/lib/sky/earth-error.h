/* What it may cost to take UT1 for UTC and the pole for unmoved, in arcsec on the sky. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* With delays of the phase centre the whole sky moves. */
double astro_earth_error_of_delays(const AstroObservation *observation);

/* With (u,v,w) the sky turns and stretches about the phase centre, where data are right already: so
 * many radians from there. */
double astro_earth_error_of_uvw(double distance);

/* Whether that is more than a tenth of the beam, in arcsec, which the longest baseline (or one
 * nearly as long) has at that frequency. */
gboolean astro_earth_error_is_seen(const AstroObservation *observation, double frequency,
                                   double error, double *beam);

G_END_DECLS
