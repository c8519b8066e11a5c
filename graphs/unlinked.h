/* Explains why two elements could not be linked, which GStreamer's parser does not say. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

/* The parser's error message, extended by the caps that either element offers or accepts. pipeline
 * is as far as it was parsed. */
char *astro_explain_unlinked(GstElement *pipeline, const GError *error);

G_END_DECLS
