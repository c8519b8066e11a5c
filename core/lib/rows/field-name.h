/* A name for the field of an observation, which has none in the stream. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* Made from its position: J1234+5678. To be freed. */
char *astro_field_name(const AstroObservation *observation);

G_END_DECLS
