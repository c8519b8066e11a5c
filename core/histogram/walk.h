/* A walk through two trees of points, for counts that look at every pair of near leaves. */
#pragma once

#include "core/histogram/count.h"

G_BEGIN_DECLS

typedef struct _Walk Walk;

typedef struct {
  /* Whether a pair of the two cells may lie within the bins. */
  gboolean (*may_count)(const Walk *walk, const Cell *a, const Cell *b);
  void (*leaves)(Walk *walk, const Cell *a, const Cell *b);
  void (*leaf)(Walk *walk, const Cell *cell); /* each pair within it once */
} Visits;

struct _Walk {
  const Visits *visits;
  const Counter *counter;
  const AstroPoints *a, *b;
  const AstroHistogramCall *call; /* or NULL */
  gsize n_bins;
  guint64 *counts;
  double *sums; /* [plane][bin]; NULL where there are no weights */
};

/* Adds all pairs to the count, by all threads. FALSE: there is no memory for the sums. */
gboolean walk_count(Count *count, gboolean alone, const Visits *visits, GError **error);

G_END_DECLS
