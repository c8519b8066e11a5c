/* Draws an image smoothly enlarged or reduced. */
#include "core/render/smooth.h"

#include <math.h>
#include <string.h>

#define CUBIC 4        /* values for a cubic */
#define MOST_REDUCED 4 /* above that, means of whole values are good enough */

gboolean astro_smooth_serves(const AstroPixels *p, guint width, guint height)
{
  return (p->width != width || p->height != height) && p->width <= MOST_REDUCED * (guint64)width &&
         p->height <= MOST_REDUCED * (guint64)height;
}

/* ---- weights ---- */

static void cubic_weights(double part, double w[CUBIC])
{
  const double t = part, t2 = t * t, t3 = t2 * t;
  w[0] = (-t + 2 * t2 - t3) / 2;
  w[1] = (2 - 5 * t2 + 3 * t3) / 2;
  w[2] = (t + 4 * t2 - 3 * t3) / 2;
  w[3] = (-t2 + t3) / 2;
}

/* Outside the edges the outermost values are repeated. */
static void enlarge(guint values, guint pixels, guint i, AstroSmoothTaps *taps)
{
  const double at = (i + 0.5) * values / pixels - 0.5, below = floor(at);
  double w[CUBIC];
  const gint64 last = (gint64)values - 1, first = CLAMP((gint64)below - 1, 0, last);
  cubic_weights(at - below, w);
  taps->first = (guint)first;
  taps->n = MIN(CUBIC, values - taps->first);
  for (gint k = 0; k < CUBIC; k++)
    taps->weights[CLAMP((gint64)below - 1 + k, first, last) - first] += (float)w[k];
  while (taps->n > 1 && taps->weights[taps->n - 1] == 0)
    taps->n--;
}

static void reduce(guint values, guint pixels, guint i, AstroSmoothTaps *taps)
{
  const double scale = (double)values / pixels, from = i * scale, to = (i + 1) * scale;
  const guint end = (guint)MIN(ceil(to - 1e-9), values);
  taps->first = (guint)floor(from + 1e-9);
  taps->n = end - taps->first;
  for (guint k = 0; k < taps->n; k++) {
    const double low = fmax(from, taps->first + k), high = fmin(to, taps->first + k + 1.0);
    taps->weights[k] = (float)((high - low) / scale);
  }
}

AstroSmoothTaps *astro_smooth_taps(guint values, guint pixels)
{
  const gsize most = MAX(CUBIC, (gsize)values / pixels + 3);
  AstroSmoothTaps *taps = g_malloc0(pixels * (sizeof *taps + most * sizeof(float)));
  float *weights = (float *)(gpointer)(taps + pixels);
  for (guint i = 0; i < pixels; i++, weights += most) {
    taps[i].weights = weights;
    taps[i].nearest = MIN((guint)((i + 0.5) * values / pixels), values - 1);
    if (values > pixels)
      reduce(values, pixels, i, &taps[i]);
    else
      enlarge(values, pixels, i, &taps[i]);
  }
  return taps;
}

/* ---- sums ---- */

typedef struct {
  const AstroPixels *p;
  const AstroColouring *c;
  gboolean of_levels;
  float *levels;         /* of the last CUBIC rows, row y at y % CUBIC; NaN where a value is NaN */
  guint row_of[CUBIC];   /* numbers of these rows */
  float *sums, *weights; /* of a row of pixels, by column of values */
  guint32 colours[ASTRO_COLORMAP_LEVELS]; /* of levels */
} Smooth;

static const float *row_at(Smooth *s, guint y)
{
  const float *values = s->p->values + (gsize)y * s->p->width;
  if (!s->of_levels)
    return values;
  float *row = s->levels + (gsize)(y % CUBIC) * s->p->width;
  if (s->row_of[y % CUBIC] == y)
    return row;
  for (guint x = 0; x < s->p->width; x++) {
    const guint32 step = astro_colouring_step(s->c, values[x]);
    row[x] = step == ASTRO_STRETCH_STEPS ? NAN : s->c->level[step];
  }
  s->row_of[y % CUBIC] = y;
  return row;
}

static void add_row(const float *restrict row, float weight, guint n, float *restrict sums,
                    float *restrict weights)
{
  for (guint x = 0; x < n; x++) {
    const gboolean good =
        row[x] - row[x] == 0; /* an infinite value has a colour, but must not be in a mean */
    sums[x] += good ? weight * row[x] : 0;
    weights[x] += good ? weight : 0;
  }
}

static void add_rows(Smooth *s, const AstroSmoothTaps *y)
{
  memset(s->sums, 0, s->p->width * sizeof *s->sums);
  memset(s->weights, 0, s->p->width * sizeof *s->weights);
  for (guint k = 0; k < y->n; k++)
    add_row(row_at(s, y->first + k), y->weights[k], s->p->width, s->sums, s->weights);
}

static guint32 colour_of(const Smooth *s, float value)
{
  if (!s->of_levels)
    return s->c->pixels[astro_colouring_step(s->c, value)];
  return s->colours[(guint)(CLAMP(value, 0, 1) * (ASTRO_COLORMAP_LEVELS - 1) + 0.5f)];
}

static void draw_row(const Smooth *s, const AstroSmoothTaps *taps, guint n, const float *nearest,
                     guint32 *to)
{
  for (guint i = 0; i < n; i++) {
    const AstroSmoothTaps *x = &taps[i];
    const float value = nearest[x->nearest];
    float sum = 0, weight = 0;
    if (value - value != 0) {
      to[i] = s->c->pixels[astro_colouring_step(s->c, value)];
      continue;
    }
    for (guint k = 0; k < x->n; k++) {
      sum += x->weights[k] * s->sums[x->first + k];
      weight += x->weights[k] * s->weights[x->first + k];
    }
    to[i] = colour_of(s, sum / weight);
  }
}

void astro_smooth_draw(const AstroPixels *p, const AstroColouring *c, const AstroRectangle *to)
{
  const gsize width = p->width;
  g_autofree AstroSmoothTaps *x = astro_smooth_taps(p->width, to->width),
                             *y = astro_smooth_taps(p->height, to->height);
  g_autofree float *room = g_new(float, (2 + CUBIC) * width);
  Smooth s = { .p = p,
               .c = c,
               .of_levels = p->width <= to->width && p->height <= to->height,
               .sums = room,
               .weights = room + width,
               .levels = room + 2 * width };
  for (guint k = 0; k < CUBIC; k++)
    s.row_of[k] = G_MAXUINT;
  for (guint k = 0; k < ASTRO_COLORMAP_LEVELS; k++)
    s.colours[k] = astro_colour_pixel(astro_colormap_colours[c->colormap][k], c->red_first);
  for (guint r = 0; r < to->height; r++) {
    const AstroSmoothTaps *rows = &y[p->upward ? to->height - 1 - r : r];
    add_rows(&s, rows);
    draw_row(&s, x, to->width, p->values + rows->nearest * width,
             (guint32 *)(gpointer)(to->data + r * to->stride));
  }
}
