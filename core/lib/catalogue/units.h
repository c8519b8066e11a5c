/* Units that places on the sky are told in. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Degrees, where none is told, or radians; FALSE: it is neither. */
gboolean astro_catalogue_unit(const char *unit, gboolean *is_radians);

/* Hours or degrees, minutes and seconds, as VizieR names them. */
gboolean astro_catalogue_unit_is_sixtieths(const char *unit);

double astro_catalogue_degrees(double radians, gboolean is_dec);

/* Those of the columns, in their order and empty where there is none, that the comments above the
 * points tell as ECSV has it; NULL: they are no such header. */
GPtrArray *astro_catalogue_ecsv_units(const GPtrArray *comments);

G_END_DECLS
