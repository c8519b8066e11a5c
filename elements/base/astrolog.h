/* GStreamer's debug log. Each element has a category with the name of its factory, so that
 * GST_DEBUG=astrocorrelator:5 shows one element and astro*:5 shows all of them; an element of
 * another plugin, whose name begins otherwise, has "astro-" and its name. INFO (4) tells which caps
 * and backend were agreed on, DEBUG (5) what costs time or samples, LOG (6) every block.
 *
 * While a level is off, a line at that level costs one comparison and its text is not made. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* The category of a GstElement, or of the element that a pad belongs to. */
GstDebugCategory *astro_log_category(gpointer object);

#define ASTRO_WARN(object, ...)                                                                    \
  GST_CAT_WARNING_OBJECT(astro_log_category(object), object, __VA_ARGS__)
#define ASTRO_INFO(object, ...) GST_CAT_INFO_OBJECT(astro_log_category(object), object, __VA_ARGS__)
#define ASTRO_DEBUG(object, ...)                                                                   \
  GST_CAT_DEBUG_OBJECT(astro_log_category(object), object, __VA_ARGS__)
#define ASTRO_LOG(object, ...) GST_CAT_LOG_OBJECT(astro_log_category(object), object, __VA_ARGS__)

/* Either may be NULL, not both. */
void astro_log_caps(gpointer element, const GstCaps *in, const GstCaps *out);

/* A wait of that many ns, if it is long enough to matter. what: "for the device". */
void astro_log_wait(gpointer element, const char *what, guint64 ns);

/* Called after taking a buffer from a pool that had made `before` of them until then: says so if
 * the pool had to make another one. */
void astro_log_growth(gpointer element, GstBufferPool *pool, guint before);

/* A block that came or goes, with a summary of its counts of good samples. way: "in" or "out". */
void astro_log_block(gpointer element, const char *way, GstBuffer *block);

ASTRO_END_DECLS
