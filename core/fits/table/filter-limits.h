/* Where CFITSIO's filters would choose other rows than an expression says. They compute with
 * integers of 64 bits as doubles, % takes a quotient of 32 bits, and a constant beyond 64 bits
 * becomes the largest that they hold. */
#pragma once

#include "core/fits/table/table.h"

G_BEGIN_DECLS

typedef struct _AstroFilterLimits AstroFilterLimits;

AstroFilterLimits *astro_filter_limits_new(const AstroFitsTable *table, const char *expression);
/* Says which constant is too large, in text to be freed, or NULL. */
char *astro_filter_limits_constant(const AstroFilterLimits *limits);
/* Says which value in these rows is too large, in text to be freed, or NULL. first: the number of
 * the first of them. */
char *astro_filter_limits_value(const AstroFilterLimits *limits, const guint8 *rows, guint64 n_rows,
                                guint64 first);
void astro_filter_limits_free(AstroFilterLimits *limits);

G_END_DECLS
