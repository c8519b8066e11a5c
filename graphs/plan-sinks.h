/* Puts sinks that drop everything in the place of those of a pipeline. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct {
  GstElement *element; /* the new one */
  GstPad *pad;         /* its input */
  gboolean is_file;    /* the old one would write a file */
  gboolean is_ours;    /* it gets a stream of ours, not a picture made of it */
} AstroPlanSink;

/* Returns AstroPlanSink *, for each pad of a sink that was linked. A new sink takes the caps that
 * the old one takes. */
GPtrArray *astro_plan_replace_sinks(GstElement *pipeline);

G_END_DECLS
