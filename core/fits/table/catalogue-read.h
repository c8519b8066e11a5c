#pragma once

#include "core/fits/reader.h"

G_BEGIN_DECLS

/* Both give F64LE columns of degrees, a catalogue a frame: a table (and those behind it that
 * have its name), or the whole text. */
extern const AstroFitsReaderKind astro_catalogue_table_reader, astro_catalogue_text_reader;

#define ASTRO_CATALOGUE_CAPS                                                                       \
  "application/x-astro-catalogue, format = (string) F64LE, layout = (string) column:point"

/* What every reader of catalogues gives: the stream of these columns. */
void astro_catalogue_describe(AstroFitsContents *contents, const AstroCatalogueColumns *columns);

G_END_DECLS
