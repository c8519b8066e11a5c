/* A strip: pixels of a row of an image, relative to the phase centre. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

/* l of its first pixel and the step of l, m of its row, and the number of pixels. */
typedef struct {
  double l, pixel, m;
  gsize n;
} AstroImageStrip;

G_END_DECLS
