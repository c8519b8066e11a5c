/* Small host data that kernels of a submit need: directions, tables, lists. */
#pragma once

#include "gpu/runtime/cuda.h"

struct AstroCudaUpload {
  gpointer block; /* on the device; freed by astro_cuda_free */
  gsize bytes;
};

struct AstroCudaPiece {
  gconstpointer host;
  gsize bytes;
  gpointer device; /* set by astro_cuda_upload */
};

/* Queues the copies of all pieces for the next kernels, one after the other in one block: those
 * with the widest elements come first. stage is named in the error. */
gboolean astro_cuda_upload(AstroCudaUpload *self, const AstroPlace *place, const char *stage,
                           AstroCudaPiece *pieces, guint n, GError **error);
