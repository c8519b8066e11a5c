/* Divides images by the primary beam: the power with which an antenna receives, 1 where it points.
 *
 * Airy: (2 J1(x) / x)^2 with x = pi diameter sin(theta) / wavelength, for a dish that is lit
 * evenly. Gaussian: exp(-4 ln 2 (theta / width)^2), whose full width at half maximum is given at a
 * frequency and shrinks as one over the frequency. Map: a picture of the beam, interpolated
 * linearly between its pixels. One with as many channels as the image has one for each of them. One
 * of a single channel is for its own frequency, and shrinks likewise.
 *
 * theta is the angle from the pointing. Each channel is divided by the beam at its frequency.
 * Pixels where the beam is below `cut`, or not known, become NaN. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_PRIMARY_BEAM_AIRY,
  ASTRO_PRIMARY_BEAM_GAUSSIAN,
  ASTRO_PRIMARY_BEAM_MAP
} AstroPrimaryBeamKind;

#define ASTRO_PRIMARY_BEAM_MOST_PRODUCTS 32

typedef struct {
  AstroFormat format; /* F32LE or F64LE */
  guint width, height, channels, products;
  guint32 kept;                /* a bit for each product: it passes as it is */
  double pixel;                /* radians */
  double centre_l, centre_m;   /* of the image, from the phase centre */
  double frequency, bandwidth; /* Hz, of all channels */
  double cut;                  /* between 0 and 1 */
  AstroPrimaryBeamKind kind;
  double diameter;           /* m, of an Airy beam */
  double fwhm, of_frequency; /* of a Gaussian: radians, Hz */
  guint map_channels;        /* of a map; 1, or as many as channels */
} AstroPrimaryBeamConfig;

/* A beam as a picture, with the pointing at l = m = 0. x is reversed, as in images. */
typedef struct {
  const float *values; /* [channel][y][x] */
  guint width, height;
  double pixel;              /* radians */
  double centre_l, centre_m; /* of pixel (width / 2, height / 2), from the pointing */
  double frequency;          /* Hz, of a single channel; 0: it does not depend on it */
} AstroPrimaryBeamMap;

/* submit takes an image [channel][product][y][x] and gives one. */
typedef struct {
  double pointing[3];             /* direction cosines from the phase centre */
  const AstroPrimaryBeamMap *map; /* for ASTRO_PRIMARY_BEAM_MAP */
} AstroPrimaryBeamArguments;

/* The beam of a channel in a direction; NaN where it is not known. */
double astro_primary_beam_at(const AstroPrimaryBeamConfig *config,
                             const AstroPrimaryBeamArguments *arguments, guint channel, double l,
                             double m);
/* The beam of an evenly lit dish, as a function of x^2. */
double astro_primary_beam_airy(double x_squared);

extern const AstroBackend astro_primary_beam_reference, astro_primary_beam_cpu;
extern const AstroBackend *const astro_primary_beam_backends[];

/* An AstroTellWork. */
gboolean astro_primary_beam_work(gconstpointer config, const AstroWorkSteps *steps,
                                 AstroWork *work);

G_END_DECLS
