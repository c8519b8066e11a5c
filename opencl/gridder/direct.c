/* The direct transform on an OpenCL device. */
#include "config.h"
#include "core/gridder/products.h"
#include "opencl/gridder/gridder.h"

#include <math.h>

static const AstroOpenclProgram program = { .name = "gridder: direct", .needs_double = TRUE, .text =
#include "opencl/gridder/direct.cl.h"
};

G_STATIC_ASSERT(ASTRO_MAX_PRODUCTS == 5);

#define GROUP 64 /* work items */

/* As in direct.cl. */
typedef struct {
  double pixel, centre_l, centre_m;
  cl_ulong rows;
  cl_uint row_channels, channels, products;
  cl_uint size, grids;
} Sums;

enum { ADD_PIXELS, TRANSFORM_LINES, ADD_CELLS, N_KERNELS };

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroOpenclWork work;
  AstroGrid grid; /* without its products */
  guint products;
  gboolean waits;               /* the image holds sums that are not in the grid yet */
  gpointer image, lines, turns; /* lines: the image, transformed along one axis */
};

static gsize cells(const AstroGridding *self)
{
  return (gsize)self->config.channels * self->products * self->grid.size * self->grid.size;
}

static gboolean add(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const AstroGrid *g = &self->grid;
  const Sums sum = { .pixel = g->pixel,
                     .centre_l = g->centre_l,
                     .centre_m = g->centre_m,
                     .rows = rows->rows,
                     .row_channels = rows->channels,
                     .channels = rows->channels / self->config.channels,
                     .products = self->products,
                     .size = g->size,
                     .grids = self->config.channels };
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(rows->uvw), OPENCL_FACE(rows->wavenumbers),
                                            OPENCL_FACE(rows->values), OPENCL_FACE(self->image),
                                            OPENCL_VALUE(sum) };
  self->waits = TRUE;
  return astro_opencl_work_launch(&self->work, ADD_PIXELS, arguments, G_N_ELEMENTS(arguments),
                                  (guint64)g->size * g->size * self->config.channels, GROUP, error);
}

static gboolean transform(AstroGridding *self, gpointer in, gpointer out, GError **error)
{
  const cl_uint n = self->grid.size;
  const cl_ulong items = cells(self);
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(in), OPENCL_FACE(out),
                                            OPENCL_FACE(self->turns), OPENCL_VALUE(n),
                                            OPENCL_VALUE(items) };
  return astro_opencl_work_launch(&self->work, TRANSFORM_LINES, arguments, G_N_ELEMENTS(arguments),
                                  items, GROUP, error);
}

static gboolean finish(AstroGridding *self, gpointer grid, GError **error)
{
  const cl_ulong n = 2 * cells(self);
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->image), OPENCL_FACE(grid),
                                            OPENCL_VALUE(n) };
  if (!self->waits)
    return TRUE;
  self->waits = FALSE;
  return transform(self, self->image, self->lines, error) &&
         transform(self, self->lines, self->image, error) &&
         astro_opencl_work_launch(&self->work, ADD_CELLS, arguments, G_N_ELEMENTS(arguments), n,
                                  GROUP, error) &&
         astro_opencl_fill(&self->work.place, self->image, 0, n * sizeof(double), error);
}

/* ---- instances ---- */

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const guint64 image =
      (guint64)grid->size * grid->size * g_strv_length(grid->products) * config->channels;
  return (2 * image + grid->size) * 2 * sizeof(double);
}

static void destroy(AstroGridding *self)
{
  gpointer *faces[] = { &self->image, &self->lines, &self->turns };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->work.place, faces[i]);
  astro_opencl_work_clear(&self->work);
  g_free(self);
}

gboolean astro_opencl_direct_compiles(const AstroGriddingConfig *config, const AstroPlace *place,
                                      GError **error)
{
  return astro_opencl_compiles(place->device, &program, astro_opencl_real_option(config->is_double),
                               error);
}

static gboolean open_kernels(AstroGridding *self, const AstroPlace *place, GError **error)
{
  static const char *const names[N_KERNELS] = { "add_pixels", "transform_lines", "add_cells" };
  return astro_opencl_work_init(&self->work, place, &program,
                                astro_opencl_real_option(self->config.is_double), names, N_KERNELS,
                                error);
}

/* exp(2 pi i k / size) */
static gboolean send_turns(AstroGridding *self, GError **error)
{
  const guint n = self->grid.size;
  g_autofree double *turns = g_new(double, 2 * (gsize)n);
  for (guint k = 0; k < n; k++) {
    turns[2 * k] = cos(2 * G_PI * k / n);
    turns[2 * k + 1] = sin(2 * G_PI * k / n);
  }
  return astro_opencl_work_alloc(&self->work, &self->turns, n, 2 * sizeof *turns, error) &&
         astro_opencl_upload(&self->work.place, self->turns, turns, n * 2 * sizeof *turns, error);
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->products = g_strv_length(grid->products);
  *variant = "direct";
  const gsize n = cells(self), each = 2 * sizeof(double);
  if (open_kernels(self, place, error) &&
      astro_opencl_work_alloc(&self->work, &self->image, n, each, error) &&
      astro_opencl_work_alloc(&self->work, &self->lines, n, each, error) &&
      send_turns(self, error) && astro_opencl_fill(place, self->image, 0, n * each, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroGridAlgorithm astro_opencl_direct = {
  .name = "direct",
  .bytes = bytes,
  .create = create,
  .add = add,
  .finish = finish,
  .destroy = destroy,
};
