/* Uniform and Briggs weights, which depend on how many visibilities fall into the same cell. */
#pragma once

#include "core/gridder/store.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_WEIGHTING_NATURAL, /* by the good samples behind them */
  ASTRO_WEIGHTING_UNIFORM, /* every cell has the same weight */
  ASTRO_WEIGHTING_BRIGGS   /* between the two: robust -2 uniform, 2 natural */
} AstroWeighting;

typedef struct {
  AstroWeighting weighting;
  double robust;
  gboolean per_channel; /* each channel has cells of its own */
  const AstroGrid *grid;
  const float *weights; /* natural weights, [row][channel] */
  float *factors;       /* in and out: the factors that values are multiplied by, beside the natural
                           weights */
  gpointer values;      /* in and out: those of the rows */
  double *sums;         /* out: of the new weights, one a channel */
} AstroWeights;

/* Cells are those of a grid without padding. A visibility counts in the opposite cell too. */
gboolean astro_weights_apply(const AstroWeights *weights, const AstroGridRows *rows,
                             GError **error);
/* The same for rows in a file, whose factors it writes there; weights, factors and values are not
 * used. */
gboolean astro_weights_apply_stored(const AstroWeights *weights, AstroRowStore *store,
                                    GError **error);
/* Bytes that either needs. */
guint64 astro_weights_bytes(const AstroGrid *grid);

G_END_DECLS
