/* The reader of UVFITS. */
#pragma once

#include "core/fits/reader.h"

G_BEGIN_DECLS

/* Gives CF32LE. Counts are the weights; if not all weights are integers, they are scaled by one
 * factor for the whole file. Groups may be in any order. */
extern const AstroFitsReaderKind astro_uvfits_reader;

/* Several files as one stream (core/lib/rows/files.h); names end with a NULL. The kind has neither
 * recognises nor open. */
extern const AstroFitsReaderKind astro_uvfits_files;
gpointer astro_uvfits_files_open(const char *const *names, const AstroFitsOptions *options,
                                 AstroFitsContents *contents, GError **error);

G_END_DECLS
