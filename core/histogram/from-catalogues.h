/* Collects histograms of all kinds of pairs from catalogues: DD once, and sums of DR and RR over
 * all random catalogues. Two data catalogues give D1D2, D1R2, R1D2 and R1R2. */
#pragma once

#include "core/lib/catalogue/held.h"
#include "core/histogram/pair-weights.h"
#include "core/stream/histogram-summary.h"

G_BEGIN_DECLS

typedef struct _AstroCollector AstroCollector;

/* config: weighted if any catalogue has weights. is_there: which sides have catalogues. Regions are
 * read from a column of the catalogues, or made from the first data catalogue. */
AstroCollector *astro_collector_new(const AstroHistogramConfig *config,
                                    const gboolean is_there[ASTRO_N_SIDES],
                                    const AstroBackend *backend, const AstroPlace *place,
                                    GError **error);
/* Before data: places of the backend that count together, in place of the one. */
void astro_collector_share(AstroCollector *collector, const AstroPlace *places, guint n);
void astro_collector_free(AstroCollector *collector);

/* Before data: weights of pairs of data, and of data and random points, by tables of angles, which
 * stay the caller's. NULL: none. The configuration weighs pairs. */
void astro_collector_set_tables(AstroCollector *collector, const PairTable *dd,
                                const PairTable *dr);

/* Before data or random points are taken, or both: several processes count them together, and this
 * is the one of that rank. Summed up over the processes, values and summaries are those of one.
 * ranks 0: this one counts nothing of them. */
void astro_collector_deal(AstroCollector *collector, guint rank, guint ranks);
const char *astro_collector_variant(const AstroCollector *collector); /* NULL before a count */

/* Data come first. Empty catalogues are refused. A device may still be counting when these return;
 * the next call waits for it, and until then it may call progress. */
gboolean astro_collector_add_data(AstroCollector *collector, const AstroCatalogue *data,
                                  const AstroCatalogue *data2, AstroHistogramCall *call,
                                  GError **error);
gboolean astro_collector_add_random(AstroCollector *collector, const AstroCatalogue *random,
                                    const AstroCatalogue *random2, AstroHistogramCall *call,
                                    GError **error);

/* The same for catalogues that may be in files, and are freed as soon as they are not needed. A
 * NULL is an empty one. */
gboolean astro_collector_take_data(AstroCollector *collector, AstroHeld *data, AstroHeld *data2,
                                   AstroHistogramCall *call, GError **error);
gboolean astro_collector_take_random(AstroCollector *collector, AstroHeld *random,
                                     AstroHeld *random2, AstroHistogramCall *call, GError **error);
/* How much memory a catalogue may take, from astro_histogram_share(). One that is in a file is
 * counted in slices that keep to it. */
void astro_collector_set_limit(AstroCollector *collector, const AstroHeldLimit *limit);

/* FALSE if a random catalogue was expected and none came. */
gboolean astro_collector_is_complete(const AstroCollector *collector, GError **error);

/* Waits until everything is counted, before values are asked for. After an error, including that of
 * a cancelled count, values are those of the catalogues before it. */
gboolean astro_collector_finish(AstroCollector *collector, GError **error);
guint64 astro_collector_n_random(const AstroCollector *collector); /* in values */
/* Pairs at any separation that this process has counted. */
guint64 astro_collector_n_pairs(const AstroCollector *collector);

/* "dd:dr:rr"; with fields all planes of each kind: "dd:dd_r:dd_xi:dd_var" */
char *astro_collector_kinds(const AstroCollector *collector);
const char *astro_collector_kind(const AstroCollector *collector); /* being counted now */
/* How many points of the latest catalogue have negative weights. */
guint64 astro_collector_n_negative(const AstroCollector *collector, AstroSide side);
gboolean astro_collector_is_weighted(const AstroCollector *collector);
/* U64 counts, or F64 sums of weights, [kind][region][region][bin]. */
gconstpointer astro_collector_values(const AstroCollector *collector, gsize *bytes);
void astro_collector_summary(const AstroCollector *collector, AstroSummary *summary);

G_END_DECLS
