/* Transforms the images of a model to planes of a grid: first their columns, then those rows of the
 * result that visibilities reach. */
#include "config.h"
#include "core/gridder/degrid/planes.h"

#include <fftw3.h>
#include <string.h>
#include "core/backend/scratch.h"
#include "core/backend/threads.h"
#include "core/gridder/degrid/kernels.h"
#include "core/kit/pages.h"
#include "core/lib/fft/columns.h"
#include "core/lib/fft/planner.h"

struct AstroDegridPlanes {
  AstroGriddingConfig config;
  AstroGrid grid;
  guint products;
  const AstroDegridKernels *kernels;
  const AstroFftColumnsKernels *transforms;
  AstroFftColumns *columns;
  AstroScratch *rooms;
  fftw_plan plan; /* of a row; the one of the precision */
  fftwf_plan single_plan;
  gpointer cells;  /* [product][v][u] */
  guint blocks[2]; /* of columns, with l < 0 and with l >= 0 */
};

/* Tables by precision. */
static gconstpointer const transforms[] = ASTRO_KERNELS(astro_fft_columns);

static gsize real_bytes(const AstroGriddingConfig *config)
{
  return config->is_double ? sizeof(double) : sizeof(float);
}

guint64 astro_degrid_planes_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                                  guint products)
{
  return (guint64)grid->size * grid->size * products * 2 * real_bytes(config);
}

/* A column's samples and half as many in between: for the sizes of grids, which have small factors
 * alone, the rest is less. */
guint64 astro_degrid_planes_scratch(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  return (guint64)grid->size * 3 * ASTRO_FFT_COLUMNS_BYTES + (64 << 10);
}

/* ---- plans ---- */

static gboolean make_plan(AstroDegridPlanes *self, GError **error)
{
  const int n = (int)self->grid.size;
  astro_fft_planner_lock();
  if (self->config.is_double)
    ASTRO_FFT_PLAN(self->plan, FFTW_MEASURE,
                   fftw_plan_dft_1d(n, self->cells, self->cells, FFTW_BACKWARD, flags));
  else
    ASTRO_FFT_PLAN(self->single_plan, FFTW_MEASURE,
                   fftwf_plan_dft_1d(n, self->cells, self->cells, FFTW_BACKWARD, flags));
  astro_fft_planner_unlock();
  return self->plan || self->single_plan ||
         astro_backend_no_memory(error, "FFTW cannot plan a transform of %d samples", n);
}

static void destroy_plan(AstroDegridPlanes *self)
{
  astro_fft_planner_lock();
  if (self->plan)
    fftw_destroy_plan(self->plan);
  if (self->single_plan)
    fftwf_destroy_plan(self->single_plan);
  astro_fft_planner_unlock();
}

/* Columns of the image with l < 0: those are the last ones of the grid. */
static guint negative(const AstroDegridPlanes *self)
{
  return self->grid.image_size - 1 - self->grid.image_size / 2;
}

static guint blocks_of(const AstroDegridPlanes *self, guint columns)
{
  return (columns + self->columns->columns - 1) / self->columns->columns;
}

static gsize room_bytes(const AstroFftColumns *columns)
{
  return astro_fft_columns_room_bytes(columns) + astro_fft_columns_work_bytes(columns) +
         columns->steps[1].m * 2 * (gsize)ASTRO_FFT_COLUMNS_BYTES;
}

AstroDegridPlanes *astro_degrid_planes_new(const AstroGriddingConfig *config, const AstroGrid *grid,
                                           guint products, GError **error)
{
  AstroDegridPlanes *self = g_new0(AstroDegridPlanes, 1);
  const guint64 bytes = astro_degrid_planes_bytes(config, grid, products);
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->products = products;
  self->kernels = astro_degrid_kernels_pick();
  self->transforms = ASTRO_KERNELS_PICK(transforms);
  self->transforms += config->is_double;
  self->columns = astro_fft_columns_new(grid->size, config->is_double);
  self->blocks[0] = blocks_of(self, negative(self));
  self->blocks[1] = blocks_of(self, grid->image_size - negative(self));
  self->rooms = astro_scratch_new(room_bytes(self->columns));
  self->cells = astro_pages_alloc(bytes);
  if (!self->cells)
    astro_backend_no_memory(error,
                            "no memory for a plane of %u x %u cells and %u products, "
                            "%" G_GUINT64_FORMAT " bytes",
                            grid->size, grid->size, products, bytes);
  if (self->cells && make_plan(self, error))
    return self;
  astro_degrid_planes_free(self);
  return NULL;
}

void astro_degrid_planes_free(AstroDegridPlanes *self)
{
  if (!self)
    return;
  destroy_plan(self);
  astro_scratch_free(self->rooms);
  astro_fft_columns_free(self->columns);
  free(self->cells);
  g_free(self);
}

/* ---- a plane ---- */

typedef struct {
  AstroDegridPlanes *self;
  gconstpointer corrected;
  double w;
  const guint8 *needed;
} Plane;

