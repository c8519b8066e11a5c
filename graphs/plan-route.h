/* Where a stage's blocks come from and go to. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  gboolean from_host, to_host; /* some of its blocks come from the host, or are read there */
} AstroPlanRoute;

/* on_device: the elements that work on the GPU. Between two of them blocks stay there, also through
 * elements that only hand them on, such as queues and tees. */
AstroPlanRoute astro_plan_route(GstElement *element, GHashTable *on_device);

G_END_DECLS
