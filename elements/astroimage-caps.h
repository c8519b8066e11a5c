/* Grids as astroimage takes them, and the images that they become, in caps. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Images of such grids. stokes: NULL for the products as they are. */
GstCaps *astro_image_caps_of_grids(const GstCaps *grids, const char *stokes);

/* Grids for such images, the best first. psf: wanted even if the caps do not say so; may_be_wide: a
 * wide one too, if the caps say so. */
GstCaps *astro_image_caps_to_grids(const GstCaps *images, gboolean psf, gboolean may_be_wide);

/* Refuses grids whose transform does not make a sky, which their caps say. */
gboolean astro_image_check_transform(const GstCaps *grids, GError **error);

/* takes_rows: caps say touched-only=true, which rows need. *rows: the grid's rows alone are
 * transformed. */
gboolean astro_image_find_layout(const AstroLayout *layout, gboolean takes_rows, gboolean *rows,
                                 GError **error);

G_END_DECLS
