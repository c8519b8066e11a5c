/* The dispersion measures that were taken out, for observation.c alone: in its event. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

void astro_dms_to_structure(const AstroObservation *observation, GstStructure *s);
/* An event without dispersion measures has none. The observation must have none yet. */
gboolean astro_dms_from_structure(AstroObservation *observation, const GstStructure *s,
                                  GError **error);

G_END_DECLS
