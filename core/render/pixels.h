/* Draws an array of values as a rectangle of pixels.
 *
 * Column i of the rectangle shows the values from column floor(i w / W) of the array up to, but not
 * including, floor((i + 1) w / W), and at least one; rows likewise. If that is more than one value,
 * the pixel shows their mean without NaNs. */
#pragma once

#include "core/render/stretch.h"

G_BEGIN_DECLS

typedef struct {
  const float *values; /* [height][width] */
  guint width, height;
  gboolean upward; /* the array's first row is at the bottom of the rectangle */
} AstroPixels;

typedef struct {
  guint8 *data; /* of its first pixel */
  gsize stride; /* bytes from row to row */
  guint width, height;
} AstroRectangle;

void astro_pixels_draw(const AstroPixels *pixels, const AstroColouring *colouring,
                       const AstroRectangle *to);
/* The same pixel by pixel, directly from the formulas. */
void astro_pixels_draw_reference(const AstroPixels *pixels, const AstroColouring *colouring,
                                 const AstroRectangle *to);

G_END_DECLS
