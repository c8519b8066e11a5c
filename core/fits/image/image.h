/* Shared by the writer and the reader of images.
 *
 * An HDU has the axes RA, DEC, FREQ, STOKES. The products of a stream that are plain Stokes
 * parameters or correlations make up the first HDU; those with a role (I-MODEL, I-RESIDUAL,
 * I-SLOPE) make up one HDU per role, and PSF one, with the role as EXTNAME. Further images of the
 * stream follow as extensions with the same names (IMAGE if there is no role) and a higher EXTVER.
 */
#pragma once

#include "core/fits/fits.h"

G_BEGIN_DECLS

#define ASTRO_FITS_IMAGE_NAME "IMAGE" /* EXTNAME of images without a role */

#define ASTRO_FITS_INDEX "INDEX" /* the role of spectral indexes, which have no unit */

/* Keywords of our own, as no common ones exist. */
#define ASTRO_FITS_BORDER "CLBORDER"
#define ASTRO_FITS_PRIMARY_BEAM "PRIMBEAM" /* what the image was divided by */

extern const char *const astro_fits_image_roles[]; /* "MODEL" ..., ends with NULL */

typedef struct {
  const char *role; /* one of astro_fits_image_roles; NULL: none */
  gint code;        /* on the STOKES axis */
} AstroFitsProduct;

/* FALSE if FITS has no number for it. */
gboolean astro_fits_product_from_name(AstroFitsProduct *product, const char *name);
/* NULL if the number is unknown. To be freed. */
char *astro_fits_product_to_name(const AstroFitsProduct *product);
/* The position of a product in a stream: XX XY YX YY, where FITS has XX YY XY YX. */
gint astro_fits_product_rank(gint code);

extern const AstroFitsWriterKind astro_image_writer;

G_END_DECLS
