/* The formula: each pixel of a model is a source, S exp(2 pi i (u l + v m + w (n - 1))). */
#include "config.h"
#include "core/gridder/degrid/degrid.h"

#include <math.h>
#include "core/backend/threads.h"
#include "core/gridder/products.h"

typedef struct {
  double l, m, n_minus_1;
  gsize at; /* of the pixel, in an image */
} Source;

typedef struct {
  const AstroGriddingConfig *config;
  const AstroGrid *grid;
  const AstroGridRows *rows;
  gconstpointer model;
  gpointer values;
  GArray *sources; /* the pixels that are not 0 in every image */
} Sum;

static double pixel_at(const Sum *sum, gsize at)
{
  return sum->config->is_double ? ((const double *)sum->model)[at]
                                : (double)((const float *)sum->model)[at];
}

static gsize pixels(const Sum *sum)
{
  return (gsize)sum->grid->image_size * sum->grid->image_size;
}

static void find_sources(Sum *sum)
{
  const AstroGrid *grid = sum->grid;
  const gsize images = (gsize)sum->config->channels * sum->rows->products;
  const guint size = grid->image_size, half = size / 2;
  for (gsize at = 0; at < pixels(sum); at++) {
    const double l = grid->centre_l + ((double)half - at % size) * grid->pixel;
    const double m = grid->centre_m + ((double)(at / size) - half) * grid->pixel;
    const Source source = { l, m, astro_grid_n_minus_1(l, m), at };
    gboolean any = FALSE;
    for (gsize image = 0; image < images; image++)
      any |= pixel_at(sum, image * pixels(sum) + at) != 0;
    if (any)
      g_array_append_val(sum->sources, source);
  }
}

static void add_visibility(const Sum *sum, guint64 row, guint channel)
{
  const AstroGridRows *rows = sum->rows;
  const double *uvw = rows->uvw + 3 * row, per = rows->wavenumbers[channel];
  const guint model_channel = sum->config->channels > 1 ? channel : 0;
  double totals[ASTRO_MAX_PRODUCTS][2] = { { 0 } };
  for (guint i = 0; i < sum->sources->len; i++) {
    const Source *s = &g_array_index(sum->sources, Source, i);
    const double turns = (uvw[0] * s->l + uvw[1] * s->m + uvw[2] * s->n_minus_1) * per;
    const double angle = 2 * G_PI * (turns - rint(turns)), re = cos(angle), im = sin(angle);
    for (guint p = 0; p < rows->products; p++) {
      const gsize image = (gsize)model_channel * rows->products + p;
      const double flux = pixel_at(sum, image * pixels(sum) + s->at);
      totals[p][0] += flux * re;
      totals[p][1] += flux * im;
    }
  }
  const gsize to = (row * rows->channels + channel) * rows->products;
  for (guint p = 0; p < rows->products; p++)
    for (guint part = 0; part < 2; part++)
      if (rows->is_double)
        ((double *)sum->values)[2 * (to + p) + part] = totals[p][part];
      else
        ((float *)sum->values)[2 * (to + p) + part] = (float)totals[p][part];
}

static void add_row(gpointer data, guint64 row)
{
  const Sum *sum = data;
  for (guint c = 0; c < sum->rows->channels && !astro_is_given_up(); c++)
    add_visibility(sum, row, c);
}

gboolean astro_degrid_direct(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroGridRows *rows, gconstpointer model, gpointer values,
                             GError **error)
{
  g_autoptr(GArray) sources = g_array_new(FALSE, FALSE, sizeof(Source));
  Sum sum = { config, grid, rows, model, values, sources };
  find_sources(&sum);
  astro_parallel(rows->rows, config->threads, add_row, &sum);
  return astro_backend_goes_on(error);
}
