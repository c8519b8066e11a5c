/* Grids as astroimage takes them, and the images that they become, in caps. */
#pragma once

#include "core/stream/stream.h"

G_BEGIN_DECLS

/* Images of those grids. stokes: NULL for the products as they are. */
GstCaps *astro_image_caps_of_grids(const GstCaps *grids, const char *stokes);

/* Grids for those images, the best first. psf: wanted whatever the caps say; may_be_wide: a wide
 * one too, where the caps do. */
GstCaps *astro_image_caps_to_grids(const GstCaps *images, gboolean psf, gboolean may_be_wide);

/* astrofft's output tells where it was asked for anything but what makes a sky. */
gboolean astro_image_check_transform(const GstCaps *grids, GError **error);

/* takes_rows: caps agree on what grids that are transformed along u alone need. *rows: this is one.
 */
gboolean astro_image_find_layout(const AstroLayout *layout, gboolean takes_rows, gboolean *rows,
                                 GError **error);

G_END_DECLS
