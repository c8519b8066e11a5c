/* World coordinates of images, through WCSLIB: the keywords of FITS headers, and conversion from
 * pixels to the sky and back. The projection is SIN (RA---SIN, DEC--SIN) about the phase centre,
 * which is linear in l and m, so an image off the phase centre only has another reference pixel. */
#pragma once

#include "core/stream/grid.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* The FITS keywords, first for x (right ascension), then for y. CTYPE is RA---SIN and DEC--SIN,
 * RADESYS ICRS, and LONPOLE 180 must be written too: without it an image with its phase centre at
 * the celestial pole would be rotated by 180 degrees. */
typedef struct {
  double crpix[2]; /* of the phase centre; the first pixel's centre is 1 */
  double crval[2]; /* of the phase centre, degrees */
  double cdelt[2]; /* degrees per pixel; that of x is negative */
} AstroWcsKeys;

/* The keywords of an image with that geometry (astro_grid_from_caps of its caps). An error if the
 * observation has no phase centre. */
gboolean astro_wcs_keys(AstroWcsKeys *keys, const AstroGrid *image,
                        const AstroObservation *observation, GError **error);

typedef struct AstroWcs AstroWcs;

/* For any keywords of that kind. It may be shared by any number of threads. */
AstroWcs *astro_wcs_new(const AstroWcsKeys *keys, GError **error);
void astro_wcs_free(AstroWcs *wcs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroWcs, astro_wcs_free)

/* Pixels count from 0, as the samples of a buffer do: (x, y) is sample [y][x]. RA (0 to 2 pi) and
 * Dec in radians. FALSE if a pixel is off the sky, or a direction on its far side. */
gboolean astro_wcs_world(const AstroWcs *wcs, double x, double y, double *ra, double *dec);
gboolean astro_wcs_pixel(const AstroWcs *wcs, double ra, double dec, double *x, double *y);

/* Direction cosines of a pixel of an image, from the phase centre. */
static inline double astro_image_l(const AstroGrid *image, double x)
{
  return image->centre_l + (image->size / 2 - x) * image->pixel;
}

static inline double astro_image_m(const AstroGrid *image, double y)
{
  return image->centre_m + (y - image->size / 2) * image->pixel;
}

G_END_DECLS
