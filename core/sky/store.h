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

/* A tile of one input; a little more, since vectors may read on past a tile's end. */
typedef struct {
  float re[ASTRO_NOISE_TILE + 16], im[ASTRO_NOISE_TILE + 16];
} AstroTile;

/* Inputs that are made together: side by side they fill a line of the cache. */
#define ASTRO_STORE_INPUTS 32

/* n samples (the inputs hold n rounded up to 16), times scale, to out and every stride samples. */
void astro_store(const AstroStore *store, const AstroSkyKernels *kernels, const float *re,
                 const float *im, guint n, float scale, gpointer out, gsize stride);

/* The same for samples skip to skip + n of some tiles, whose first go to out + offsets[i] samples.
 */
void astro_store_tiles(const AstroStore *store, const AstroSkyKernels *kernels,
                       const AstroTile *tiles, guint n_tiles, guint skip, guint n, float scale,
                       guint8 *out, const gsize *offsets, gsize stride);
