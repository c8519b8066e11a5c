/* Why two elements could not be linked, which GStreamer's parser does not say. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The message of the error with which a pipeline was parsed, as far as it was, and what either
 * element would have had flow between them. */
char *astro_explain_unlinked(GstElement *pipeline, const GError *error);

G_END_DECLS
