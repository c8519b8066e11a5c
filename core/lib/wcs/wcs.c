/* World coordinates of images, through WCSLIB. */
#include "config.h"
#include "core/lib/wcs/wcs.h"
#include "core/kit/units.h"

#include <wcslib/wcs.h>

struct AstroWcs {
  struct wcsprm wcs;
};

gboolean astro_wcs_keys(AstroWcsKeys *keys, const AstroGrid *image,
                        const AstroObservation *observation, GError **error)
{
  if (!observation || !observation->has_phase_centre)
    return astro_stream_refuse(
        error, ASTRO_STREAM_ERROR_CAPS, "the position of the image on the sky is unknown: %s",
        observation ? "the observation has no phase centre" : "there is no observation");
  *keys = (AstroWcsKeys){
    .crpix = { image->size / 2 + image->centre_l / image->pixel + 1,
               image->size / 2 - image->centre_m / image->pixel + 1 },
    .crval = { observation->phase_ra * ASTRO_DEGREES, observation->phase_dec * ASTRO_DEGREES },
    .cdelt = { -image->pixel * ASTRO_DEGREES, image->pixel * ASTRO_DEGREES },
  };
  /* 0 to 360, as in FITS. */
  if (keys->crval[0] < 0)
    keys->crval[0] += 360;
  return TRUE;
}

AstroWcs *astro_wcs_new(const AstroWcsKeys *keys, GError **error)
{
  AstroWcs *self = g_new0(AstroWcs, 1);
  int status;

  self->wcs.flag = -1;
  status = wcsini(1, 2, &self->wcs);
  if (status == 0) {
    for (guint i = 0; i < 2; i++) {
      self->wcs.crpix[i] = keys->crpix[i];
      self->wcs.crval[i] = keys->crval[i];
      self->wcs.cdelt[i] = keys->cdelt[i];
    }
    g_strlcpy(self->wcs.ctype[0], "RA---SIN", sizeof self->wcs.ctype[0]);
    g_strlcpy(self->wcs.ctype[1], "DEC--SIN", sizeof self->wcs.ctype[1]);
    g_strlcpy(self->wcs.cunit[0], "deg", sizeof self->wcs.cunit[0]);
    g_strlcpy(self->wcs.cunit[1], "deg", sizeof self->wcs.cunit[1]);
    self->wcs.lonpole = 180;
    status = wcsset(&self->wcs);
  }
  if (status == 0)
    return self;
  astro_stream_refuse(error, ASTRO_STREAM_ERROR_CAPS,
                      "world coordinates about RA %g, Dec %g degrees with pixels of %g degrees: %s",
                      keys->crval[0], keys->crval[1], keys->cdelt[1], wcs_errmsg[status]);
  astro_wcs_free(self);
  return NULL;
}

void astro_wcs_free(AstroWcs *self)
{
  wcsfree(&self->wcs);
  g_free(self);
}

/* WCSLIB's functions write to the struct only to report errors, and only if asked to. */
#define SHARED(self) ((struct wcsprm *)&(self)->wcs)

gboolean astro_wcs_world(const AstroWcs *self, double x, double y, double *ra, double *dec)
{
  double pixel[2] = { x + 1, y + 1 }, image[2], phi, theta, world[2];
  int bad;

  if (wcsp2s(SHARED(self), 1, 2, pixel, image, &phi, &theta, world, &bad) != 0)
    return FALSE;
  *ra = world[0] / ASTRO_DEGREES;
  if (*ra < 0)
    *ra += 2 * G_PI;
  *dec = world[1] / ASTRO_DEGREES;
  return TRUE;
}

gboolean astro_wcs_pixel(const AstroWcs *self, double ra, double dec, double *x, double *y)
{
  double world[2] = { ra * ASTRO_DEGREES, dec * ASTRO_DEGREES }, phi, theta, image[2], pixel[2];
  int bad;

  if (wcss2p(SHARED(self), 1, 2, world, &phi, &theta, image, pixel, &bad) != 0)
    return FALSE;
  *x = pixel[0] - 1;
  *y = pixel[1] - 1;
  return TRUE;
}
