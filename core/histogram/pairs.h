/* One count: what both backends are asked for, checked, and the sums that tasks add to. */
#pragma once

#include "core/histogram/points.h"

G_BEGIN_DECLS

/* An instance of a backend. */
typedef struct {
  AstroHistogramConfig config;
  double squares[ASTRO_HISTOGRAM_MAX_EDGES]; /* of the edges' chords */
  guint threads;
  const HistogramKernels *kernels; /* NULL: the reference */
} Counter;

typedef struct {
  const Counter *counter;
  const AstroPoints *a, *b; /* the same one for pairs of one catalogue */
  guint64 *counts;
  double *sums; /* NULL where there are no weights */
  const AstroHistogramCall *call;
  GMutex lock; /* around progress */
  guint64 done, total;
  gint cancelled; /* atomic */
} Count;

gboolean histogram_shape(gconstpointer config, GError **error);
gpointer histogram_create(gconstpointer config, const AstroPlace *place,
                          const HistogramKernels *kernels, GError **error);
void histogram_destroy(gpointer counter);

/* Fills in a count from what submit got and clears the outputs. */
gboolean count_begin(Count *count, const Counter *counter, const AstroBlock *in, guint n_in,
                     const AstroBlock *out, guint n_out, gconstpointer arguments, GError **error);
gboolean count_is_cancelled(Count *count);
void count_report(Count *count, guint64 pairs);   /* done since the last report */
gboolean count_end(Count *count, GError **error); /* FALSE where it was cancelled */

/* Adds a histogram of n_edges + 1 places (below the first edge, the bins, from the last edge on) to
 * a cell of the outputs. Weights may be NULL. Only counts may be added from several threads at
 * once. */
void count_add(Count *count, guint region_a, guint region_b, const guint64 *places,
               const double *weights);

G_END_DECLS
