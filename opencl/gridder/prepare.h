/* Visibilities prepared on an OpenCL device (core/gridder/prepare.h). */
#pragma once

#include "core/gridder/prepare.h"
#include "opencl/runtime/opencl.h"

#define ASTRO_OPENCL_TOTALS_ITEMS 64 /* as in totals.cl */

/* The totals of one channel; a visibility counts once, not once a product. */
typedef struct {
  guint64 weights[2]; /* units of 2^-24 and of 2^-52 */
  guint64 used, outside, flagged, not_finite;
} AstroOpenclTotals;

/* Rows whose weights are changed, with addresses of the device. */
typedef struct {
  AstroWeighting weighting;
  double robust;
  gboolean per_channel;
  const AstroGrid *grid;
  gpointer weights, factors, values;
  gpointer totals; /* out: the sums of the new weights, in the first of these */
  guint n_totals;
} AstroOpenclWeights;

gboolean astro_opencl_weights_apply(const AstroOpenclWeights *weights, const AstroGridRows *rows,
                                    const AstroPlace *place, GError **error);

/* Whether the device's compiler takes what is needed: before there is an observation. */
gboolean astro_opencl_prepare_compiles(const AstroPrepareConfig *config, const AstroPlace *place,
                                       GError **error);
gboolean astro_opencl_weights_compile(gboolean is_double, const AstroPlace *place, GError **error);

extern const AstroPrepareFuncs astro_opencl_prepare_funcs;
