/* What elements write to GStreamer's debug log, in a category of the element's own, called as its
 * factory is: GST_DEBUG=astrocorrelator:5, or astro*:5 for all of them. INFO (4) tells what was
 * agreed on, DEBUG (5) what costs time or samples, LOG (6) each block.
 *
 * While nobody listens each costs a comparison; what it would say is not made. */
#pragma once

#include <gst/gst.h>
#include "core/kit/exports.h"

ASTRO_BEGIN_DECLS

/* Of a GstElement, or of the one that a pad belongs to. */
GstDebugCategory *astro_log_category(gpointer object);

#define ASTRO_WARN(object, ...)                                                                    \
  GST_CAT_WARNING_OBJECT(astro_log_category(object), object, __VA_ARGS__)
#define ASTRO_INFO(object, ...) GST_CAT_INFO_OBJECT(astro_log_category(object), object, __VA_ARGS__)
#define ASTRO_DEBUG(object, ...)                                                                   \
  GST_CAT_DEBUG_OBJECT(astro_log_category(object), object, __VA_ARGS__)
#define ASTRO_LOG(object, ...) GST_CAT_LOG_OBJECT(astro_log_category(object), object, __VA_ARGS__)

/* out may be NULL, as in may. */
void astro_log_caps(gpointer element, const GstCaps *in, const GstCaps *out);

/* A wait of so many ns that is long enough to be of interest. what: "for the device". */
void astro_log_wait(gpointer element, const char *what, guint64 ns);

/* After a buffer was taken from a pool (core/memory/pool.h) that had made so many before: that it
 * had to make another one. */
void astro_log_growth(gpointer element, GstBufferPool *pool, guint before);

/* A block that came or goes. way: "in" or "out". */
void astro_log_block(gpointer element, const char *way, GstBuffer *block);

ASTRO_END_DECLS
