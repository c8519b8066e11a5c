/* The signals of the sources: white noise, one stream for each source and polarisation, as received
 * at the array's centre. Any part can be computed at any time, always with the same result. */
#pragma once

#include "core/lib/sky/filter.h"
#include "core/lib/sky/kernels.h"
#include "core/lib/sky/sky.h"

typedef struct AstroStreams AstroStreams;

typedef struct {
  const AstroSky *sky; /* not owned */
  guint pols, threads;
  guint64 seed;
  gsize window_tiles;          /* of ASTRO_NOISE_TILE samples, kept in memory at a time */
  double rate;                 /* samples per second */
  double frequency, bandwidth; /* of the band, which holds the power of all samples */
  const char *basis;           /* as in an observation */
} AstroStreamsConfig;

/* NULL if there is not enough memory, or if a source cannot be made in this band. */
AstroStreams *astro_streams_new(const AstroStreamsConfig *config, GError **error);
void astro_streams_free(AstroStreams *streams);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroStreams, astro_streams_free)

/* Makes these tiles available, at most a window. Tiles that follow the previous ones are cheap. */
void astro_streams_seek(AstroStreams *streams, gint64 first_tile, gsize tiles);

/* The signal of a source from that sample on: with power 1 (at the centre of the band) if the
 * source is plain, else with its own power. */
AstroSignal astro_streams_at(const AstroStreams *streams, guint source, guint pol, gint64 sample);

/* The key of a tile of noise; different kinds have different noise. */
typedef enum {
  ASTRO_NOISE_OF_SOURCE,
  ASTRO_NOISE_OF_RECEIVER,
  ASTRO_NOISE_OF_VISIBILITY,
  ASTRO_NOISE_OF_GAIN,
  ASTRO_NOISE_OF_LOSS,
  ASTRO_NOISE_OF_INTERFERENCE,
} AstroNoiseKind;
guint64 astro_noise_key(guint64 seed, AstroNoiseKind kind, guint64 index, gint64 tile);
