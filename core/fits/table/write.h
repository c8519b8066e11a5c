/* Writers of catalogues and correlation functions. */
#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

/* In FITS each catalogue or correlation function becomes a binary table; in CSV they follow each
 * other with an empty line in between. */
extern const AstroFitsWriterKind astro_catalogue_writer, astro_correlation_writer,
    astro_catalogue_csv_writer, astro_correlation_csv_writer, astro_catalogue_ecsv_writer,
    astro_correlation_ecsv_writer;

G_END_DECLS
