/* Draws an array of values as a rectangle of pixels. */
#include "core/render/pixels.h"

#include <math.h>
#include <string.h>

static void find_edges(guint values, guint pixels, guint *first, guint *end)
{
  for (guint i = 0; i < pixels; i++) {
    first[i] = (guint)((guint64)i * values / pixels);
    end[i] = MAX(first[i] + 1, (guint)((guint64)(i + 1) * values / pixels));
  }
}

#define STRIP 256

/* Several values at once, in explicit vectors: the compiler does not vectorise a choice that
 * depends on NaN, because of the exceptions that a comparison may raise. */
typedef float Values __attribute__((vector_size(16), aligned(4), may_alias));
typedef gint32 Mask __attribute__((vector_size(16), aligned(4), may_alias));

static void add_strip(const float *restrict row, guint n, float *restrict sums,
                      float *restrict counts)
{
  const guint lanes = sizeof(Values) / sizeof(float), whole = n - n % lanes;
  for (guint x = 0; x < whole; x += lanes) {
    const Values v = *(const Values *)(row + x), one = { 1, 1, 1, 1 };
    const Mask number = v == v;
    *(Values *)(sums + x) += (Values)((Mask)v & number);
    *(Values *)(counts + x) += (Values)((Mask)one & number);
  }
  for (guint x = whole; x < n; x++) {
    sums[x] += isnan(row[x]) ? 0 : row[x];
    counts[x] += !isnan(row[x]);
  }
}

/* For each column, the sum and number of the values other than NaN in some rows; strip by strip, so
 * that the sums stay in cache. */
static void add_rows(const AstroPixels *p, guint first, guint end, float *sums, float *counts)
{
  for (guint x = 0; x < p->width; x += STRIP) {
    guint n = MIN(STRIP, p->width - x);
    memset(sums + x, 0, n * sizeof *sums);
    memset(counts + x, 0, n * sizeof *counts);
    for (guint y = first; y < end; y++)
      add_strip(p->values + (gsize)y * p->width + x, n, sums + x, counts + x);
  }
}

/* 0 / 0 gives NaN, as it should. */
static void divide(float *restrict sums, const float *restrict counts, guint n)
{
  for (guint i = 0; i < n; i++)
    sums[i] /= counts[i];
}

static void add_columns(const guint *first, const guint *end, guint n, const float *sums,
                        const float *counts, float *means)
{
  for (guint i = 0; i < n; i++) {
    float sum = 0, count = 0;
    for (guint x = first[i]; x < end[i]; x++) {
      sum += sums[x];
      count += counts[x];
    }
    means[i] = sum / count;
  }
}

static void colour(const AstroColouring *c, const float *values, guint n, guint32 *pixels)
{
  guint32 steps[STRIP];
  for (guint at = 0; at < n; at += STRIP) {
    guint length = MIN(STRIP, n - at);
    for (guint i = 0; i < length; i++)
      steps[i] = astro_colouring_step(c, values[at + i]);
    for (guint i = 0; i < length; i++)
      pixels[at + i] = c->pixels[steps[i]];
  }
}

typedef struct {
  const AstroPixels *p;
  const AstroColouring *c;
  guint width;          /* of the rectangle */
  guint *first, *end;   /* columns */
  float *sums, *counts; /* one value per column of the array */
  float *means;         /* one value per column of the rectangle */
  guint32 *colours;     /* of a row of the array */
} Draw;

/* No fewer pixels than columns: each value's colour is looked up once and repeated. */
static void draw_wider(Draw *d, guint first, guint end, guint32 *to)
{
  const float *row = d->p->values + (gsize)first * d->p->width;
  if (end - first > 1) {
    add_rows(d->p, first, end, d->sums, d->counts);
    divide(d->sums, d->counts, d->p->width);
    row = d->sums;
  }
  if (d->width == d->p->width) {
    colour(d->c, row, d->width, to);
    return;
  }
  colour(d->c, row, d->p->width, d->colours);
  for (guint i = 0; i < d->width; i++)
    to[i] = d->colours[d->first[i]];
}

static void draw_narrower(Draw *d, guint first, guint end, guint32 *to)
{
  add_rows(d->p, first, end, d->sums, d->counts);
  add_columns(d->first, d->end, d->width, d->sums, d->counts, d->means);
  colour(d->c, d->means, d->width, to);
}

void astro_pixels_draw(const AstroPixels *p, const AstroColouring *c, const AstroRectangle *to)
{
  gsize longest = MAX(p->width, to->width);
  g_autofree guint *edges = g_new(guint, 2 * ((gsize)to->width + to->height));
  g_autofree float *rows = g_new(float, 3 * longest);
  g_autofree guint32 *colours = g_new(guint32, longest);
  guint *top = edges + 2 * (gsize)to->width, *bottom = top + to->height;
  Draw d = {
    p, c, to->width, edges, edges + to->width, rows, rows + longest, rows + 2 * longest, colours
  };
  const guint8 *before = NULL;
  guint before_first = 0, before_end = 0;

  find_edges(p->width, to->width, d.first, d.end);
  find_edges(p->height, to->height, top, bottom);
  for (guint r = 0; r < to->height; r++) {
    guint from = p->upward ? to->height - 1 - r : r;
    guint8 *row = to->data + r * to->stride;
    if (before && before_first == top[from] && before_end == bottom[from])
      memcpy(row, before, to->width * sizeof(guint32));
    else if (p->width <= to->width)
      draw_wider(&d, top[from], bottom[from], (guint32 *)(gpointer)row);
    else
      draw_narrower(&d, top[from], bottom[from], (guint32 *)(gpointer)row);
    before = row;
    before_first = top[from];
    before_end = bottom[from];
  }
}
