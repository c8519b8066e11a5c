/* Recognises files of other programs by their content, so that an error can say what such a file is
 * and how to convert it to one that can be read. */
#pragma once

#include "core/fits/file.h"

G_BEGIN_DECLS

/* How many bytes from the start of a file are needed to tell all kinds apart. */
#define ASTRO_FOREIGN_BYTES (64u << 10)

/* "a Measurement Set: ...", to follow "FILE is"; NULL: not recognised. */
const char *astro_foreign_folder(const char *path);
const char *astro_foreign_bytes(const guint8 *bytes, gsize n);
/* Whether they are a telescope's recording, which astrorecordsrc reads. */
gboolean astro_foreign_is_recording(const guint8 *bytes, gsize n);
const char *astro_foreign_fits(const AstroFitsFile *file);

G_END_DECLS
