/* The reference for drawing an array of values as pixels. */
#include "core/render/pixels.h"

#include <math.h>

/* Sums down the columns first, as the fast version does. */
static float mean(const AstroPixels *p, guint x0, guint x1, guint y0, guint y1)
{
  float sum = 0, count = 0;
  if (x1 - x0 == 1 && y1 - y0 == 1)
    return p->values[(gsize)y0 * p->width + x0];
  for (guint x = x0; x < x1; x++) {
    float column = 0, n = 0;
    for (guint y = y0; y < y1; y++) {
      float v = p->values[(gsize)y * p->width + x];
      if (isnan(v))
        continue;
      column += v;
      n++;
    }
    sum += column;
    count += n;
  }
  return sum / count;
}

static guint32 pixel_of(const AstroColouring *c, float value)
{
  double span = (double)c->high - c->low;
  float scale = span > 0 ? (float)((ASTRO_STRETCH_STEPS - 1) / span) : 0;
  float t = (value - c->low) * scale;
  if (isnan(value))
    return astro_colour_pixel(c->blank, c->red_first);
  float step = floorf((t > 0 ? fminf(t, ASTRO_STRETCH_STEPS - 1) : 0) + 0.5f);
  float level;
  if (c->stretch == ASTRO_STRETCH_PERCENTILE)
    level = c->level[(guint)step];
  else if (c->stretch == ASTRO_STRETCH_AUTO)
    level = (float)CLAMP(astro_stretch_auto(c, c->low + span * step / (ASTRO_STRETCH_STEPS - 1.0)),
                         0, 1);
  else
    level = (float)astro_stretch(c->stretch, step / (ASTRO_STRETCH_STEPS - 1.0));
  return astro_colour_pixel(
      astro_colormap_colours[c->colormap][(guint)(level * (ASTRO_COLORMAP_LEVELS - 1) + 0.5f)],
      c->red_first);
}

void astro_pixels_draw_reference(const AstroPixels *p, const AstroColouring *c,
                                 const AstroRectangle *to)
{
  for (guint r = 0; r < to->height; r++)
    for (guint i = 0; i < to->width; i++) {
      guint64 row = p->upward ? to->height - 1 - r : r;
      guint x0 = (guint)((guint64)i * p->width / to->width),
            x1 = (guint)(((guint64)i + 1) * p->width / to->width),
            y0 = (guint)(row * p->height / to->height),
            y1 = (guint)((row + 1) * p->height / to->height);
      guint32 *pixels = (guint32 *)(gpointer)(to->data + r * to->stride);
      pixels[i] = pixel_of(c, mean(p, x0, MAX(x1, x0 + 1), y0, MAX(y1, y0 + 1)));
    }
}
