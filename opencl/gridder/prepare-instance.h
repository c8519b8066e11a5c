/* The instance that prepares visibilities on an OpenCL device: prepare.c holds rows and counts,
 * prepare-dumps.c adds dumps to them. */
#pragma once

#include "opencl/gridder/prepare.h"

/* Kernels of prepare.cl. */
enum { PREPARE, COUNT, ADD_UP, N_KERNELS };

struct _AstroPrepare {
  AstroDumps dumps;
  AstroPlace place;
  cl_kernel kernels[N_KERNELS];
  gpointer positions, wavenumbers, group_wavenumbers, totals;
  gpointer fates, shares; /* of a dump's visibilities */
  gpointer counts;        /* of good samples */
  gsize counts_bytes;

  guint64 rows, capacity;
  gpointer uvw, weights, factors, values; /* weights and factors: NULL unless keep_weights */
  /* A dump's rows of all channels, where those of a row are sums of several; else NULL. */
  gpointer wide_values, wide_weights;
  gpointer aligned; /* a copy of a dump that is not aligned for loads */
  gpointer given;   /* (u,v,w) that a dump brings; NULL: none has brought any */
};

static inline gboolean astro_opencl_prepare_alloc(const AstroPrepare *self, gpointer face,
                                                  gsize bytes, GError **error)
{
  return astro_opencl_alloc(&self->place, "gridder", face, MAX(bytes, 1), 1, error);
}

static inline gsize astro_opencl_visibility_bytes(const AstroDumps *dumps)
{
  return dumps->n_products * (dumps->config.is_double ? 16 : 8);
}

/* AstroPrepareFuncs.add; there is room for the dump's rows. */
gboolean astro_opencl_prepare_add(AstroPrepare *self, gpointer dump,
                                  const AstroValidityMeta *validity, const AstroLayout *shape,
                                  guint64 number, gint64 middle_ns, const double *uvw,
                                  GError **error);
