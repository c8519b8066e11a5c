/* Where beams look as the sky turns. Each beam keeps its direction among the stars, and is placed
 * with the same precession, aberration and Earth rotation as the phase centre (core/stream/uvw.h).
 */
#pragma once

#include "core/beamform/beamform.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* The phase of a beam is kept while it changes by less than this, in turns: with the phase of the
 * middle of each interval, it is at most half as wrong. */
#define ASTRO_BEAMFORM_TURNS 1e-3

typedef struct AstroBeamformSteering AstroBeamformSteering;

/* came has stations, a start and a phase centre; beams is an observation that has the beams. index:
 * the stations that take part. spectra: their rate and band. Refused is a beam 90 degrees or more
 * from the phase centre. */
AstroBeamformSteering *astro_beamform_steering_new(AstroObservation *came,
                                                   const AstroObservation *beams,
                                                   const guint *index, guint n,
                                                   const AstroStream *spectra, GError **error);
void astro_beamform_steering_free(AstroBeamformSteering *steering);

/* x y z of each station that takes part, relative to the array's centre, in light seconds. */
const double *astro_beamform_steering_seconds(const AstroBeamformSteering *steering);
/* How many spectra have the same phases: a power of two. */
guint64 astro_beamform_steering_interval(const AstroBeamformSteering *steering);
/* How far the beam farthest from the phase centre is, as a chord of the unit sphere. */
double astro_beamform_steering_distance(const AstroBeamformSteering *steering);
/* How much the delays of a wave from such a beam may differ between stations, in seconds, once
 * those of the phase centre are out. */
double astro_beamform_steering_spread(const AstroBeamformSteering *steering);
/* The directions of all beams less that of the phase centre, that long after the observation's
 * start: [beam][x, y, z]. Not thread-safe. */
void astro_beamform_steering_at(AstroBeamformSteering *steering, gint64 ns, double *offsets);
/* The first beam that is below the horizon of the array's centre at that time, its right ascension
 * and declination, and its height, all in radians. FALSE: there is none, or the array is not known
 * to be on Earth. */
typedef struct {
  guint beam;
  double ra, dec, height;
} AstroBeamformLow;
gboolean astro_beamform_steering_find_low(AstroBeamformSteering *steering, gint64 ns,
                                          AstroBeamformLow *low);

G_END_DECLS
