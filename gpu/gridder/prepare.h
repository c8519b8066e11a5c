/* Visibilities made ready on the device (core/gridder/prepare.h), and what its files share. */
#pragma once

#include "gpu/gridder/fixed-point.h"
#include "gpu/gridder/gridder.h"

extern "C" {
#include "core/gridder/prepare.h"
}

/* Of a channel; visibilities are counted once, not for each product. */
struct AstroCudaTotals {
  AstroFixed weights;
  unsigned long long used, outside, flagged, not_finite;
};

/* What weighting changes: rows as they are held, with device pointers. */
struct AstroCudaWeights {
  AstroWeighting weighting;
  double robust;
  gboolean per_channel;
  const AstroGrid *grid;
  const float *weights;
  float *factors;
  gpointer values;
  AstroCudaTotals *totals; /* whose weights are made anew */
};

gboolean astro_cuda_weights_apply(const AstroCudaWeights *weights, const AstroGridRows *rows,
                                  const AstroPlace *place, GError **error);

extern const AstroPrepareFuncs astro_cuda_prepare_funcs;
