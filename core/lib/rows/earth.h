/* The Earth orientation of files that have one value for all their days. */
#pragma once

#include "core/stream/observation.h"

G_BEGIN_DECLS

/* The same on all days of an observation. day must be possible (astro_earth_wrong_day). */
AstroEarth *astro_rows_constant_earth(const char *name, const AstroEarthDay *day, gint32 start_mjd,
                                      guint64 duration_ns);

/* Replaces the observation's by that of a file with values for each day, which is better. *arcsec:
 * how far they differ, 0 if that is no more than one value for all days may. */
gboolean astro_rows_prefer_earth(AstroObservation *observation, const char *file, double *arcsec,
                                 GError **error);

G_END_DECLS
