/* The reader of UVFITS. */
#pragma once

#include "core/fits/reader.h"
#include "core/lib/rows/reader.h"

G_BEGIN_DECLS

#define ASTRO_UVFITS_ROWS_CAPS                                                                     \
  "application/x-astro-visibilities, format = (string) CF32LE, "                                   \
  "layout = (string) channel:baseline:pol:pol, channels = (int) [ 1, MAX ], "                      \
  "baselines = (int) [ 1, MAX ], pols = (int) [ 1, 2 ]"

/* Gives CF32LE. Counts are the weights; if not all weights are integers, they are scaled by one
 * factor for the whole file. Groups may be in any order. */
extern const AstroFitsReaderKind astro_uvfits_reader;

/* Several files as one stream (core/lib/rows/files.h); names end with a NULL. The kind has neither
 * recognises nor open. */
extern const AstroFitsReaderKind astro_uvfits_files;
gpointer astro_uvfits_files_open(const char *const *names, const AstroFitsOptions *options,
                                 AstroFitsContents *contents, GError **error);

/* A file of the rows of core/lib/rows, which may stand beside those of other kinds; its options are
 * AstroFitsOptions. */
extern const AstroRowReaderKind astro_uvfits_rows;

G_END_DECLS
