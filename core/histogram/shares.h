/* One backend at several places, such as GPUs, that count together: pairs of cells are dealt out to
 * them, and their counts are added up when they are drained. Integers are the same as those of one
 * place; sums of weights are added in another order. */
#pragma once

#include "core/backend/device-list.h"
#include "core/histogram/histogram.h"

G_BEGIN_DECLS

typedef struct _HistogramShares HistogramShares;

/* variant: as AstroBackend's create sets it. */
HistogramShares *histogram_shares_new(const AstroBackend *backend,
                                      const AstroHistogramConfig *config, const AstroPlace *places,
                                      guint n, const char **variant, GError **error);
void histogram_shares_free(HistogramShares *shares);

/* From now on they count only the share of process rank of ranks: all of these together count each
 * pair once, if they submit the same points. */
void histogram_shares_deal(HistogramShares *shares, guint rank, guint ranks);

/* As the backend's submit and drain. Outputs are complete after the drain, even if the backend has
 * none. Errors name the device, where there are several. */
gboolean histogram_shares_submit(HistogramShares *shares, const AstroBlock *in, guint n_in,
                                 const AstroBlock *out, guint n_out, const AstroHistogramCall *call,
                                 GError **error);
gboolean histogram_shares_drain(HistogramShares *shares, GError **error);

/* Pairs at any separation that were counted here, not by other processes, up to the last drain. */
guint64 histogram_shares_pairs(const HistogramShares *shares);

G_DEFINE_AUTOPTR_CLEANUP_FUNC(HistogramShares, histogram_shares_free)

G_END_DECLS
