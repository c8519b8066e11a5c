/* Divides the images of a model by the transform of the spreading function. */
#include "config.h"
#include "core/gridder/degrid/planes.h"

#include "core/backend/threads.h"
#include "core/gridder/degrid/kernels.h"
#include "core/kit/pages.h"
#include "core/lib/spread/series.h"

static const AstroDegridKernels *const variants[] = ASTRO_KERNELS(astro_degrid_kernels);

const AstroDegridKernels *astro_degrid_kernels_pick(void)
{
  return ASTRO_KERNELS_PICK(variants);
}

#define STRIP 64 /* pixels that are corrected together: a whole number of vectors */

typedef struct {
  const AstroGrid *grid;
  const AstroDegridKernels *kernels;
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

static void set_pixel(const Correcting *c, gsize at, double value)
{
  if (c->is_double)
    ((double *)c->corrected)[at] = value;
  else
    ((float *)c->corrected)[at] = (float)value;
}

static gboolean is_blank(const Correcting *c, gsize at, guint n)
{
  for (guint i = 0; i < n; i++)
    if (pixel_at(c, at + i) != 0)
      return FALSE;
  return TRUE;
}

/* Pixels x to x + n - 1 of a row of all images together. Most strips of a model are blank. */
static void correct_strip(const Correcting *c, guint64 row, guint x, guint n)
{
  const AstroGrid *grid = c->grid;
  const guint size = grid->image_size, half = size / 2, y = (guint)(row % size);
  const AstroImageStrip strip = { .l = grid->centre_l + ((double)half - x) * grid->pixel,
                                  .pixel = -grid->pixel,
                                  .m = grid->centre_m + ((double)y - half) * grid->pixel,
                                  .n = n };
  double by[STRIP] = { 0 }, corrections[STRIP];
  const gsize from = row * size + x, to = row * size + (size - 1 - x);
  if (is_blank(c, from, n)) {
    for (guint i = 0; i < n; i++)
      set_pixel(c, to - i, 0);
    return;
  }
  for (guint i = 0; i < n; i++)
    by[i] = c->inverse[2 * half - x - i] * c->inverse[y] * ((x + i + y) & 1 ? -1 : 1);
  c->kernels->correct(&strip, by, &c->series, corrections);
  for (guint i = 0; i < n; i++)
    set_pixel(c, to - i, pixel_at(c, from + i) * corrections[i]);
}

static void correct_row(gpointer data, guint64 row)
{
  const Correcting *c = data;
  const guint size = c->grid->image_size;
  for (guint x = 0; x < size; x += STRIP)
    correct_strip(c, row, x, MIN(STRIP, size - x));
}

gpointer astro_degrid_correct(const AstroGriddingConfig *config, const AstroGrid *grid,
                              double w_step, guint products, gconstpointer images)
{
  const gsize pixels = (gsize)grid->image_size * grid->image_size * products;
  Correcting c = { .grid = grid,
                   .kernels = astro_degrid_kernels_pick(),
                   .is_double = config->is_double,
                   .images = images };
  c.corrected = astro_pages_alloc(pixels * (config->is_double ? sizeof(double) : sizeof(float)));
  if (!c.corrected)
    return NULL;
  g_autofree double *inverse = astro_image_inverse(grid);
  c.inverse = inverse;
  astro_image_series_set(&c.series, grid, w_step);
  astro_parallel((guint64)grid->image_size * products, config->threads, correct_row, &c);
  return c.corrected;
}
