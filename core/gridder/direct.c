/* The direct sum over all visibilities. */
#include "config.h"
#include "core/backend/count.h"
#include "core/gridder/direct.h"

#include <fftw3.h>
#include <math.h>
#include <string.h>
#include "core/backend/threads.h"
#include "core/lib/fft/planner.h"

/* Rows between two checks whether to stop. */
#define ASKS_EVERY 256

/* ---- the sum ---- */

typedef struct {
  const AstroGrid *grid;
  const AstroGridRows *rows;
  guint first, n;
  double *image;
} Sum;

static void read_value(const AstroGridRows *rows, guint64 at, double value[2])
{
  for (guint i = 0; i < 2; i++)
    value[i] = rows->is_double ? ((const double *)rows->values)[2 * at + i]
                               : (double)((const float *)rows->values)[2 * at + i];
}

static void add_pixel(const Sum *sum, guint x, guint y)
{
  const AstroGrid *grid = sum->grid;
  const AstroGridRows *rows = sum->rows;
  const double l = ((double)x - grid->image_size / 2) * grid->pixel;
  const double m = ((double)y - grid->image_size / 2) * grid->pixel;
  const double r2 =
      (grid->centre_l + l) * (grid->centre_l + l) + (grid->centre_m + m) * (grid->centre_m + m);
  if (!(r2 < 1)) /* below the horizon there is no sky */
    return;
  const double n_minus_1 = -r2 / (1 + sqrt(1 - r2));
  double *pixel = sum->image + 2 * ((gsize)y * grid->image_size + x);
  const gsize product_stride = 2 * (gsize)grid->image_size * grid->image_size;

  for (guint64 row = 0; row < rows->rows; row++) {
    if (row % ASKS_EVERY == 0 && astro_is_given_up())
      return;
    const double *uvw = rows->uvw + 3 * row;
    const double path = uvw[0] * l + uvw[1] * m + uvw[2] * n_minus_1;
    for (guint c = sum->first; c < sum->first + sum->n; c++) {
      const double angle = -2 * G_PI * path * rows->wavenumbers[c];
      const double re = cos(angle), im = sin(angle);
      for (guint p = 0; p < rows->products; p++) {
        double value[2];
        read_value(rows, (row * rows->channels + c) * rows->products + p, value);
        ASTRO_COUNT(8);
        pixel[p * product_stride] += value[0] * re - value[1] * im;
        pixel[p * product_stride + 1] += value[0] * im + value[1] * re;
      }
    }
  }
}

static void add_line(gpointer data, guint64 y)
{
  const Sum *sum = data;
  for (guint x = 0; x < sum->grid->image_size && !astro_is_given_up(); x++)
    add_pixel(sum, x, (guint)y);
}

void astro_direct_image(const AstroGrid *grid, const AstroGridRows *rows, guint first, guint n,
                        guint threads, double *image)
{
  Sum sum = { grid, rows, first, n, image };
  astro_parallel(grid->image_size, threads, add_line, &sum);
}

/* ---- as an algorithm: the grid whose transform is that image ---- */

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroGrid grid; /* without its products */
  guint products;
  fftw_complex *image;
  fftw_plan plan;
};

static gsize pixels(const AstroGridding *self)
{
  return (gsize)self->grid.size * self->grid.size;
}

static gboolean choose(const AstroGriddingConfig *config, AstroGrid *grid, GError **error)
{
  double least, greatest;
  if (!astro_grid_n_range(grid, &least, &greatest, error))
    return FALSE;
  /* Two more, so that the last l of an even image, + size / 2, is not the first one, - size / 2,
   * again. */
  grid->size = grid->image_size + 2;
  grid->cell = 1 / (grid->size * grid->pixel);
  grid->spread = (AstroSpread){ .kind = ASTRO_SPREAD_NONE };
  return TRUE;
}

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  return sizeof(fftw_complex) * (guint64)grid->size * grid->size * g_strv_length(grid->products);
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->config = *config;
  self->grid = *grid;
  self->products = g_strv_length(grid->products);
  self->grid.products = NULL;
  self->grid.image_size = grid->size; /* all of the grid's transform */
  self->image = fftw_malloc(bytes(config, grid));
  if (!self->image) {
    astro_backend_no_memory(error, "no memory for an image of %u x %u pixels", grid->size,
                            grid->size);
    g_free(self);
    return NULL;
  }
  astro_fft_planner_lock();
  self->plan = fftw_plan_dft_2d((int)grid->size, (int)grid->size, self->image, self->image,
                                FFTW_BACKWARD, FFTW_ESTIMATE);
  astro_fft_planner_unlock();
  *variant = "direct";
  return self;
}

/* Grid and image have their origin in the middle, which for an even size is a matter of alternating
 * signs. */
static double sign(const AstroGridding *self, gsize i)
{
  return (i / self->grid.size + i) & 1 ? -1 : 1;
}

static void add_image(AstroGridding *self, guint product, gpointer grid, gsize at)
{
  fftw_complex *image = self->image + product * pixels(self);
  const double scale = 1.0 / (double)pixels(self);
  for (gsize i = 0; i < pixels(self); i++)
    for (guint part = 0; part < 2; part++)
      image[i][part] *= sign(self, i) * scale;
  fftw_execute_dft(self->plan, image, image);
  for (gsize i = 0; i < pixels(self); i++)
    for (guint part = 0; part < 2; part++) {
      const double value = image[i][part] * sign(self, i);
      if (self->config.is_double)
        ((double *)grid)[2 * (at + i) + part] += value;
      else
        ((float *)grid)[2 * (at + i) + part] += (float)value;
    }
}

static gboolean add(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const guint channels = rows->channels / self->config.channels;
  for (guint channel = 0; channel < self->config.channels; channel++) {
    memset(self->image, 0, self->products * pixels(self) * sizeof *self->image);
    astro_direct_image(&self->grid, rows, channel * channels, channels, self->config.threads,
                       (double *)self->image);
    if (!astro_backend_goes_on(error))
      return FALSE;
    for (guint product = 0; product < self->products; product++)
      add_image(self, product, grid, (gsize)(channel * self->products + product) * pixels(self));
  }
  return TRUE;
}

static void destroy(AstroGridding *self)
{
  astro_fft_planner_lock();
  fftw_destroy_plan(self->plan);
  astro_fft_planner_unlock();
  fftw_free(self->image);
  g_free(self);
}

const AstroGridAlgorithm astro_direct = {
  .name = "direct",
  .choose = choose,
  .bytes = bytes,
  .create = create,
  .add = add,
  .destroy = destroy,
};
