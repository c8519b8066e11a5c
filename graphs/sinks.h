/* Sets whether the sinks of a graph wait for each other. */
#pragma once

#include <gst/gst.h>

/* Sets async=false on sinks that do not sync to the clock, so that they do not hold up all others
 * until their own first buffer comes. That may be at the end of the stream, as for an image, and
 * downstream of a tee it would then never come. */
void astro_release_sinks(GstElement *pipeline);
