/* The other branches of a pipeline, for an element that waits for what they say. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The pipeline or bin that has all others; NULL: the element is in none. A new reference. */
GstElement *astro_branches_top(GstElement *element);

/* Whether each sink of the pipeline has had EOS, but for those downstream of an element of the
 * given type: those would wait for each other. */
gboolean astro_branches_have_ended(GstElement *element, GType waiting);

G_END_DECLS
