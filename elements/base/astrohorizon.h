/* Whether an array can see the direction it is pointed at, for elements whose user sets a phase
 * centre. */
#pragma once

#include <gst/gst.h>
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* Warns if the observation's phase centre is below the horizon at the start. The warning says
 * whether it ever rises there, and what to set instead. */
void astro_horizon_warn(GstElement *element, AstroObservation *observation, const char *expected);

G_END_DECLS
