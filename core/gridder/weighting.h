/* Weights that depend on how many visibilities fall into the same cell. */
#pragma once

#include "core/gridder/gridder.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_WEIGHTING_NATURAL, /* as they come */
  ASTRO_WEIGHTING_UNIFORM, /* every cell counts the same */
  ASTRO_WEIGHTING_BRIGGS   /* between the two: robust -2 uniform, 2 natural */
} AstroWeighting;

typedef struct {
  AstroWeighting weighting;
  double robust;
  gboolean per_channel; /* cells of each channel are its own */
  const AstroGrid *grid;
  const float *weights; /* natural ones, [row][channel] */
  float *factors;       /* that values were multiplied by, and are from now on */
  gpointer values;      /* of the rows, to be changed */
  double *sums;         /* out: of the new weights, of each channel */
} AstroWeights;

/* Cells are those of a grid without padding; a visibility counts in the cell opposite too. */
gboolean astro_weights_apply(const AstroWeights *weights, const AstroGridRows *rows,
                             GError **error);

G_END_DECLS
