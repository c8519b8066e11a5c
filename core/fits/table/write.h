#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

/* A binary table for each catalogue or correlation function, one behind the other; as CSV with an
 * empty line between them. */
extern const AstroFitsWriterKind astro_catalogue_writer, astro_correlation_writer,
    astro_catalogue_csv_writer, astro_correlation_csv_writer, astro_catalogue_ecsv_writer,
    astro_correlation_ecsv_writer;

G_END_DECLS
