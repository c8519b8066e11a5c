/* Files of visibilities in HDF5, as pyuvdata defines them (memo "The UVH5 file format", versions
 * 0.1 to 1.2).
 *
 * A row holds antennas 1 and 2 with (u,v,w) of 2 minus 1 and V = conj(E_1) E_2, so that it is our
 * baseline (i,j) = (2,1), unconjugated, with the letters of its product in the order of (j,i). */
#pragma once

#include "core/lib/rows/reader.h"
#include "core/lib/rows/rows.h"
#include "core/stream/validity.h"

G_BEGIN_DECLS

#define ASTRO_UVH5_CAPS                                                                            \
  "application/x-astro-visibilities, format = (string) CF32LE, "                                   \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"
#define ASTRO_UVH5_SINK_CAPS                                                                       \
  "application/x-astro-visibilities, format = (string) { CF32LE, CI32LE }, "                       \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"

/* ---- reading ---- */

/* Which (u,v,w) the visibilities get. */
typedef enum {
  ASTRO_UVH5_UVW_AUTO, /* the stations', which those of the rows must agree with */
  ASTRO_UVH5_UVW_FILE,
  ASTRO_UVH5_UVW_TABLE,
} AstroUvh5Uvw;
#define ASTRO_TYPE_UVH5_UVW astro_uvh5_uvw_get_type()
GType astro_uvh5_uvw_get_type(void);

typedef struct {
  AstroUvh5Uvw uvw;
  const char *field; /* name or number of the phase centre to read; NULL: the only one */
  const char *earth_orientation; /* core/lib/sky/earth-file.h; NULL: the file's own */
} AstroUvh5Options;

typedef struct _AstroUvh5Reader AstroUvh5Reader;

/* Errors are ASTRO_ROWS_ERROR, or ASTRO_BACKEND_ERROR_GIVEN_UP as the thread was asked to stop. */
AstroUvh5Reader *astro_uvh5_reader_open(const char *path, const AstroUvh5Options *options,
                                        GError **error);
const AstroRowContents *astro_uvh5_reader_contents(const AstroUvh5Reader *reader);
/* FALSE with *end set after the last. */
gboolean astro_uvh5_reader_read(AstroUvh5Reader *reader, AstroRowFrame *frame, gboolean *end,
                                GError **error);
void astro_uvh5_reader_close(AstroUvh5Reader *reader);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroUvh5Reader, astro_uvh5_reader_close)

/* The same for sources. */
extern const AstroRowReaderKind astro_uvh5_reader_kind;

G_END_DECLS
