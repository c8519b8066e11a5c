/* Visibilities whose delays were not taken out: how far they are from what (u,v,w) say of them.
 * Where an array lies flat below its phase centre that is little, for as long as the sky stands
 * there. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

typedef struct AstroUndelayed AstroUndelayed;

/* NULL where delays are out, where there are no pairs of stations, or where start or phase centre
 * are not known. */
AstroUndelayed *astro_undelayed_new(AstroObservation *observation, const AstroStream *visibilities);
void astro_undelayed_free(AstroUndelayed *undelayed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroUndelayed, astro_undelayed_free)

/* By how many turns phases of a pair are wrong then, at most, at the highest frequency. */
double astro_undelayed_turns(AstroUndelayed *undelayed, gint64 ns_since_start);

/* So many move a source by an eighth of what the longest baseline resolves. */
#define ASTRO_UNDELAYED_LITTLE 0.125

G_END_DECLS
