/* Lists the pictures that a graph writes. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* Names of the image files (PNG, JPEG) that sinks have written. Call it while the pipeline still
 * has its caps. */
GPtrArray *astro_pictures_written(GstElement *pipeline);

G_END_DECLS
