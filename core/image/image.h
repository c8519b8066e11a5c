/* Images from transformed grids: w-planes turned to w = 0 and added, the middle cut out, what the
 * visibilities were spread with divided out, sums of weights made Jy/beam, products combined. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/grid.h"

G_BEGIN_DECLS

#define ASTRO_IMAGE_MAX_PRODUCTS 8

/* A product of an image: the sum over terms of factor times the real or imaginary part of a product
 * of the grid over the sum of its weights. */
typedef struct {
  guint product;
  gboolean imaginary;
  double factor;
} AstroImageTerm;

typedef struct {
  const char *name; /* static, or of the grid's products */
  guint n_terms;
  AstroImageTerm terms[2];
} AstroImageProduct;

/* stokes: some of the letters IQUV, made of the grid's products (XX XY YX YY, RR RL LR LL, or
 * themselves), with the PSF behind them where there is one; NULL or empty: all products as they
 * are. Returns how many; 0 with an error where a product is missing. */
guint astro_image_products(const AstroGrid *grid, const char *stokes,
                           AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS], GError **error);

typedef struct {
  AstroFormat from, to; /* CF32LE or CF64LE; F32LE or F64LE */
  AstroGrid grid;       /* without its products */
  guint channels;
  guint n_in, n_out; /* products */
  AstroImageProduct products[ASTRO_IMAGE_MAX_PRODUCTS];
  /* Planes come transformed along u alone, [channel][product][v][x], the image's columns of them:
   * the transform along v (forward, centred) is made here, and its result added to the image
   * without being written. */
  gboolean transforms_v;
} AstroImageConfig;

/* [channel][product] sums of weights by which a grid's values are divided to be in Jy, jansky being
 * the factor that makes them so (0: not known, they stay as they are); a point-spread function is
 * made of no values and has no unit. To be freed. */
double *astro_image_weights(const AstroImageConfig *config, const AstroGrid *grid,
                            const double *weights, double jansky);

/* Submit: a plane of the grid in, [channel][product][y][x], and the image, which goes on from plane
 * to plane, out. With transforms_v a second block in may be a map of touched tiles ([channel][row
 * of tiles][tile], core/stream/grid.h): rows without one are zeros, whatever the plane holds there.
 */
typedef struct {
  double w, w_step;      /* of the plane, wavelengths */
  const double *weights; /* [channel][product] of the whole grid */
  gboolean first, last;  /* plane */
  /* What the result's room, on the host, takes of a finished image: its middle, size x size pixels
   * of the product number [channel][product] of it, their centre the image's; 0: nothing. */
  guint middle_size, middle_product;
} AstroImageArguments;

extern const AstroBackend astro_image_reference, astro_image_cpu;
extern const AstroBackend *const astro_image_backends[];

/* Least squares over the main lobe of a point-spread function, size x size pixels of the given size
 * in radians with its peak in the middle: full widths at half maximum (radians) and the angle of
 * the major axis from north through east, -pi/2 to pi/2. FALSE: there is no lobe to fit. cut (may
 * be NULL): the lobe goes on where the pixels end, so that more of them would give another beam. */
gboolean astro_image_fit_beam(AstroFormat format, gconstpointer psf, guint size, double pixel,
                              double *major, double *minor, double *angle, gboolean *cut);

/* The highest peak of a point-spread function beside the one in its middle, over that; 0: there is
 * none, or it has no peak there. */
double astro_image_sidelobe(AstroFormat format, gconstpointer psf, guint size);

G_END_DECLS
