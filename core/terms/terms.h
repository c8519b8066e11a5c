/* One image of all channels: a polynomial in frequency is fitted to every pixel of a cube.
 *
 * Channels count by their sums of weights. With x = frequency / middle of the band - 1, a pixel is
 * value + slope x + curvature x^2, by least squares. One term is the weighted mean. Values come
 * first, one a product, then the slopes of plain products (those that are neither the model nor the
 * residual of one, nor the point-spread function), then their curvatures, and with two terms or
 * more their spectral indexes, slope / value: NaN where the value is not above `cut` times the
 * noise. The point-spread function is always the mean.
 *
 * A channel of weight 0, or without any finite pixel, is left out. A pixel that is NaN in another
 * channel is NaN in the result. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

#define ASTRO_TERMS_MOST_PRODUCTS 32

typedef struct {
  AstroFormat format; /* F32LE or F64LE */
  guint width, height;
  guint channels, products;
  guint32 plain; /* a bit for each product: it has a slope */
  guint32 means; /* the same: it has one term, whatever terms says */
  guint terms;
  double frequency, bandwidth; /* Hz, of all channels */
  double cut;
} AstroTermsConfig;

/* submit takes a cube [channel][product][y][x] and gives an image [product][y][x]. */
typedef struct {
  const double *weights; /* [channel][product]; NULL: all the same */
} AstroTermsArguments;

/* The kinds of product, in the order of the output. */
typedef enum {
  ASTRO_TERMS_VALUE,
  ASTRO_TERMS_SLOPE,
  ASTRO_TERMS_CURVATURE,
  ASTRO_TERMS_INDEX
} AstroTermsKind;

typedef struct {
  AstroTermsKind kind;
  guint product; /* of the input */
} AstroTermsProduct;

guint astro_terms_products_out(const AstroTermsConfig *config);
AstroTermsProduct astro_terms_product(const AstroTermsConfig *config, guint number);

/* Bytes that the cpu backend needs at most for a configuration, beside images in and out. */
guint64 astro_terms_memory(gconstpointer config, guint threads);

/* AstroTellWork. */
gboolean astro_terms_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

extern const AstroBackend astro_terms_reference, astro_terms_cpu;
extern const AstroBackend *const astro_terms_backends[];

G_END_DECLS
