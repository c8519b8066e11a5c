/* From catalogues to histograms of all kinds of pairs: DD once, DR and RR with every random
 * catalogue that comes, summed up. Two data catalogues give D1D2, D1R2, R1D2 and R1R2. */
#pragma once

#include "core/lib/catalogue/catalogue.h"
#include "core/histogram/histogram.h"
#include "core/stream/histogram-summary.h"

G_BEGIN_DECLS

typedef struct _AstroCollector AstroCollector;

/* config: weighted where any catalogue has weights. is_there: which sides have catalogues.
 * Regions are the catalogues' column, or made from the first data catalogue. */
AstroCollector *astro_collector_new(const AstroHistogramConfig *config,
                                    const gboolean is_there[ASTRO_N_SIDES],
                                    const AstroBackend *backend, const AstroPlace *place,
                                    GError **error);
void astro_collector_free(AstroCollector *collector);
const char *astro_collector_variant(const AstroCollector *collector); /* NULL before a count */

/* Data first. Empty catalogues are refused. What a device counts is waited for at the next call: so
 * long a call's progress may be called. */
gboolean astro_collector_add_data(AstroCollector *collector, const AstroCatalogue *data,
                                  const AstroCatalogue *data2, AstroHistogramCall *call,
                                  GError **error);
gboolean astro_collector_add_random(AstroCollector *collector, const AstroCatalogue *random,
                                    const AstroCatalogue *random2, AstroHistogramCall *call,
                                    GError **error);

/* FALSE where there is to be a random catalogue, and none came. */
gboolean astro_collector_is_complete(const AstroCollector *collector, GError **error);

/* Waits for what is being counted, before values are asked for. After an error, and where that was
 * that a count is cancelled, values are those of the catalogues before. */
gboolean astro_collector_finish(AstroCollector *collector, GError **error);
guint64 astro_collector_n_random(const AstroCollector *collector); /* that values are of */

char *astro_collector_kinds(const AstroCollector *collector);      /* "dd:dr:rr" */
const char *astro_collector_kind(const AstroCollector *collector); /* that is counted now */
/* Points of the latest catalogue whose weight is below 0. */
guint64 astro_collector_n_negative(const AstroCollector *collector, AstroSide side);
gboolean astro_collector_is_weighted(const AstroCollector *collector);
/* U64 counts, or F64 sums of weights, [kind][region][region][bin]. */
gconstpointer astro_collector_values(const AstroCollector *collector, gsize *bytes);
void astro_collector_summary(const AstroCollector *collector, AstroSummary *summary);

G_END_DECLS
