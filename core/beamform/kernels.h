/* The inner loops of the beamformer, for one instruction set. They take a strip of samples of one
 * channel at a time: 64 of each station, neighbours in time or polarisation.
 *
 * A strip is cut into tiles of as many samples as two vectors hold. A tile has the real parts of a
 * station's samples, then their imaginary parts, and the same for the next station:
 *
 *   strip    tile 0: station 0 re.. im.. | station 1 re.. im.. | ...
 *            tile 1: station 0 re.. im.. | ...
 *
 * Sums of a few beams over one tile stay in registers while they go through all stations. */
#pragma once

#include "core/backend/cpu.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_BEAMFORM_STRIP 64
#define ASTRO_BEAMFORM_MAX_ROWS 6

typedef struct {
  AstroVariant variant;
  guint rows; /* beams whose sums are made at a time */
  guint tile; /* samples of a tile */
  /* Puts 64 samples of a station into a strip; tile_floats: floats from one tile to the next. CI8,
   * CI16LE and CF32LE. */
  void (*spread[3])(float *strip, gsize tile_floats, guint station, gconstpointer samples);
  /* Samples of the station become 0 where good is 0. */
  void (*blank)(float *strip, gsize tile_floats, guint station, const guint8 *good);
  /* Sums over stations of weight x sample, for each beam: 64 real parts, then 64 imaginary ones.
   * weights: for each group of `rows` beams (the last may have fewer), [station][beam][re, im]. */
  void (*sum)(float *sums, const float *strip, gsize tile_floats, const float *weights,
              guint stations, guint beams);
  /* 64 sums of a beam, each times its factor, as complex samples. */
  void (*finish)(float *samples, const float *sums, const float *factors);
} AstroBeamformKernels;

typedef enum {
  ASTRO_BEAMFORM_SPREAD_CI8,
  ASTRO_BEAMFORM_SPREAD_CI16LE,
  ASTRO_BEAMFORM_SPREAD_CF32LE,
} AstroBeamformSpread;

extern const AstroBeamformKernels astro_beamform_kernels_c, astro_beamform_kernels_avx2,
    astro_beamform_kernels_avx512;

G_END_DECLS
