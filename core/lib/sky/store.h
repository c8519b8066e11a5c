/* The formats of simulated voltages, and the memory in which they are computed. */
#pragma once

#include "core/lib/sky/kernels.h"
#include "core/stream/stream.h"

typedef struct {
  AstroFormat format;
  float limit; /* the largest integer; 0: floating point */
  double rms;  /* of each component, to which noise is scaled; 0: not scaled */
  gsize bytes; /* of a sample */
} AstroStore;

/* NULL if samples of that format cannot be written. */
const AstroStore *astro_store_get(AstroFormat format);

/* A tile of one input; slightly longer, since vectors may read past the end of a tile. */
typedef struct {
  float re[ASTRO_NOISE_TILE + 16], im[ASTRO_NOISE_TILE + 16];
} AstroTile;
