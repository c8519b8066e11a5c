/* Divides the images of a model by the transform of the spreading function. */
#include "config.h"
#include "core/gridder/degrid/planes.h"

#include "core/backend/threads.h"
#include "core/kit/pages.h"
#include "core/lib/spread/series.h"

typedef struct {
  const AstroGrid *grid;
  gboolean is_double;
  gconstpointer images;
  gpointer corrected;
  const double *inverse; /* the corrections along l, and m */
  AstroImageSeries series;
} Correcting;

static double pixel_at(const Correcting *c, gsize at)
{
  return c->is_double ? ((const double *)c->images)[at] : (double)((const float *)c->images)[at];
}

/* A row of all images together. Most pixels of a model are 0. */
static void correct_row(gpointer data, guint64 row)
{
  const Correcting *c = data;
  const AstroGrid *grid = c->grid;
  const guint size = grid->image_size, half = size / 2, y = (guint)(row % size);
  const double m = grid->centre_m + ((double)y - half) * grid->pixel;
  for (guint x = 0; x < size; x++) {
    const gsize at = row * size + x, to = row * size + (size - 1 - x);
    double value = pixel_at(c, at);
    if (value != 0) {
      const double l = grid->centre_l + ((double)half - x) * grid->pixel;
      value *= c->inverse[2 * half - x] * c->inverse[y] *
               astro_image_series_at(&c->series, astro_grid_n_minus_1(l, m));
      value = (x + y) & 1 ? -value : value;
    }
    if (c->is_double)
      ((double *)c->corrected)[to] = value;
    else
      ((float *)c->corrected)[to] = (float)value;
  }
}

gpointer astro_degrid_correct(const AstroGriddingConfig *config, const AstroGrid *grid,
                              double w_step, guint products, gconstpointer images)
{
  const gsize pixels = (gsize)grid->image_size * grid->image_size * products;
  Correcting c = { .grid = grid, .is_double = config->is_double, .images = images };
  c.corrected = astro_pages_alloc(pixels * (config->is_double ? sizeof(double) : sizeof(float)));
  if (!c.corrected)
    return NULL;
  g_autofree double *inverse = astro_image_inverse(grid);
  c.inverse = inverse;
  astro_image_series_set(&c.series, grid, w_step);
  astro_parallel((guint64)grid->image_size * products, config->threads, correct_row, &c);
  return c.corrected;
}
