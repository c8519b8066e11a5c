/* Writes uvh5 files. */
#pragma once

#include "core/lib/rows/frames.h"
#include "core/lib/rows/values.h"
#include "core/uvh5/uvh5.h"

G_BEGIN_DECLS

typedef struct _AstroUvh5Writer AstroUvh5Writer;

/* Makes NAME.part. Errors are of G_IO_ERROR where they are about the file. */
AstroUvh5Writer *astro_uvh5_writer_new(const char *location, GError **error);
gboolean astro_uvh5_writer_begin(AstroUvh5Writer *writer, const AstroStream *stream, guint stations,
                                 AstroObservation *observation, GError **error);
gboolean astro_uvh5_writer_write(AstroUvh5Writer *writer, const AstroRowFrames *frames,
                                 AstroRowTally *tally, GError **error);
/* Both free the writer, whether they succeed or not. */
gboolean astro_uvh5_writer_finish(AstroUvh5Writer *writer, GError **error);
void astro_uvh5_writer_discard(AstroUvh5Writer *writer);

G_END_DECLS
