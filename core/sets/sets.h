/* Measurement Sets for sinks and sources: what their rows are in a stream of visibilities. */
#pragma once

#include "core/lib/files/set-folder.h"
#include "core/lib/rows/frames.h"
#include "core/lib/rows/reader.h"
#include "core/lib/rows/rows.h"
#include "core/lib/rows/values.h"
#include "core/sets/tables.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

#define ASTRO_SET_CAPS                                                                             \
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, "                       \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"

/* A file that every set has. */
#define ASTRO_SET_MARK ASTRO_SET_FOLDER_MARK
#define ASTRO_SET_MAX_STATIONS 65535

/* ---- writing ---- */

typedef struct _AstroSetWriter AstroSetWriter;

/* The name is taken at once, so that a wrong one is known before the stream comes; the set is made
 * with the first integration. */
AstroSetWriter *astro_set_writer_new(const char *location, GError **error);
/* stations: those of the caps, or 0. */
gboolean astro_set_writer_begin(AstroSetWriter *writer, const AstroStream *stream, guint stations,
                                AstroObservation *observation, GError **error);
/* Adds to the tally. */
gboolean astro_set_writer_write(AstroSetWriter *writer, const AstroRowFrames *frames,
                                AstroRowTally *tally, GError **error);
/* Both free the writer; without a finish nothing appears under the name. */
gboolean astro_set_writer_finish(AstroSetWriter *writer, GError **error);
void astro_set_writer_discard(AstroSetWriter *writer);

/* ---- writing back ---- */

/* Writes to a column of a set that exists: DATA, CORRECTED_DATA or MODEL_DATA (the last two are
 * added where they are missing), or FLAG, which is set where the stream has no good values. The
 * stream must have the stations, channels and times of the set. Values without a count leave those
 * of the set as they are, as do integrations that do not come. */
typedef struct _AstroSetUpdate AstroSetUpdate;

AstroSetUpdate *astro_set_update_new(const char *location, const char *column, GError **error);
gboolean astro_set_update_begin(AstroSetUpdate *update, const AstroStream *stream, guint stations,
                                AstroObservation *observation, GError **error);
gboolean astro_set_update_write(AstroSetUpdate *update, const AstroRowFrames *frames,
                                AstroRowTally *tally, GError **error);
/* Both free the update; what was written stays. */
gboolean astro_set_update_finish(AstroSetUpdate *update, GError **error);
void astro_set_update_discard(AstroSetUpdate *update);

/* ---- reading ---- */

#define ASTRO_SET_SOURCE_CAPS                                                                      \
  "application/x-astro-visibilities, format = (string) CF32LE, "                                   \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"

/* Which (u,v,w) the visibilities get. */
typedef enum {
  ASTRO_SET_UVW_AUTO, /* the stations', which those of the rows must agree with */
  ASTRO_SET_UVW_FILE,
  ASTRO_SET_UVW_TABLE,
} AstroSetUvw;
#define ASTRO_TYPE_SET_UVW astro_set_uvw_get_type()
GType astro_set_uvw_get_type(void);

typedef struct {
  const char *column; /* of values; NULL: DATA */
  const char *field;  /* name or number; NULL: the only one that has rows */
  gint band;          /* number of a spectral window; -1: all that have rows, which must adjoin */
  AstroSetUvw uvw;
  const char *earth_orientation; /* core/lib/sky/earth-file.h; NULL: the set's own */
} AstroSetOptions;

typedef struct _AstroSetReader AstroSetReader;

/* Errors are ASTRO_ROWS_ERROR, or ASTRO_BACKEND_ERROR_GIVEN_UP as the thread was asked to stop. */
AstroSetReader *astro_set_reader_open(const char *location, const AstroSetOptions *options,
                                      GError **error);
const AstroRowContents *astro_set_reader_contents(const AstroSetReader *reader);
/* FALSE with *end set if there are no more integrations. */
gboolean astro_set_reader_read(AstroSetReader *reader, AstroRowFrame *frame, gboolean *end,
                               GError **error);
void astro_set_reader_close(AstroSetReader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroSetReader, astro_set_reader_close)

/* The same for sources. */
extern const AstroRowReaderKind astro_set_reader_kind;

G_END_DECLS
