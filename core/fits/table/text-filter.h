/* Row filters for catalogues in text, with the same expressions as for tables. */
#pragma once

#include "core/lib/catalogue/catalogue.h"
#include "core/fits/file.h"

G_BEGIN_DECLS

/* Like astro_catalogue_parse_text, but takes only points that pass the expression. Its columns have
 * the names in the heading, or are called col1, col2 and so on. A column has integers, numbers,
 * truth values (True and False) or text, whichever comes first that all its values allow; an empty
 * value is missing. file is for error messages. */
gboolean astro_text_filter_parse(AstroFitsFile *file, const char *text, gsize length,
                                 const AstroCatalogueColumns *columns, const char *expression,
                                 AstroCatalogue *catalogue, GArray *ends, GError **error);

G_END_DECLS
