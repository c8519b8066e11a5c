/* Readers of catalogues. */
#pragma once

#include "core/fits/reader.h"

G_BEGIN_DECLS

/* All give F64LE columns in degrees. A frame is one catalogue: a table (with those after it that
 * have the same name), a group of datasets in HDF5, or the whole text. */
extern const AstroFitsReaderKind astro_catalogue_table_reader, astro_catalogue_hdf5_reader,
    astro_catalogue_text_reader;

#define ASTRO_CATALOGUE_CAPS                                                                       \
  "application/x-astro-catalogue, format = (string) F64LE, layout = (string) column:point"

/* Describes the stream with these columns, as every reader of catalogues gives it. */
void astro_catalogue_describe(AstroFitsContents *contents, const AstroCatalogueColumns *columns);

G_END_DECLS
