/* Counts the pairs of catalogues of which one, or both, are in slices. */
#pragma once

#include "core/histogram/shares.h"
#include "core/histogram/side.h"

G_BEGIN_DECLS

typedef struct {
  const AstroHistogramConfig *config;
  HistogramShares *shares;
  const SideRules *rules;
  const Side *a, *b; /* the same for pairs within one catalogue */
  guint64 *counts;   /* overwritten */
  double *sums;      /* NULL where there are no weights */
  const AstroHistogramCall *call;
} SliceCount;

/* The counts are those that one submit of both catalogues gives. Sums of weights are added in
 * another order. */
gboolean count_slices(const SliceCount *count, GError **error);

G_END_DECLS
