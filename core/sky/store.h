/* From components of single precision to the samples of a block. */
#pragma once

#include "core/sky/kernels.h"
#include "core/stream/stream.h"

typedef struct {
  AstroFormat format;
  float limit; /* the largest whole number; 0: floating point */
  double rms;  /* of each component, that noise is scaled to; 0: not scaled */
  gsize bytes; /* of a sample */
} AstroStore;

/* NULL where samples of that format cannot be written. */
const AstroStore *astro_store_get(AstroFormat format);

/* n samples (the inputs hold n rounded up to 16), times scale, to out and every stride samples. */
void astro_store(const AstroStore *store, const AstroSkyKernels *kernels, const float *re,
                 const float *im, guint n, float scale, gpointer out, gsize stride);
