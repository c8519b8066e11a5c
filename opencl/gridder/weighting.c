/* Uniform and Briggs weights on an OpenCL device. */
#include "config.h"
#include "opencl/gridder/prepare.h"

#include <math.h>

static const AstroOpenclProgram program = {
  .name = "gridder: weights", .needs_double = TRUE, .text =
#include "opencl/gridder/totals.cl.h"
#include "opencl/gridder/weighting.cl.h"
};

#define ITEMS 64
#define PARTS 4096 /* sums of cells that become one */
#define CELL_BYTES 16

/* As in weighting.cl. */
typedef struct {
  double cell, noise;
  cl_ulong rows;
  cl_uint row_channels, from, channels;
  cl_uint size, products, has_slope;
} Density;

enum { FILL_CELLS, SUM_CELLS, FIND_SLOPE, CHANGE_WEIGHTS, SUM_WEIGHTS, N_KERNELS };

typedef struct {
  const AstroOpenclWeights *weights;
  const AstroGridRows *rows;
  const AstroPlace *place;
  Density d;
  cl_kernel kernels[N_KERNELS];
  gpointer cells, parts, slope;
} Weighting;

static gboolean launch(const Weighting *self, guint kernel, const AstroOpenclArgument *arguments,
                       guint n_arguments, guint64 items, GError **error)
{
  return astro_opencl_launch_items(self->place, self->kernels[kernel], arguments, n_arguments,
                                   items, MIN(items, ITEMS), error);
}

static gboolean find_slope(const Weighting *self, GError **error)
{
  const cl_uint n = PARTS;
  const AstroOpenclArgument sums[] = { OPENCL_FACE(self->cells), OPENCL_FACE(self->parts),
                                       OPENCL_VALUE(self->d) },
                            slopes[] = { OPENCL_FACE(self->parts), OPENCL_FACE(self->slope),
                                         OPENCL_VALUE(n), OPENCL_VALUE(self->d) };
  return !self->d.has_slope || (launch(self, SUM_CELLS, sums, G_N_ELEMENTS(sums), PARTS, error) &&
                                launch(self, FIND_SLOPE, slopes, G_N_ELEMENTS(slopes), 1, error));
}

/* Channels from d.from on, whose cells are shared. */
static gboolean weigh_channels(const Weighting *self, GError **error)
{
  const AstroOpenclWeights *weights = self->weights;
  const guint64 items = self->d.rows * self->d.channels;
  const AstroOpenclArgument fills[] = { OPENCL_FACE(self->rows->uvw),
                                        OPENCL_FACE(self->rows->wavenumbers),
                                        OPENCL_FACE(weights->weights), OPENCL_FACE(self->cells),
                                        OPENCL_VALUE(self->d) },
                            changes[] = {
                              OPENCL_FACE(self->rows->uvw),  OPENCL_FACE(self->rows->wavenumbers),
                              OPENCL_FACE(weights->weights), OPENCL_FACE(weights->factors),
                              OPENCL_FACE(weights->values),  OPENCL_FACE(self->cells),
                              OPENCL_FACE(self->slope),      OPENCL_VALUE(self->d)
                            };
  return astro_opencl_fill(self->place, self->cells, 0,
                           (gsize)self->d.size * self->d.size * CELL_BYTES, error) &&
         launch(self, FILL_CELLS, fills, G_N_ELEMENTS(fills), items, error) &&
         find_slope(self, error) &&
         launch(self, CHANGE_WEIGHTS, changes, G_N_ELEMENTS(changes), items, error);
}

static gboolean weigh_all(Weighting *self, GError **error)
{
  const AstroOpenclWeights *weights = self->weights;
  for (; self->d.from < self->d.row_channels; self->d.from += self->d.channels)
    if (!weigh_channels(self, error))
      return FALSE;
  const AstroOpenclArgument sums[] = { OPENCL_FACE(weights->weights), OPENCL_FACE(weights->factors),
                                       OPENCL_FACE(weights->totals), OPENCL_VALUE(self->d) };
  return launch(self, SUM_WEIGHTS, sums, G_N_ELEMENTS(sums),
                (guint64)weights->n_totals * ASTRO_OPENCL_TOTALS_ITEMS, error);
}

static const char *options_of(gboolean is_double)
{
  return is_double ? "-DVALUE=double" : "-DVALUE=float";
}

gboolean astro_opencl_weights_compile(gboolean is_double, const AstroPlace *place, GError **error)
{
  return astro_opencl_compiles(place->device, &program, options_of(is_double), error);
}

static gboolean open_kernels(Weighting *self, GError **error)
{
  static const char *const names[N_KERNELS] = { "fill_cells", "sum_cells", "find_slope",
                                                "change_weights", "sum_weights" };
  return astro_opencl_kernels(self->place->device, &program, options_of(self->rows->is_double),
                              names, N_KERNELS, self->kernels, error);
}

static gboolean make_room(Weighting *self, GError **error)
{
  const guint size = self->d.size;
  if (astro_opencl_alloc(self->place, "gridder", &self->cells, (gsize)size * size, CELL_BYTES,
                         error) &&
      astro_opencl_alloc(self->place, "gridder", &self->parts, PARTS, 2 * sizeof(double), error) &&
      astro_opencl_alloc(self->place, "gridder", &self->slope, 1, sizeof(double), error))
    return TRUE;
  g_prefix_error(error, "weights of %u x %u cells: ", size, size);
  return FALSE;
}

gboolean astro_opencl_weights_apply(const AstroOpenclWeights *weights, const AstroGridRows *rows,
                                    const AstroPlace *place, GError **error)
{
  Weighting self = { .weights = weights, .rows = rows, .place = place };
  const guint size = astro_grid_wanted(weights->grid);
  if (weights->weighting == ASTRO_WEIGHTING_NATURAL || rows->rows == 0)
    return TRUE;
  self.d = (Density){ .cell = 1 / (size * weights->grid->pixel),
                      .noise = 5 * pow(10, -weights->robust),
                      .rows = rows->rows,
                      .row_channels = rows->channels,
                      .channels = weights->per_channel ? 1 : rows->channels,
                      .size = size,
                      .products = rows->products,
                      .has_slope = weights->weighting == ASTRO_WEIGHTING_BRIGGS };
  const gboolean ok =
      open_kernels(&self, error) && make_room(&self, error) && weigh_all(&self, error);
  astro_opencl_free(place, &self.cells);
  astro_opencl_free(place, &self.parts);
  astro_opencl_free(place, &self.slope);
  astro_opencl_kernels_release(self.kernels, N_KERNELS);
  return ok;
}
