/* Converts values to colours.
 *
 * A value's position in the range, 0 to 1, is rounded to ASTRO_STRETCH_STEPS steps; the stretch
 * maps a step to one of the colormap's levels, so that a table serves every value. NaN has a colour
 * of its own. */
#pragma once

#include "core/render/colormap.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_STRETCH_LINEAR,
  ASTRO_STRETCH_ASINH,      /* asinh(100 t) / asinh(100) */
  ASTRO_STRETCH_LOG,        /* log(1 + 1000 t) / log(1001) */
  ASTRO_STRETCH_PERCENTILE, /* the fraction of values that are smaller */
  ASTRO_STRETCH_AUTO, /* asinh about the median, linear over the range of most values; renderers use
                         it for images and spectra, and linear for all others */
  ASTRO_N_STRETCHES
} AstroStretch;
#define ASTRO_TYPE_STRETCH astro_stretch_get_type()
GType astro_stretch_get_type(void);

/* Maps 0..1 to 0..1. Not for ASTRO_STRETCH_PERCENTILE and ASTRO_STRETCH_AUTO, which depend on the
 * values. */
double astro_stretch(AstroStretch stretch, double t);

#define ASTRO_STRETCH_STEPS 65536

typedef struct {
  float low, high, scale;                  /* steps per unit */
  float level[ASTRO_STRETCH_STEPS];        /* of the colormap, before rounding: 0 to 1 */
  guint32 pixels[ASTRO_STRETCH_STEPS + 1]; /* the last one is for NaN */
  /* The settings for which the table was made. */
  gboolean is_set, red_first;
  AstroStretch stretch;
  AstroColormap colormap;
  guint32 blank;
  /* For ASTRO_STRETCH_AUTO: the centre of the linear part, and its width. */
  double centre, softness, at_low, scale_auto;
} AstroColouring;

/* The step of a value; ASTRO_STRETCH_STEPS for NaN. */
static inline guint32 astro_colouring_step(const AstroColouring *c, float value)
{
  float t = (value - c->low) * c->scale;
  t = t > 0 ? t : 0;
  t = t < ASTRO_STRETCH_STEPS - 1 ? t : ASTRO_STRETCH_STEPS - 1;
  return value == value ? (guint32)(gint32)(t + 0.5f) : ASTRO_STRETCH_STEPS;
}

/* The range of the middle percent of all finite values; with 100, from the smallest to the largest.
 * FALSE if none is finite: 0 and 1. */
gboolean astro_range_find(const float *values, gsize n, double percent, float *low, float *high);

/* The level, 0 to 1, to which ASTRO_STRETCH_AUTO maps a value from c->low to c->high. */
double astro_stretch_auto(const AstroColouring *c, double value);

/* Sets the table unless it is up to date. values: for ASTRO_STRETCH_PERCENTILE and
 * ASTRO_STRETCH_AUTO. blank: 0xRRGGBB of NaN. */
void astro_colouring_set(AstroColouring *c, AstroColormap colormap, AstroStretch stretch, float low,
                         float high, const float *values, gsize n, guint32 blank,
                         gboolean red_first);

/* The colour as a pixel holds it: its bytes are B G R 0xff, or R G B 0xff. */
static inline guint32 astro_colour_pixel(guint32 rgb, gboolean red_first)
{
  guint32 swapped = (rgb & 0xff) << 16 | (rgb & 0xff00) | rgb >> 16;
  return 0xff000000u | (red_first ? swapped : rgb);
}

G_END_DECLS
