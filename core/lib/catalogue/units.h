/* Units of positions on the sky. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* Degrees, if unit is empty too, or radians; FALSE: it is neither. */
gboolean astro_catalogue_unit(const char *unit, gboolean *is_radians);

/* Hours or degrees, minutes and seconds, by VizieR's names. */
gboolean astro_catalogue_unit_is_sixtieths(const char *unit);

double astro_catalogue_degrees(double radians, gboolean is_dec);

/* The units of the columns, in their order and empty where there is none, from the comments above
 * the points if these are a header of ECSV; NULL: they are not. */
GPtrArray *astro_catalogue_ecsv_units(const GPtrArray *comments);

G_END_DECLS
