/* What sinks of a graph wait for. */
#pragma once

#include <gst/gst.h>

/* A sink that keeps to no clock does not hold all others up until its own first buffer comes: that
 * may be at the end of the stream, as an image's is, and behind a tee nothing would get there. */
void astro_release_sinks(GstElement *pipeline);
