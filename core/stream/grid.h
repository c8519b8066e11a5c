/* Grids of visibilities and images: fields of their caps, and the metas of their buffers.
 *
 * Grids are square. Element (v, u) of a grid of size n is at ((u - n/2) cell, (v - n/2) cell)
 * wavelengths, and after the FFT at l = (u - n/2) pixel, m = (v - n/2) pixel from the centre, where
 * pixel = 1 / (n cell). Images have x reversed, as the sky is drawn and FITS counts: pixel (y, x)
 * of an image of size k is at l = (k/2 - x) pixel, m = (y - k/2) pixel.
 *
 * "products" names the elements of the pol axis, joined by ':', for instance XX:XY:YX:YY, I,
 * I:Q:U:V. A last product PSF may follow: the point-spread function, gridded from the weights
 * alone. In images, what was made of a product has a second part in its name: I-MODEL, I-RESIDUAL.
 */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

/* The function that visibilities were spread with; images are divided by its transform. */
typedef enum {
  ASTRO_SPREAD_NONE, /* nothing to divide by */
  /* exp(beta (sqrt(1 - (2x/support)^2) - 1)) in u and v, and in w if there are planes */
  ASTRO_SPREAD_SEMICIRCLE,
  /* W-projection: the transform of a tapered image, tabulated at `oversampling` taps per cell; the
   * nearest tap is used, or an interpolation between taps */
  ASTRO_SPREAD_KAISER_BESSEL,
  ASTRO_SPREAD_SPHEROIDAL,
  ASTRO_N_SPREADS
} AstroSpreadKind;

typedef struct {
  AstroSpreadKind kind;
  guint support; /* cells */
  double beta;
  guint oversampling;    /* taps per cell; 0 if there is no table */
  gboolean interpolated; /* between taps */
} AstroSpread;

#define ASTRO_PRODUCT_PSF "PSF"

typedef struct {
  guint size;                /* cells of the grid along u and v */
  guint image_size;          /* wanted pixels from the grid's middle */
  guint middle;              /* pixels that the user asked for, if image_size is larger; else 0 */
  double cell;               /* wavelengths */
  double pixel;              /* radians */
  double centre_l, centre_m; /* of the image, from the phase centre */
  char **products;           /* as many as the pol axis has elements */
  AstroSpread spread;
} AstroGrid;

/* The image size that the user asked for. When astroclean asks for a wide point-spread function
 * (wide-psf=true in caps), grids and images are twice as large, and the user's image is their
 * middle: the rest is needed only for the point-spread function. Everything that depends on the
 * user's size (cells for weighting, advice in messages) must use this one. */
static inline guint astro_grid_wanted(const AstroGrid *grid)
{
  return grid->middle ? grid->middle : grid->image_size;
}

/* In caps, pixel, middle, centre-l, centre-m and products are fields of images and of grids; cell,
 * image-size, spread, support, beta, oversampling and interpolated of grids only. Only cell or
 * pixel is required: other fields have defaults (centre 0, no spread, the whole grid, products I,
 * XX:YY or XX:XY:YX:YY by their number).
 */
gboolean astro_grid_from_caps(AstroGrid *grid, const GstCaps *caps, GError **error);
/* For images only: they need not be square (size is the width then) and need no pixel size (pixel
 * and cell are 0 then). */
gboolean astro_grid_from_image_caps(AstroGrid *grid, const GstCaps *caps, GError **error);
/* Whether a stream's axes are those of an image: pol:y:x, or channel:pol:y:x. */
gboolean astro_image_check_layout(const AstroStream *stream, GError **error);
void astro_grid_to_caps(const AstroGrid *grid, GstCaps *caps);
void astro_grid_clear(AstroGrid *grid);

/* The largest distance of the image's corners from the phase centre, in direction cosines, at most
 * 1. */
double astro_grid_farthest(const AstroGrid *grid);
/* The distance of the farthest corner of the image that the user asked for from the phase centre,
 * as a chord of the unit sphere: at most 1.42. */
double astro_grid_farthest_wanted(const AstroGrid *grid);

gint astro_grid_find(const AstroGrid *grid, const char *product); /* -1: there is no such product */

/* A plane's buffer may have a map (touched, below) of the tiles of ASTRO_GRID_TILE x
 * ASTRO_GRID_TILE cells that visibilities reached. All other tiles are to be read as zeros,
 * whatever the buffer holds there. Makers of planes send such maps if all readers say in their
 * answer to an ALLOCATION query that they heed them; touched-only=false in caps asks for whole
 * planes even so. This also applies to rows transformed along u only (layout v:x with
 * touched-only=true in caps): rows without any touched tile are to be read as zeros. */
#define ASTRO_GRID_TILE 16

static inline guint astro_grid_tiles(guint size)
{
  return (size + ASTRO_GRID_TILE - 1) / ASTRO_GRID_TILE;
}

/* Meta of grids, before and after the FFT: the w-planes in this buffer, and sums over the whole
 * grid. An image is complete when its last plane has been added. */
typedef struct {
  GstMeta meta;
  double w, w_step; /* w of the first plane, and the distance of planes, in wavelengths; 0: no w */
  guint plane, planes; /* first plane in this buffer; planes of the whole grid */
  guint n_weights;     /* channels x products; 0 until set */
  double *weights;     /* sums of weights, [channel][product] */
  guint64 used, outside, flagged, not_finite; /* visibilities (one per product, without the PSF) */
  GstBuffer *touched; /* a byte per tile, [channel][row of tiles][tile]; NULL: all are touched */
} AstroGridMeta;

GType astro_grid_meta_api_get_type(void);
const GstMetaInfo *astro_grid_meta_get_info(void);
#define ASTRO_GRID_META_API astro_grid_meta_api_get_type()

/* In the answer to an ALLOCATION query: the reader only uses the image in the middle of a
 * transformed grid, image-size / 2 pixels to either side; the rest may be left undefined. */
GType astro_grid_image_only_api_get_type(void);
#define ASTRO_GRID_IMAGE_ONLY_API astro_grid_image_only_api_get_type()

AstroGridMeta *astro_buffer_add_grid(GstBuffer *buffer, guint n_weights);
AstroGridMeta *astro_buffer_get_grid(GstBuffer *buffer); /* NULL: it has none */

/* Levels of a cleaned channel and product of an image; zeros if it was not cleaned. */
typedef struct {
  double noise; /* Jy/beam, before CLEAN removed any of it as sources; 0: unknown */
  double left;  /* Jy/beam: the highest residual of CLEAN, whose sidelobes are still in the image */
} AstroImageLevels;

/* Meta of images: the fitted beam if there is one (in radians: full widths at half maximum, and the
 * angle of the major axis from north through east); the highest sidelobe of the point-spread
 * function relative to its peak (0: unknown); the border, a number of pixels along the edges where
 * CLEAN looked for no sources, so that their sidelobes are still in the image (0: none, or not
 * cleaned); and for each channel and product the sum of weights and the levels that CLEAN left. */
typedef struct {
  GstMeta meta;
  gboolean has_beam;
  double major, minor, angle;
  double sidelobe;
  guint border;
  gboolean cleaned;
  guint n_weights;
  double *weights;
  AstroImageLevels *levels;
} AstroImageMeta;

GType astro_image_meta_api_get_type(void);
const GstMetaInfo *astro_image_meta_get_info(void);
#define ASTRO_IMAGE_META_API astro_image_meta_api_get_type()

AstroImageMeta *astro_buffer_add_image(GstBuffer *buffer, guint n_weights);
AstroImageMeta *astro_buffer_get_image(GstBuffer *buffer);

ASTRO_END_DECLS
