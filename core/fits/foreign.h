/* Recognises files of other programs by their content, so that an error can say what such a file is
 * and what reads it, or how to convert it to one that can be read. */
#pragma once

#include "core/fits/file.h"

G_BEGIN_DECLS

/* How many bytes from the start of a file are needed to tell all kinds apart. */
#define ASTRO_FOREIGN_BYTES (64u << 10)

#define ASTRO_HDF5_BEGINNING 8 /* bytes */
#define ASTRO_HDF5_IS "an HDF5 file: if it holds visibilities (uvh5), astrouvh5src reads it"
gboolean astro_foreign_is_hdf5(const guint8 *bytes, gsize n);

/* "a Measurement Set: ...", to follow "FILE is"; NULL: not recognised. */
const char *astro_foreign_folder(const char *path);
const char *astro_foreign_bytes(const guint8 *bytes, gsize n);
/* Another source that reads them: astrorecordsrc, astrouvh5src; NULL: none. */
const char *astro_foreign_source(const guint8 *bytes, gsize n);
const char *astro_foreign_fits(const AstroFitsFile *file);

G_END_DECLS
