/* Makes images from transformed grids: rotates w-planes to w = 0 and adds them, cuts out the
 * middle, divides by the transform of the spreading function and by the sums of weights (to
 * Jy/beam), and combines products. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

#define ASTRO_IMAGE_MAX_PRODUCTS 8

/* A product of an image is the sum over terms of: factor times the real or imaginary part of a
 * product of the grid, divided by its sum of weights. */
typedef struct {
  guint product;
  gboolean imaginary;
  double factor;
} AstroImageTerm;

typedef struct {
  const char *name; /* static, or owned by the grid's products */
  guint n_terms;
  AstroImageTerm terms[2];
} AstroImageProduct;

/* stokes: some of the letters IQUV, made from the grid's products (XX XY YX YY, RR RL LR LL, or I Q
 * U V), followed by the PSF if there is one; NULL or empty: all products unchanged. Returns their
 * number; 0 with an error if a product is missing. */
guint astro_image_products(const AstroGrid *grid, const char *stokes,
                           AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS], GError **error);

typedef struct {
  AstroFormat from, to; /* CF32LE or CF64LE; F32LE or F64LE */
  AstroGrid grid;       /* products may be missing */
  guint channels;
  guint n_in, n_out; /* numbers of products */
  AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS];
  /* Planes are transformed along u only, [channel][product][v][x], at least in the image's columns:
   * the transform along v (forward, centred) is made here, and its result added to the image
   * without being stored. */
  gboolean transforms_v;
} AstroImageConfig;

/* Sums of weights [channel][product] by which a grid's values are divided to be in Jy; jansky is
 * the factor that converts values to Jy (0: unknown, values keep their unit). The point-spread
 * function is not made from values and has no unit. To be freed. */
double *astro_image_weights(const AstroImageConfig *config, const AstroGrid *grid,
                            const double *weights, double jansky);

/* submit takes a plane of the grid, [channel][product][y][x], and the image as output, to which
 * plane after plane is added. With transforms_v a second input block may be a map of touched tiles
 * ([channel][row of tiles][tile], core/stream/grid.h): rows without touched tiles are taken as
 * zeros, whatever the plane holds there. */
typedef struct {
  double w, w_step;      /* of the plane, in wavelengths */
  const double *weights; /* [channel][product] of the whole grid */
  gboolean first, last;  /* first or last plane */
  /* The middle of the finished image to copy to the result's room: size x size pixels around the
   * image's centre, of the product with number [channel][product]; 0: none. */
  guint middle_size, middle_product;
  /* The block in is an image of other planes, made by another instance, and not finished either: it
   * is added to the image as it is. All else is ignored then. */
  gboolean adds_image;
} AstroImageArguments;

/* Bytes that the cpu backend needs at most for a configuration (AstroImageConfig), beside blocks.
 */
guint64 astro_image_memory(gconstpointer config, guint threads);

extern const AstroBackend astro_image_reference, astro_image_cpu;
extern const AstroBackend *const astro_image_backends[];

/* Fits the beam to the main lobe of a point-spread function by least squares. psf has size x size
 * pixels of the given size in radians, with the peak in the middle. Gives full widths at half
 * maximum (radians), and the angle of the major axis from north through east, -pi/2 to pi/2. FALSE:
 * there is no lobe to fit. *cut (may be NULL): the lobe continues beyond the pixels, so that more
 * pixels would give another beam. */
gboolean astro_image_fit_beam(AstroFormat format, gconstpointer psf, guint size, double pixel,
                              double *major, double *minor, double *angle, gboolean *cut);

/* The highest peak of a point-spread function besides the one in its middle, relative to that; 0:
 * there is none, or there is no peak in the middle. */
double astro_image_sidelobe(AstroFormat format, gconstpointer psf, guint size);

/* An AstroTellWork. */
gboolean astro_image_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

G_END_DECLS
