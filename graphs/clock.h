/* The clock that a user chooses for a pipeline. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Seconds to wait for a PTP clock, unless the environment sets others. */
#define ASTRO_CLOCK_WAIT 30
#define ASTRO_CLOCK_WAIT_VARIABLE "GST_ASTRO_CLOCK_WAIT"

/* Says why there is no clock with that name; NULL: there is one. */
char *astro_clock_check(const char *name);

/* Sets the pipeline's clock: system, realtime or ptp:DOMAIN. This waits until a PTP clock keeps the
 * time of a master. Returns what went wrong, or NULL. */
char *astro_clock_set(GstElement *pipeline, const char *name, gboolean is_quiet);
/* Ends the use of PTP, after the pipeline. */
void astro_clock_release(void);

G_END_DECLS
