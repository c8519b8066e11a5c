/* What the writer and the reader of images share.
 *
 * An HDU has axes RA, DEC, FREQ, STOKES. The products of a stream that are Stokes parameters or
 * correlations are one HDU, the first; those with a role (I-MODEL, I-RESIDUAL) one each role, and
 * PSF one, whose EXTNAME is the role. Further images of a stream follow as extensions of the same
 * names, IMAGE where there is no role, and a higher EXTVER. */
#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

#define ASTRO_FITS_IMAGE_NAME "IMAGE" /* EXTNAME of what has no role */

/* A keyword of our own, beside the beam: there is none that others know. */
#define ASTRO_FITS_BORDER "CLBORDER"

extern const char *const astro_fits_image_roles[]; /* "MODEL" ... up to a NULL */

typedef struct {
  const char *role; /* one of astro_fits_image_roles; NULL: none */
  gint code;        /* on the STOKES axis */
} AstroFitsProduct;

/* FALSE where FITS has no number for it. */
gboolean astro_fits_product_from_name(AstroFitsProduct *product, const char *name);
/* NULL where the number is none that is known. To be freed. */
char *astro_fits_product_to_name(const AstroFitsProduct *product);
/* Where a product stands among others in a stream: XX XY YX YY, where FITS has XX YY XY YX. */
gint astro_fits_product_rank(gint code);

extern const AstroFitsWriterKind astro_image_writer;

G_END_DECLS
