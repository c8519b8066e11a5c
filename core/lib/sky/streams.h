/* What the sources send: white noise, one stream for each source and polarisation, as seen at the
 * array's centre. Any part of it can be made at any time, always the same. */
#pragma once

#include "core/lib/sky/kernels.h"
#include "core/lib/sky/sky.h"

typedef struct {
  float *re, *im;
} AstroSignal;

typedef struct AstroStreams AstroStreams;

typedef struct {
  const AstroSky *sky; /* the caller keeps it */
  guint pols, threads;
  guint64 seed;
  gsize window_tiles;          /* of ASTRO_NOISE_TILE samples, that are at hand at a time */
  double rate;                 /* samples a second */
  double frequency, bandwidth; /* of the band, which all samples' power is in */
} AstroStreamsConfig;

/* NULL where memory is out. */
AstroStreams *astro_streams_new(const AstroStreamsConfig *config, GError **error);
void astro_streams_free(AstroStreams *streams);

/* Has these tiles at hand, no more than a window. Those that follow the ones before are cheap. */
void astro_streams_seek(AstroStreams *streams, gint64 first_tile, gsize tiles);

/* The signal of a source from that sample on, its power 1 (at the centre of the band). */
AstroSignal astro_streams_at(const AstroStreams *streams, guint source, guint pol, gint64 sample);

/* The key of a tile of noise; kind tells apart what may never be alike. */
typedef enum {
  ASTRO_NOISE_OF_SOURCE,
  ASTRO_NOISE_OF_RECEIVER,
  ASTRO_NOISE_OF_VISIBILITY,
  ASTRO_NOISE_OF_GAIN,
  ASTRO_NOISE_OF_LOSS,
} AstroNoiseKind;
guint64 astro_noise_key(guint64 seed, AstroNoiseKind kind, guint64 index, gint64 tile);
