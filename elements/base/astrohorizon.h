/* Whether an array can see what it is pointed at, in elements that are told a phase centre. */
#pragma once

#include <gst/gst.h>
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* A warning where the observation's phase centre is down at the start, which says whether it ever
 * rises there, and what to set instead. */
void astro_horizon_warn(GstElement *element, AstroObservation *observation, const char *expected);

G_END_DECLS
