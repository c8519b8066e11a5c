/* Visibilities prepared on the device (core/gridder/prepare.h): declarations that its files share.
 */
#pragma once

#include "gpu/gridder/fixed-point.h"
#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/prepare.h"
}

/* Totals of one channel; a visibility counts once, not once a product. */
struct AstroCudaTotals {
  AstroFixed weights;
  unsigned long long used, outside, flagged, not_finite;
};

/* Rows whose weights are changed, with device pointers. */
struct AstroCudaWeights {
  AstroWeighting weighting;
  double robust;
  gboolean per_channel;
  const AstroGrid *grid;
  const float *weights;
  float *factors;
  gpointer values;
  AstroCudaTotals *totals; /* out: the sums of the new weights, in the first ones */
  guint n_totals;
};

gboolean astro_cuda_weights_apply(const AstroCudaWeights *weights, const AstroGridRows *rows,
                                  const AstroPlace *place, GError **error);

extern const AstroPrepareFuncs astro_cuda_prepare_funcs;
