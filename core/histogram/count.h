/* One count of pairs: what a backend was asked for, and the sums that its tasks add to. */
#pragma once

#include "core/histogram/cell-rule.h"

G_BEGIN_DECLS

/* An instance of a backend. */
typedef struct {
  AstroHistogramConfig config;
  double squares[ASTRO_HISTOGRAM_MAX_EDGES]; /* of the edges' chords */
  SpaceRule *rule;                           /* in space, and where pairs have weights; else NULL */
  double *bits_weights;                      /* of common bits; NULL: bits are not looked at */
  guint threads;
  const HistogramKernels *kernels; /* NULL: the reference, or a device */
} Counter;

typedef struct {
  const Counter *counter;
  const AstroPoints *a, *b; /* the same for pairs within one catalogue */
  guint64 *counts;
  double *sums; /* of all planes; NULL where there are no weights */
  const AstroHistogramCall *call;
  GMutex lock; /* around progress */
  guint64 done, total;
  gint cancelled; /* atomic */
} Count;

gpointer histogram_create(gconstpointer config, const AstroPlace *place,
                          const HistogramKernels *kernels, GError **error);
void histogram_destroy(gpointer counter);

/* Checks what submit got, sets the count up for it and clears the outputs. */
gboolean count_begin(Count *count, const Counter *counter, const AstroBlock *in, guint n_in,
                     const AstroBlock *out, guint n_out, gconstpointer arguments, GError **error);
/* Whether each pair in the bins is looked at by itself: in space, where points carry something, and
 * where pairs have weights of their own. */
gboolean count_is_near(const Count *count);
/* For walks that count cells as a whole where they can. */
CellRule count_cell_rule(const Count *count);
gboolean count_is_cancelled(Count *count);
/* For tasks that are pairs of tops: sets *a and *b to those that were dealt to this instance, if it
 * shares the count with others. FALSE: none is left for it. */
gboolean count_takes(Count *count, guint64 *a, guint64 *b);
/* The same for other tasks, numbered from 0: whether one is dealt to this instance. */
gboolean count_has(const Count *count, guint64 number);
/* pairs: those counted since the last report. */
void count_report(Count *count, guint64 pairs);
/* FALSE with an error if the count was cancelled. */
gboolean count_end(Count *count, GError **error);

/* Adds the bins among n_edges + 1 places (below the first edge, the bins, from the last edge on) to
 * the outputs for these two regions. Weights may be NULL. Several threads may add counts at once,
 * but not weights. */
void count_add(Count *count, guint region_a, guint region_b, const guint64 *places,
               const double *weights);

G_END_DECLS
