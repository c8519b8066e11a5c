/* Grids of visibilities and images: what their caps say beyond the stream's fields, and what each
 * buffer says of itself.
 *
 * Grids are square. Element (v, u) of a grid of size n stands for ((u - n/2) cell, (v - n/2) cell)
 * wavelengths, and after the FFT for l = (u - n/2) pixel, m = (v - n/2) pixel about the centre,
 * where pixel = 1 / (n cell). Images have x the other way round, as the sky is drawn and FITS
 * counts: pixel (y, x) of an image of size k stands for l = (k/2 - x) pixel, m = (y - k/2) pixel.
 *
 * Products name what the pol axis holds, joined by ':', for instance XX:XY:YX:YY, I, I:Q:U:V. One
 * more may follow them, PSF, gridded from the weights alone. In images, what was made of a product
 * has it as the first part of its name: I-MODEL, I-RESIDUAL. */
#pragma once

#include "core/stream/stream.h"

ASTRO_BEGIN_DECLS

/* The function that visibilities were spread with, whose transform an image is divided by. */
typedef enum {
  ASTRO_SPREAD_NONE, /* nothing to divide by */
  /* exp(beta (sqrt(1 - (2x/support)^2) - 1)) in u and v, and in w where there are planes */
  ASTRO_SPREAD_SEMICIRCLE,
  /* W-projection: nearest of oversampling taps a cell, or interpolated between them, of the
   * transform of an image that tapers off */
  ASTRO_SPREAD_KAISER_BESSEL,
  ASTRO_SPREAD_SPHEROIDAL,
  ASTRO_N_SPREADS
} AstroSpreadKind;

typedef struct {
  AstroSpreadKind kind;
  guint support; /* cells */
  double beta;
  guint oversampling;    /* taps a cell; 0 where there is no table */
  gboolean interpolated; /* between taps */
} AstroSpread;

#define ASTRO_PRODUCT_PSF "PSF"

typedef struct {
  guint size;                /* cells of the grid along u and v */
  guint image_size;          /* pixels wanted of its middle */
  guint middle;              /* of those, what somebody looks at; 0: all of them */
  double cell;               /* wavelengths */
  double pixel;              /* radians */
  double centre_l, centre_m; /* of the image, from the phase centre */
  char **products;           /* as many as the pol axis is long */
  AstroSpread spread;
} AstroGrid;

/* Where astroclean asks for a wide point-spread function (wide-psf=true in caps), grids and images
 * are twice as large as the user's image, which is their middle: what is around it is there for the
 * point-spread function alone. Whatever follows from the size that a user set (cells that weights
 * are counted in, advice) goes by this one. */
static inline guint astro_grid_wanted(const AstroGrid *grid)
{
  return grid->middle ? grid->middle : grid->image_size;
}

/* pixel, image size and centre of an image's caps go by the same names; a grid's are all here:
 * cell, pixel, image-size, middle, centre-l, centre-m, products, spread, support, beta,
 * oversampling, interpolated. Only cell or pixel must be there: others have a meaning where they
 * are missing (centre 0, no spread, the whole grid, products I, XX:YY or XX:XY:YX:YY by their
 * number).
 */
gboolean astro_grid_from_caps(AstroGrid *grid, const GstCaps *caps, GError **error);
/* Of images alone: they need not be square (size is the width then) nor tell how large a pixel is
 * (pixel and cell are 0 then). */
gboolean astro_grid_from_image_caps(AstroGrid *grid, const GstCaps *caps, GError **error);
/* Whether a stream's axes are those that images have here: pol:y:x, maybe with channel before. */
gboolean astro_image_check_layout(const AstroStream *stream, GError **error);
void astro_grid_to_caps(const AstroGrid *grid, GstCaps *caps);
void astro_grid_clear(AstroGrid *grid);

/* From the phase centre to the image's farthest corner: direction cosines, at most 1. */
double astro_grid_farthest(const AstroGrid *grid);

gint astro_grid_find(const AstroGrid *grid, const char *product); /* -1: it has none */

/* A plane's buffer may say of tiles of so many cells a side which ones visibilities reached
 * (touched, below): the others are zeros to whoever reads them, whatever the buffer holds there.
 * Whoever makes planes does so where all who read them say that they heed such maps, in the answer
 * to an ALLOCATION query; touched-only=false in caps asks for whole planes all the same. That goes
 * on to hold of rows that are transformed along u alone (layout v:x with touched-only=true in
 * caps): those that no touched tile has a part of are zeros. */
#define ASTRO_GRID_TILE 16

static inline guint astro_grid_tiles(guint size)
{
  return (size + ASTRO_GRID_TILE - 1) / ASTRO_GRID_TILE;
}

/* Of buffers of grids, before and after the FFT: which w-planes they hold and what was summed in
 * the whole grid. An image is complete with its last plane. */
typedef struct {
  GstMeta meta;
  double w, w_step;    /* of the buffer's first plane and between planes, wavelengths; 0: no w */
  guint plane, planes; /* the first plane of this buffer; planes of the whole grid */
  guint n_weights;     /* channels x products, 0 before it is set */
  double *weights;     /* sums of weights, [channel][product] */
  guint64 used, outside, flagged, not_finite; /* visibilities (a product each, not the PSF) */
  GstBuffer *touched; /* a byte of each tile, [channel][row of tiles][tile]; NULL: all are */
} AstroGridMeta;

GType astro_grid_meta_api_get_type(void);
const GstMetaInfo *astro_grid_meta_get_info(void);
#define ASTRO_GRID_META_API astro_grid_meta_api_get_type()

/* In the answer to an ALLOCATION query: of a transformed grid the reader looks at the image in its
 * middle alone, image-size / 2 pixels to either side; the rest may be left undefined. */
GType astro_grid_image_only_api_get_type(void);
#define ASTRO_GRID_IMAGE_ONLY_API astro_grid_image_only_api_get_type()

AstroGridMeta *astro_buffer_add_grid(GstBuffer *buffer, guint n_weights);
AstroGridMeta *astro_buffer_get_grid(GstBuffer *buffer); /* NULL: it has none */

/* Of a channel and product of an image that was cleaned; zeros where none was. */
typedef struct {
  double noise; /* Jy/beam, as it was before CLEAN took any of it for sources; 0: not known */
  double left;  /* Jy/beam: the highest of what CLEAN left, whose sidelobes are there yet */
} AstroImageLevels;

/* Of buffers of images: the beam (radians; full widths at half maximum, and the angle of the major
 * axis from north through east) where it was fitted; the highest sidelobe of the point-spread
 * function, over its peak (0: not known); the border, pixels along the edges where CLEAN looked for
 * no sources, so that what the array adds to the image is still there (0: there is none, or nothing
 * was cleaned); and of each channel and product the sum of weights and what CLEAN left. */
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
