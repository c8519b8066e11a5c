/* Draws an image of the sky as a rectangle of pixels of any size, without steps.
 *
 * To enlarge, the colormap's levels of the four nearest values along each axis are interpolated by
 * a cubic (Catmull and Rom's). Interpolating the values themselves would surround bright ones with
 * rings that a stretch makes visible. To reduce, a pixel is the mean of the values that it covers,
 * each weighted by the part that is covered. A pixel whose nearest value is NaN is drawn as NaN,
 * and NaNs are left out of all other pixels. */
#pragma once

#include "core/render/pixels.h"

G_BEGIN_DECLS

void astro_smooth_draw(const AstroPixels *pixels, const AstroColouring *colouring,
                       const AstroRectangle *to);

/* Whether that differs from astro_pixels_draw, and is fast enough for a frame. */
gboolean astro_smooth_serves(const AstroPixels *pixels, guint width, guint height);

/* The weights of values along one axis in a pixel, which sum to 1. */
typedef struct {
  guint first, n, nearest;
  float *weights; /* n of them, of values from the first on */
} AstroSmoothTaps;

/* For each of the pixels along an axis; free with g_free, as one block. */
AstroSmoothTaps *astro_smooth_taps(guint values, guint pixels);

G_END_DECLS
