/* An image of the sky as a rectangle of pixels of any size, without steps.
 *
 * Enlarged, the colormap's levels of the four values nearest along each axis are joined by a cubic
 * (Catmull and Rom's): not the values, of which a bright one would throw rings around it that a
 * stretch makes visible. Reduced, a pixel has the mean of the values that it covers, those in part
 * by their part. What is no number stays as it is: each pixel whose nearest value is none, and it
 * is left out of all others. */
#pragma once

#include "core/render/pixels.h"

G_BEGIN_DECLS

void astro_smooth_draw(const AstroPixels *pixels, const AstroColouring *colouring,
                       const AstroRectangle *to);

/* Whether drawing so differs from astro_pixels_draw, and takes no longer than a frame may. */
gboolean astro_smooth_serves(const AstroPixels *pixels, guint width, guint height);

/* The weights of values along one axis in a pixel, which sum to 1. */
typedef struct {
  guint first, n, nearest;
  float *weights; /* n of them, of values from the first on */
} AstroSmoothTaps;

/* Of each of the pixels along an axis; free with g_free, one block. */
AstroSmoothTaps *astro_smooth_taps(guint values, guint pixels);

G_END_DECLS
