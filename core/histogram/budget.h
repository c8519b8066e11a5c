/* How much memory counting takes, and what is left of a budget for each catalogue. */
#pragma once

#include "core/histogram/histogram.h"
#include "core/lib/catalogue/held.h"
#include "core/stream/histogram-summary.h"

G_BEGIN_DECLS

/* Bytes that a histogram of catalogues on these sides takes besides their points: counts, sums, and
 * what threads and that many devices add up. */
guint64 astro_histogram_bytes(const AstroHistogramConfig *config,
                              const gboolean is_there[ASTRO_N_SIDES], guint devices);

/* Shares a budget among the catalogues that are in memory at once. *limit: up to where one of them
 * is held in memory, as a whole or in two slices of ASTRO_HISTOGRAM_LEAST_SLICE points or more.
 * FALSE: it is too small. budget 0: there is no limit. */
#define ASTRO_HISTOGRAM_LEAST_SLICE 4096
gboolean astro_histogram_share(const AstroHistogramConfig *config,
                               const gboolean is_there[ASTRO_N_SIDES], guint devices,
                               guint64 budget, AstroHeldLimit *limit, GError **error);

/* Points in a slice of a catalogue of so many columns, two of which are in memory at once. */
guint64 astro_histogram_slice_points(const AstroHeldLimit *limit, guint columns);

G_END_DECLS
