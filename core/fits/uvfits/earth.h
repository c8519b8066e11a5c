/* Earth orientation in UVFITS: of the day that times count from in the station table, as others
 * read it; and all that (u,v,w) were computed with in a table of our own. */
#pragma once

#include "core/fits/cfitsio.h"
#include "core/fits/fits.h"
#include "core/fits/uvfits/reader.h"

G_BEGIN_DECLS

/* Keywords of the station table, which is the one written last. */
void astro_uvfits_write_earth_keys(fitsfile *file, const AstroObservation *observation,
                                   int *status);
/* A row a day; nothing where UT1 is taken for UTC. */
gboolean astro_uvfits_write_earth(fitsfile *file, const AstroObservation *observation,
                                  GError **error);

/* Of the file, else of options; after the times are known. */
gboolean astro_uvfits_read_earth(AstroUvfitsReader *r, const AstroFitsOptions *options,
                                 AstroFitsContents *contents, GError **error);

G_END_DECLS
