/* Earth orientation in UVFITS: the values of the day from which times count are in the station
 * table, where others read them; all values used for (u,v,w) are in a table of our own. */
#pragma once

#include "core/fits/cfitsio.h"
#include "core/fits/fits.h"
#include "core/fits/uvfits/reader.h"

G_BEGIN_DECLS

/* Keywords of the station table, which must be the last table written so far. */
void astro_uvfits_write_earth_keys(fitsfile *file, const AstroObservation *observation,
                                   int *status);
/* Writes one row per day; nothing if UT1 is taken as UTC. */
gboolean astro_uvfits_write_earth(fitsfile *file, const AstroObservation *observation,
                                  GError **error);

/* Reads it from the file, else from options; the times must be known. */
gboolean astro_uvfits_read_earth(AstroUvfitsReader *r, const AstroFitsOptions *options,
                                 AstroFitsContents *contents, GError **error);

G_END_DECLS
