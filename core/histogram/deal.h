/* One pair of catalogues that several instances count together: each takes pairs of tops from the
 * deal until none is left, so that every pair of points is counted by exactly one of them. */
#pragma once

#include "core/backend/device-list.h"
#include "core/histogram/points.h"

G_BEGIN_DECLS

struct _AstroHistogramDeal {
  guint64 n_a, n_b; /* tops of the two catalogues */
  guint n_lanes;    /* instances that take part, of all processes */
  guint first, own; /* the first of this process, and how many it has */
  gboolean alone;   /* pairs within one catalogue */
  gint ended;       /* atomic: nothing more is given out */
  /* Columns of b's tops belong to the lanes in turn, so that each row of a's tops and each diagonal
   * is shared evenly. Atomic: how much of each own lane's columns has been given out. */
  guint64 given[ASTRO_MOST_DEVICES];
};

/* b is a for pairs within one catalogue. Process `rank` of `ranks` has `own` of the lanes; each has
 * the same tops, as these follow from the points alone. */
void histogram_deal_init(AstroHistogramDeal *deal, const AstroPoints *a, const AstroPoints *b,
                         gboolean alone, guint own, guint rank, guint ranks);
/* The next pair of tops for a lane (0 to own - 1): from its own columns, or, where these are done,
 * from those of a lane of this process that is slower. is_own says which. FALSE: no pair is left.
 */
gboolean histogram_deal_take(AstroHistogramDeal *deal, guint lane, guint64 *a, guint64 *b,
                             gboolean *is_own);
/* For backends that deal out something else, numbered from 0: whether one belongs to a lane. */
gboolean histogram_deal_has(const AstroHistogramDeal *deal, guint lane, guint64 number);
/* After this nobody gets more, because the count has failed or was stopped. */
void histogram_deal_end(AstroHistogramDeal *deal);

G_END_DECLS
