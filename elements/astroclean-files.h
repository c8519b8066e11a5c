/* Images that astroclean reads from FITS files: a mask, and a model that was found before. */
#pragma once

#include "core/stream/grid.h"
#include "core/stream/observation.h"

G_BEGIN_DECLS

/* The image that is cleaned, which files have to fit. */
typedef struct {
  const AstroGrid *grid; /* with the products to be cleaned and others behind them */
  guint size;            /* of the image, which may be the middle of the grid's */
  guint channels, products;
  const AstroObservation *observation; /* NULL: unknown */
} AstroCleanImageShape;

/* size x size: 1 where the first image of the file is not 0 (nor NaN). To be freed; NULL with an
 * error. */
guint8 *astro_clean_read_mask(const char *path, const AstroCleanImageShape *shape, GError **error);

/* [channel][product][y][x]: the models of the products in the file (I-MODEL, or I in Jy/pixel). One
 * channel in the file stands for all. To be freed; NULL with an error. */
float *astro_clean_read_model(const char *path, const AstroCleanImageShape *shape, GError **error);

G_END_DECLS