/* Where in the room for the columns' transforms a sample goes. */
static gpointer sample_at(const AstroFftColumns *columns, gpointer room, guint j)
{
  const guint n2 = columns->steps[1].m;
  return (guint8 *)room + ((gsize)(j / n2) * columns->pitch + j % n2) * 2 * ASTRO_FFT_COLUMNS_BYTES;
}

/* Columns first to first + n of an image, counted by rising l. */
static void fill_columns(const Plane *plane, guint product, guint first, guint n, gpointer room)
{
  const AstroDegridPlanes *self = plane->self;
  const AstroGrid *grid = &self->grid;
  const guint size = grid->size, image = grid->image_size, half = image / 2;
  const gsize real = real_bytes(&self->config);
  const guint8 *pixels =
      (const guint8 *)plane->corrected + ((gsize)product * image * image + first) * real;
  AstroImageStrip strip = { .l = grid->centre_l + ((double)first - negative(self)) * grid->pixel,
                            .pixel = grid->pixel,
                            .n = n };
  for (guint y = 0; y < image; y++, pixels += image * real) {
    strip.m = grid->centre_m + ((double)y - half) * grid->pixel;
    self->kernels->rotate[self->config.is_double](
        &strip, plane->w, pixels, sample_at(self->columns, room, (y + size - half) % size));
  }
  for (guint j = image - half; j < size - half; j++)
    memset(sample_at(self->columns, room, j), 0, 2 * ASTRO_FFT_COLUMNS_BYTES);
}

static void transform_columns(gpointer data, guint64 task)
{
  const Plane *plane = data;
  AstroDegridPlanes *self = plane->self;
  const AstroFftColumns *columns = self->columns;
  const guint blocks = self->blocks[0] + self->blocks[1], size = self->grid.size;
  const guint product = (guint)(task / blocks), block = (guint)(task % blocks);
  const gboolean is_negative = block < self->blocks[0];
  const guint from = is_negative ? block * columns->columns
                                 : negative(self) + (block - self->blocks[0]) * columns->columns;
  const guint end = is_negative ? negative(self) : self->grid.image_size;
  const guint n = MIN(columns->columns, end - from);
  const guint column = is_negative ? size - negative(self) + from : from - negative(self);
  const guint n1 = columns->steps[0].m, n2 = columns->steps[1].m;
  const gsize cell = 2 * real_bytes(&self->config);
  guint8 *room = astro_scratch_take(self->rooms);
  guint8 *work = room + astro_fft_columns_room_bytes(columns);
  guint8 *made = work + astro_fft_columns_work_bytes(columns);
  guint8 *cells = (guint8 *)self->cells + ((gsize)product * size * size + column) * cell;

  fill_columns(plane, product, from, n, room);
  self->transforms->begin(columns, room, work);
  for (guint k1 = 0; k1 < n1; k1++) {
    self->transforms->finish(columns, k1, room, made, work);
    for (guint k2 = 0; k2 < n2; k2++) {
      const guint v = k1 + n1 * k2;
      if (plane->needed[v / ASTRO_BAND_ROWS])
        self->kernels->put[self->config.is_double](made + (gsize)k2 * 2 * ASTRO_FFT_COLUMNS_BYTES,
                                                   cells + (gsize)v * size * cell, n);
    }
  }
  astro_scratch_give(self->rooms, room);
}

/* The rows of a band: beyond the image they are zeros. */
static void transform_rows(gpointer data, guint64 task)
{
  const Plane *plane = data;
  AstroDegridPlanes *self = plane->self;
  const guint size = self->grid.size, bands = (size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS;
  const guint product = (guint)(task / bands), band = (guint)(task % bands);
  const guint positive = self->grid.image_size - negative(self);
  const gsize cell = 2 * real_bytes(&self->config);
  if (!plane->needed[band])
    return;
  for (guint v = band * ASTRO_BAND_ROWS; v < MIN(size, (band + 1) * ASTRO_BAND_ROWS); v++) {
    guint8 *row = (guint8 *)self->cells + ((gsize)product * size + v) * size * cell;
    memset(row + positive * cell, 0, (size - self->grid.image_size) * cell);
    if (self->config.is_double)
      fftw_execute_dft(self->plan, (fftw_complex *)row, (fftw_complex *)row);
    else
      fftwf_execute_dft(self->single_plan, (fftwf_complex *)row, (fftwf_complex *)row);
  }
}

gconstpointer astro_degrid_planes_make(AstroDegridPlanes *self, gconstpointer corrected, double w,
                                       const guint8 *needed)
{
  Plane plane = { self, corrected, w, needed };
  const guint bands = (self->grid.size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS;
  astro_parallel((guint64)self->products * (self->blocks[0] + self->blocks[1]),
                 self->config.threads, transform_columns, &plane);
  astro_parallel((guint64)self->products * bands, self->config.threads, transform_rows, &plane);
  return self->cells;
}
