/* The observation's beams, for observation.c alone: copied, and in the event. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

void astro_beams_copy(AstroObservation *to, const AstroObservation *from);
void astro_beams_to_structure(const AstroObservation *observation, GstStructure *s);
/* An event without beams has none. The observation must have none yet. */
gboolean astro_beams_from_structure(AstroObservation *observation, const GstStructure *s,
                                    GError **error);

G_END_DECLS
