/* The instance of the OpenCL correlator: correlator.c is the backend and adds products to sums,
 * visibilities.c makes visibilities from them. */
#pragma once

#include "core/correlator/counts.h"
#include "opencl/runtime/opencl.h"

typedef struct {
  AstroCorrelatorConfig config;
  AstroPlace place;
  guint inputs, side; /* work items along a side of a tile */
  guint64 products;   /* of a channel */
  gboolean is_float;
  cl_kernel correlate, check, dump, join;
  gpointer sums; /* complex channel:baseline:pol:pol of the lower triangle, gint64 or double */
  gboolean have_sums;
  AstroCorrelatorCounts counts;
  AstroOpenclRoom upload[2]; /* validity, lost samples, or the counts of parts */
  gpointer failed;           /* the number of channels from one whose sum does not fit on */
} Correlator;

gboolean astro_opencl_correlator_open_visibilities(Correlator *self, GError **error);
/* Writes the visibilities of the integration, unless a sum does not fit. */
gboolean astro_opencl_correlator_dump(Correlator *self, gpointer out, GError **error);
/* Adds the visibilities that another instance has made. */
gboolean astro_opencl_correlator_join(Correlator *self, const AstroBlock *in, guint n_in,
                                      const AstroBlock *out, guint n_out,
                                      const AstroCorrelatorPart parts[2], GError **error);
