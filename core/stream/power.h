/* Detected power, application/x-astro-power: the products that its pol axis holds.
 *
 * A value is the mean, over the good samples behind it, of what its product says: of |X|^2 for XX,
 * of a Stokes parameter for I, Q, U and V, of the real and imaginary part of X conj(Y) for XY-RE
 * and XY-IM. A second moment, as in XX-SQUARE, is the mean of the square of that same number, taken
 * sample by sample; with the number of samples, which validity has, both give the spectral
 * kurtosis. A value without any good sample is 0, and its count is 0.
 *
 * The format is F32LE. Axes are time, channel and pol, and station or beam, and dm, where there are
 * several, in any order; astropower sends time:station:pol:channel. Along dm the dispersion was
 * taken out with one dispersion measure after another, those of the observation (observation.h).
 * The caps field "products" names the elements of the pol axis, joined by ':' (I, XX:YY, I:Q:U:V),
 * and "pols" is their number. */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

#define ASTRO_POWER_MAX_PRODUCTS 8
#define ASTRO_POWER_SQUARE "-SQUARE"

typedef struct {
  guint n;
  const char *names[ASTRO_POWER_MAX_PRODUCTS]; /* static strings */
} AstroPowerProducts;

/* Refuses names that are unknown or repeated, and a square without its product. */
gboolean astro_power_products_parse(AstroPowerProducts *products, const char *text, GError **error);
char *astro_power_products_to_string(const AstroPowerProducts *products);
gint astro_power_products_find(const AstroPowerProducts *products, const char *name); /* or -1 */
/* The square of the product at that index; -1: there is none. */
gint astro_power_products_square(const AstroPowerProducts *products, guint product);
/* Whether a product is itself a square. */
gboolean astro_power_is_square(const char *name);

/* Takes fixed caps of power only, and checks format, axes and products. */
gboolean astro_power_from_caps(AstroStream *stream, AstroPowerProducts *products,
                               const GstCaps *caps, GError **error);
/* stream: its pol axis has as many elements as there are products. */
GstCaps *astro_power_to_caps(const AstroStream *stream, const AstroPowerProducts *products);

ASTRO_END_DECLS
