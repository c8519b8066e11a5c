/* For visibilities whose geometric delays were not removed: how far their phases are from those
 * that (u,v,w) assume. For an array in a plane that faces the phase centre the difference is small,
 * as long as the sky has not moved on. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct AstroUndelayed AstroUndelayed;

/* NULL if delays were removed, if there are no pairs of stations, or if the start or the phase
 * centre is unknown. */
AstroUndelayed *astro_undelayed_new(AstroObservation *observation, const AstroStream *visibilities);
void astro_undelayed_free(AstroUndelayed *undelayed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroUndelayed, astro_undelayed_free)

/* The largest phase error of any pair at that time, in cycles, at the highest frequency. */
double astro_undelayed_turns(AstroUndelayed *undelayed, gint64 ns_since_start);

/* This many cycles move a source by an eighth of the longest baseline's resolution. */
#define ASTRO_UNDELAYED_LITTLE 0.125

G_END_DECLS
