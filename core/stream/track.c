/* Interpolates the axes of (u,v,w) between whole minutes. */
#include "config.h"
#include "core/stream/track.h"

#include <math.h>
#include <string.h>

#define INTERVAL G_GINT64_CONSTANT(60000000000)
#define EARTH_RATE 7.292115855e-14 /* radians per nanosecond, relative to the stars */

struct AstroTrack {
  AstroObservation *observation;
  gint64 interval; /* number of the present interval: they start at multiples of INTERVAL */
  gboolean filled;
  double anchors[2][3][3]; /* the axes at the interval's start and end */
};

AstroTrack *astro_track_new(AstroObservation *observation)
{
  AstroTrack *track = g_new0(AstroTrack, 1);
  track->observation = astro_observation_ref(observation);
  return track;
}

void astro_track_free(AstroTrack *track)
{
  astro_observation_unref(track->observation);
  g_free(track);
}

/* Both anchors are rotated with the Earth to the time asked for. The little by which they then
 * differ (precession, aberration) is taken to grow linearly with time. */
void astro_track_axes(AstroTrack *track, gint64 ns_since_start, double axes[3][3])
{
  gint64 interval = ns_since_start / INTERVAL - (ns_since_start % INTERVAL < 0);
  if (!track->filled || interval != track->interval) {
    const gboolean follows = track->filled && interval == track->interval + 1;
    if (follows)
      memcpy(track->anchors[0], track->anchors[1], sizeof track->anchors[0]);
    for (gint64 end = follows; end < 2; end++)
      astro_uvw_axes(track->observation, (interval + end) * INTERVAL, track->anchors[end]);
    track->interval = interval;
    track->filled = TRUE;
  }
  double passed = (double)(ns_since_start - interval * INTERVAL);
  memset(axes, 0, 9 * sizeof(double));
  for (guint end = 0; end < 2; end++) {
    double angle = EARTH_RATE * (passed - (double)(end * INTERVAL));
    double weight = end ? passed / INTERVAL : 1 - passed / INTERVAL;
    double cosine = weight * cos(angle), sine = weight * sin(angle);
    for (guint i = 0; i < 3; i++) {
      const double *anchor = track->anchors[end][i];
      axes[i][0] += cosine * anchor[0] + sine * anchor[1];
      axes[i][1] += cosine * anchor[1] - sine * anchor[0];
      axes[i][2] += weight * anchor[2];
    }
  }
}
