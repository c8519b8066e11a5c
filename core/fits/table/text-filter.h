/* Row filters for catalogues in text, by the same expressions as for tables. */
#pragma once

#include "core/lib/catalogue/catalogue.h"
#include "core/fits/file.h"

G_BEGIN_DECLS

/* As astro_catalogue_parse_text, of the points that the expression passes. Its columns have the
 * names of the heading, or are col1, col2 and so on. They hold whole numbers, numbers, truth values
 * (True and False) or text, as all of their values allow; an empty value is none. file is for
 * errors. */
gboolean astro_text_filter_parse(AstroFitsFile *file, const char *text, gsize length,
                                 const AstroCatalogueColumns *columns, const char *expression,
                                 AstroCatalogue *catalogue, GArray *ends, GError **error);

G_END_DECLS
