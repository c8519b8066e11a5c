/* From values to colours.
 *
 * A value's place between the range's ends, 0 to 1, is rounded to ASTRO_STRETCH_STEPS steps; the
 * stretch takes a step to one of the colormap's levels, so that a table serves every value. What is
 * no number has a colour of its own. */
#pragma once

#include "core/render/colormap.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_STRETCH_LINEAR,
  ASTRO_STRETCH_ASINH,      /* asinh(100 t) / asinh(100) */
  ASTRO_STRETCH_LOG,        /* log(1 + 1000 t) / log(1001) */
  ASTRO_STRETCH_PERCENTILE, /* the part of the values that is smaller */
  ASTRO_STRETCH_AUTO, /* asinh about the median, linear as far as most values reach; renderers take
                         it for images and spectra, and proportion for all else */
  ASTRO_N_STRETCHES
} AstroStretch;
#define ASTRO_TYPE_STRETCH astro_stretch_get_type()
GType astro_stretch_get_type(void);

/* 0 to 1 in, 0 to 1 out. Not for ASTRO_STRETCH_PERCENTILE and ASTRO_STRETCH_AUTO, which are no
 * functions of t alone. */
double astro_stretch(AstroStretch stretch, double t);

#define ASTRO_STRETCH_STEPS 65536

typedef struct {
  float low, high, scale;                  /* steps a unit */
  float level[ASTRO_STRETCH_STEPS];        /* of the colormap, before rounding: 0 to 1 */
  guint32 pixels[ASTRO_STRETCH_STEPS + 1]; /* the last one is of what is no number */
  /* What the table is of. */
  gboolean is_set, red_first;
  AstroStretch stretch;
  AstroColormap colormap;
  guint32 blank;
  /* Of ASTRO_STRETCH_AUTO: about which value, and how far from it, it is linear. */
  double centre, softness, at_low, scale_auto;
} AstroColouring;

/* The step of a value; ASTRO_STRETCH_STEPS of what is no number. */
static inline guint32 astro_colouring_step(const AstroColouring *c, float value)
{
  float t = (value - c->low) * c->scale;
  t = t > 0 ? t : 0;
  t = t < ASTRO_STRETCH_STEPS - 1 ? t : ASTRO_STRETCH_STEPS - 1;
  return value == value ? (guint32)(gint32)(t + 0.5f) : ASTRO_STRETCH_STEPS;
}

/* Where the values are that the middle percent of all finite ones lie between, percent 100: the
 * least and the largest. FALSE where none is finite: 0 and 1. */
gboolean astro_range_find(const float *values, gsize n, double percent, float *low, float *high);

/* What ASTRO_STRETCH_AUTO makes of a value, 0 to 1 from c->low to c->high. */
double astro_stretch_auto(const AstroColouring *c, double value);

/* The table; nothing to do where it is there already. values: what ASTRO_STRETCH_PERCENTILE and
 * ASTRO_STRETCH_AUTO go by. blank: 0xRRGGBB of what is no number. */
void astro_colouring_set(AstroColouring *c, AstroColormap colormap, AstroStretch stretch, float low,
                         float high, const float *values, gsize n, guint32 blank,
                         gboolean red_first);

/* As a pixel holds it: its bytes are B G R 0xff, or R G B 0xff. */
static inline guint32 astro_colour_pixel(guint32 rgb, gboolean red_first)
{
  guint32 swapped = (rgb & 0xff) << 16 | (rgb & 0xff00) | rgb >> 16;
  return 0xff000000u | (red_first ? swapped : rgb);
}

G_END_DECLS
