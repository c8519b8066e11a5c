/* The pictures that a graph writes. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Names of the files that sinks have written images to (PNG, JPEG): asked while the pipeline still
 * has its caps. */
GPtrArray *astro_pictures_written(GstElement *pipeline);

G_END_DECLS
