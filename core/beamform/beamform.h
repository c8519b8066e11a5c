/* Beamformer: weighted sums over stations, each with the phases that align a wave from the beam's
 * direction. For every step, channel and polarisation,
 *
 *   beam = scale x sum over s of w(s) exp(-2 pi i f tau(s)) x(s) / sum over s of |w(s)|
 *
 * over the stations that take part and whose sample is good (both polarisations of it). f is the
 * middle of the channel; tau is how much earlier, in seconds, a wave from the beam's direction
 * reaches the station, relative to the centre of the array, than one from the phase centre does.
 *
 * So a beam is a mean. A source in its direction keeps its amplitude, whichever stations are
 * missing; noise of n equal stations falls by sqrt(n). With weights of 1, a beam at the phase
 * centre is the plain mean of the stations. Where no station is good, the beam is 0 and its count
 * of good samples too (losses.h).
 *
 * tau changes as the Earth turns, so slowly that it is kept for a whole number of steps, the
 * interval (steer.h). Intervals begin at multiples of that number, counted from step 0, and have
 * tau of their middle, so that results do not depend on how a stream is cut into blocks. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_BEAMFORM_MAX_BEAMS 65536

/* Spectra with axes time, channel, station and pol in any order; CI4 CI8 CI16LE CF16LE CF32LE. The
 * output has axis beam in the place of station; CF32LE CF16LE CI16LE CI8. */
typedef struct {
  AstroStream in, out;
} AstroBeamformConfig;

/* The stations that take part. */
typedef struct {
  guint n;
  const guint *index;    /* on the input's station axis */
  const double *seconds; /* x y z relative to the array's centre, over the speed of light */
  const float *weights;  /* [channel][station that takes part][re, im]; NULL: all are 1 */
  double scale;
} AstroBeamformStations;

typedef struct {
  const AstroBeamformStations *stations;
  guint64 first, steps; /* of the block */
  guint64 interval;     /* steps with the same phases */
  /* Direction of each beam minus that of the phase centre, in the frame of the stations: [interval,
   * from that of step `first` on][beam][x, y, z]. */
  const double *offsets;
  const AstroValidityMeta *validity; /* of the input block; NULL: no losses */
} AstroBeamformArguments;

/* The number of intervals that a block has steps of. */
guint64 astro_beamform_intervals(guint64 first, guint64 steps, guint64 interval);

/* submit takes one block in and one out, and AstroBeamformArguments; it adds to the result's
 * clipped. */
extern const AstroBackend astro_beamform_reference;
extern const AstroBackend astro_beamform_cpu;
extern const AstroBackend *const astro_beamform_backends[]; /* ends with NULL */

/* An AstroTellWork. */
gboolean astro_beamform_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
