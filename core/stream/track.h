/* The axes of (u,v,w) as time goes on, at the cost of a rotation: astro_uvw_axes() is asked once a
 * minute only. Within 1e-12 of it, or 5e-12 with polar motion, since the earth then turns about an
 * axis beside the positions'; continuous, and the same whatever times were asked before. */
#pragma once

#include "core/stream/uvw.h"

G_BEGIN_DECLS

typedef struct AstroTrack AstroTrack;

AstroTrack *astro_track_new(AstroObservation *observation); /* keeps a reference */
void astro_track_free(AstroTrack *track);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroTrack, astro_track_free)

/* As astro_uvw_axes(). One thread at a time. */
void astro_track_axes(AstroTrack *track, gint64 ns_since_start, double axes[3][3]);

G_END_DECLS
