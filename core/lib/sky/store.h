/* The formats that voltages are made in, and where they are made. */
#pragma once

#include "core/lib/sky/kernels.h"
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
