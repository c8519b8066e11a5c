/* Measurement Sets for sinks and sources: what their rows are in a stream of visibilities. */
#pragma once

#include "core/lib/rows/values.h"
#include "core/sets/tables.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_SET_CAPS                                                                             \
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, "                       \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"

/* A file that every set has. */
#define ASTRO_SET_MARK "ANTENNA/table.dat"
#define ASTRO_SET_MAX_STATIONS 65535

/* ---- writing ---- */

typedef struct _AstroSetWriter AstroSetWriter;

/* Consecutive integrations, as a buffer carries them. Times are relative to the observation's
 * start. */
typedef struct {
  gconstpointer data;
  guint64 frames;
  const AstroValidityMeta *validity; /* NULL: no known losses */
  gint64 start_ns, duration_ns;      /* of all frames together */
  const double *uvw;                 /* the buffer's own; NULL: they follow from stations */
} AstroSetFrames;

/* The name is taken at once, so that a wrong one is known before the stream comes; the set is made
 * with the first integration. */
AstroSetWriter *astro_set_writer_new(const char *location, GError **error);
/* stations: those of the caps, or 0. */
gboolean astro_set_writer_begin(AstroSetWriter *writer, const AstroStream *stream, guint stations,
                                AstroObservation *observation, GError **error);
gboolean astro_set_writer_is_begun(const AstroSetWriter *writer);
/* Adds to the tally. */
gboolean astro_set_writer_write(AstroSetWriter *writer, const AstroSetFrames *frames,
                                AstroRowTally *tally, GError **error);
/* Both free the writer; without a finish nothing appears under the name. */
gboolean astro_set_writer_finish(AstroSetWriter *writer, GError **error);
void astro_set_writer_discard(AstroSetWriter *writer);

G_END_DECLS
