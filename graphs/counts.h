/* Counts the work of each element of a pipeline. Our own elements count for themselves, in their
 * property stats; others are watched at their pads. */
#pragma once

#include <gst/gst.h>

G_BEGIN_DECLS

typedef struct _AstroCounts AstroCounts;

/* Begins to count. */
AstroCounts *astro_counts_new(GstElement *pipeline);
/* The counts of an element, by any thread: buffers-in, buffers-out, bytes-in, bytes-out, and all
 * that its property stats says. To be freed. */
GstStructure *astro_counts_of(AstroCounts *counts, GstElement *element);
/* The property stats of some bin, of those where it has that name; NULL: none has. To be freed. */
GstStructure *astro_counts_of_bins(const AstroCounts *counts, const char *name);
/* The elements from sources to sinks, those within bins included but no bins; to be unref'd. */
GPtrArray *astro_counts_elements(const AstroCounts *counts);
void astro_counts_free(AstroCounts *counts);

G_END_DECLS
