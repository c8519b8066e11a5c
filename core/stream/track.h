/* The axes of (u,v,w) as a function of time, at the cost of one rotation per call: astro_uvw_axes()
 * is called only once a minute. The result is within 1e-12 of it, or within 5e-12 with polar
 * motion, as the Earth then rotates about an axis slightly off that of the positions. It is
 * continuous, and does not depend on the times asked for before. */
#pragma once

#include "core/stream/uvw.h"

G_BEGIN_DECLS

typedef struct AstroTrack AstroTrack;

AstroTrack *astro_track_new(AstroObservation *observation); /* keeps a reference */
void astro_track_free(AstroTrack *track);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroTrack, astro_track_free)

/* Like astro_uvw_axes(). Not thread-safe. */
void astro_track_axes(AstroTrack *track, gint64 ns_since_start, double axes[3][3]);

G_END_DECLS
