/* W-stacking on an OpenCL device (core/gridder/wstacking/wstacking.c says what it is): visibilities
 * are sorted once, then every plane is summed without the host. */
#include "config.h"
#include "core/gridder/products.h"
#include "core/gridder/sorted.h"
#include "core/lib/spread/semicircle.h"
#include "opencl/gridder/gridder.h"
#include "opencl/gridder/sort.h"

#include <math.h>

static const AstroOpenclProgram program = {
  .name = "gridder: wstacking", .needs_double = TRUE, .text =
#include "opencl/gridder/wstacking/wstacking.cl.h"
};

/* As in wstacking.cl. */
#define BIN 8
#define ITEMS (ASTRO_GRID_TILE * ASTRO_GRID_TILE)
G_STATIC_ASSERT(ASTRO_GRID_TILE == 16 && ASTRO_SEMICIRCLE_MAX == 16 && ASTRO_MAX_PRODUCTS == 5);

#define RANGES 4096 /* of w, that the host makes one of */
#define POWERS_BYTES (sizeof(double) * ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX)

typedef struct {
  double per_cell, middle, reach, first, step, n_middle;
  cl_uint n, row_channels, channels, products;
  cl_uint side, support, planes, n_bins;
} Rows;

typedef struct {
  double phase[2], beta;
  cl_uint plane, support, degree, size, products;
  cl_uint side, tiles, reach;
  cl_uint is_flat, has_map;
} Plane;

enum { FIND_RANGE, FIND_KEYS, PUT, SPREAD, N_KERNELS };

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroOpenclWork work;
  AstroGrid grid; /* without its products */
  guint products;
  AstroOpenclSort sort;
  AstroPlanes planes;
  guint next;                                 /* the next plane */
  gpointer powers, ranges;                    /* polynomials of the taps: [term][tap] */
  gpointer starts, of_planes, places, values; /* sorted visibilities */
};

/* ---- planes ---- */

static gboolean describe(const AstroGridding *self, const AstroGridRows *given, Rows *rows,
                         GError **error)
{
  const AstroGrid *grid = &self->grid;
  const guint64 n = given->rows * given->channels, side = (grid->size + BIN - 1) / BIN,
                bins = side * side * self->config.channels;
  if (n >= G_MAXUINT32 || bins >= G_MAXINT32)
    return astro_backend_refuse(error,
                                "%" G_GUINT64_FORMAT " visibilities on %" G_GUINT64_FORMAT
                                " bins of %d x %d cells, at most %u on %d are possible by OpenCL: "
                                "use an interval or fewer channels",
                                n, bins, BIN, BIN, G_MAXUINT32 - 1, G_MAXINT32 - 1);
  *rows = (Rows){ .per_cell = 1 / grid->cell,
                  .middle = grid->size / 2,
                  .reach = ((grid->size - grid->spread.support) / 2.0 - 1) * grid->cell,
                  .n = (cl_uint)n,
                  .row_channels = given->channels,
                  .channels = MAX(given->channels / self->config.channels, 1),
                  .products = given->products,
                  .side = (cl_uint)side,
                  .support = grid->spread.support,
                  .n_bins = (cl_uint)bins };
  return TRUE;
}

/* The host needs the number of planes, and waits for the range of w. */
static gboolean find_planes(AstroGridding *self, const AstroGridRows *given, Rows *rows,
                            GError **error)
{
  AstroDevice *device = self->work.place.device;
  const gsize bytes = RANGES * 2 * sizeof(double);
  g_autofree double *ranges = g_malloc(bytes);
  double least = INFINITY, greatest = 0;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(given->uvw),
                                            OPENCL_FACE(given->wavenumbers),
                                            OPENCL_FACE(given->values), OPENCL_FACE(self->ranges),
                                            OPENCL_VALUE(*rows) };
  if (!astro_opencl_work_launch(&self->work, FIND_RANGE, arguments, G_N_ELEMENTS(arguments), RANGES,
                                64, error) ||
      !device->funcs->queue_copy(device, self->work.place.queue, ASTRO_COPY_DOWN, ranges,
                                 self->ranges, bytes, error) ||
      !astro_opencl_drain(&self->work.place, error))
    return FALSE;
  for (guint i = 0; i < RANGES; i++) {
    least = MIN(least, ranges[2 * i]);
    greatest = MAX(greatest, ranges[2 * i + 1]);
  }
  if (!astro_planes_of_range(&self->planes, &self->config, &self->grid, least, greatest, error))
    return FALSE;
  rows->planes = self->planes.n;
  rows->first = self->planes.first;
  rows->step = self->planes.step;
  rows->n_middle = self->planes.n_middle;
  return TRUE;
}

/* ---- sorting ---- */

static void forget(AstroGridding *self)
{
  gpointer *faces[] = { &self->starts, &self->of_planes, &self->places, &self->values };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->work.place, faces[i]);
}

static gboolean make_room(AstroGridding *self, const Rows *rows, GError **error)
{
  const gsize real = self->config.is_double ? sizeof(double) : sizeof(float);
  forget(self);
  return astro_opencl_work_alloc(&self->work, &self->starts, (guint64)rows->n_bins + 1,
                                 sizeof(guint32), error) &&
         astro_opencl_work_alloc(&self->work, &self->of_planes, rows->n, sizeof(guint16), error) &&
         astro_opencl_work_alloc(&self->work, &self->places, rows->n, 4 * real, error) &&
         astro_opencl_work_alloc(&self->work, &self->values, rows->n, 2 * real * rows->products,
                                 error);
}

static gboolean put_in_order(AstroGridding *self, const AstroGridRows *given, const Rows *rows,
                             AstroOpenclOrder *order, gpointer bins, gpointer planes,
                             GError **error)
{
  const AstroOpenclArgument find[] = { OPENCL_FACE(given->uvw),    OPENCL_FACE(given->wavenumbers),
                                       OPENCL_FACE(given->values), OPENCL_FACE(bins),
                                       OPENCL_FACE(planes),        OPENCL_FACE(order->order),
                                       OPENCL_VALUE(*rows) };
  if (!astro_opencl_work_launch(&self->work, FIND_KEYS, find, G_N_ELEMENTS(find), rows->n, 64,
                                error) ||
      !astro_opencl_sort(&self->sort, order, planes, rows->planes - 1, error) ||
      !astro_opencl_sort(&self->sort, order, bins, rows->n_bins, error) ||
      !astro_opencl_find_starts(&self->sort, order, bins, rows->n_bins, self->starts, error))
    return FALSE;
  const AstroOpenclArgument put[] = {
    OPENCL_FACE(given->uvw),      OPENCL_FACE(given->wavenumbers),
    OPENCL_FACE(given->values),   OPENCL_FACE(bins),
    OPENCL_FACE(planes),          OPENCL_FACE(order->order),
    OPENCL_FACE(self->places),    OPENCL_FACE(self->values),
    OPENCL_FACE(self->of_planes), OPENCL_VALUE(*rows),
  };
  return astro_opencl_work_launch(&self->work, PUT, put, G_N_ELEMENTS(put), rows->n, 64, error);
}

static gboolean sort(AstroGridding *self, const AstroGridRows *given, const Rows *rows,
                     GError **error)
{
  AstroOpenclOrder order;
  gpointer bins = NULL, planes = NULL;
  const gboolean ok =
      astro_opencl_order_init(&order, &self->work.place, rows->n, error) &&
      astro_opencl_work_alloc(&self->work, &bins, rows->n, sizeof(guint32), error) &&
      astro_opencl_work_alloc(&self->work, &planes, rows->n, sizeof(guint32), error) &&
      put_in_order(self, given, rows, &order, bins, planes, error);
  astro_opencl_order_clear(&order, &self->work.place);
  astro_opencl_free(&self->work.place, &bins);
  astro_opencl_free(&self->work.place, &planes);
  return ok;
}

static gboolean begin(AstroGridding *self, const AstroGridRows *given, guint *planes,
                      GError **error)
{
  Rows rows;
  self->next = 0;
  if (!describe(self, given, &rows, error) || !find_planes(self, given, &rows, error) ||
      !make_room(self, &rows, error) || !sort(self, given, &rows, error))
    return FALSE;
  *planes = self->planes.n;
  return TRUE;
}

/* ---- spreading ---- */

static gboolean plane(AstroGridding *self, gpointer grid, guint8 *touched, double *w,
                      double *w_step, GError **error)
{
  const AstroGrid *g = &self->grid;
  const double at = self->planes.first + self->next * self->planes.step;
  /* The phase that values were given for their w, now for the plane's. */
  const double turns = at * self->planes.n_middle, angle = 2 * G_PI * (turns - rint(turns));
  const guint tiles = astro_grid_tiles(g->size);
  const Plane work = { .phase = { cos(angle), sin(angle) },
                       .beta = g->spread.beta,
                       .plane = self->next++,
                       .support = g->spread.support,
                       .degree = astro_semicircle_degree(g->spread.support),
                       .size = g->size,
                       .products = self->products,
                       .side = (g->size + BIN - 1) / BIN,
                       .tiles = tiles,
                       .reach = (g->spread.support - 1 + BIN - 1) / BIN,
                       .is_flat = self->planes.step == 0,
                       .has_map = touched != NULL };
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(self->starts), OPENCL_FACE(self->of_planes), OPENCL_FACE(self->places),
    OPENCL_FACE(self->values), OPENCL_FACE(self->powers),    OPENCL_FACE(grid),
    OPENCL_FACE(touched),      OPENCL_VALUE(work),
  };
  *w = at;
  *w_step = self->planes.step;
  return astro_opencl_work_launch(&self->work, SPREAD, arguments, G_N_ELEMENTS(arguments),
                                  (guint64)tiles * tiles * self->config.channels * ITEMS, ITEMS,
                                  error);
}

static void skip(AstroGridding *self)
{
  self->next++;
}

/* ---- instances ---- */

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const guint64 bins = (guint64)grid->size * grid->size / (BIN * BIN) * config->channels;
  return bins * sizeof(guint32) + POWERS_BYTES + RANGES * 2 * sizeof(double);
}

static void destroy(AstroGridding *self)
{
  forget(self);
  astro_opencl_free(&self->work.place, &self->powers);
  astro_opencl_free(&self->work.place, &self->ranges);
  astro_opencl_work_clear(&self->sort);
  astro_opencl_work_clear(&self->work);
  g_free(self);
}

gboolean astro_opencl_wstacking_compiles(const AstroGriddingConfig *config, const AstroPlace *place,
                                         GError **error)
{
  return astro_opencl_compiles(place->device, &program, astro_opencl_real_option(config->is_double),
                               error) &&
         astro_opencl_sort_compiles(place, error);
}

static gboolean open_kernels(AstroGridding *self, const AstroPlace *place, GError **error)
{
  static const char *const names[N_KERNELS] = { "find_range", "find_keys", "put", "spread" };
  return astro_opencl_work_init(&self->work, place, &program,
                                astro_opencl_real_option(self->config.is_double), names, N_KERNELS,
                                error);
}

static gboolean send_powers(AstroGridding *self, GError **error)
{
  const AstroSpread *spread = &self->grid.spread;
  const guint degree = astro_semicircle_degree(spread->support);
  double all[ASTRO_SEMICIRCLE_TERMS][ASTRO_SEMICIRCLE_MAX] = { { 0 } };
  double powers[ASTRO_SEMICIRCLE_TERMS];
  G_STATIC_ASSERT(sizeof all == POWERS_BYTES);
  for (guint tap = 0; tap < spread->support; tap++) {
    astro_semicircle_fit(spread->support, spread->beta, tap, degree, powers);
    for (guint term = 0; term <= degree; term++)
      all[term][tap] = powers[term];
  }
  return astro_opencl_work_alloc(&self->work, &self->powers, 1, sizeof all, error) &&
         astro_opencl_upload(&self->work.place, self->powers, all, sizeof all, error);
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->products = g_strv_length(grid->products);
  *variant = config->is_double ? "tiles-fp64" : "tiles-fp32";
  if (open_kernels(self, place, error) && astro_opencl_sort_init(&self->sort, place, error) &&
      astro_opencl_work_alloc(&self->work, &self->ranges, RANGES, 2 * sizeof(double), error) &&
      send_powers(self, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroGridAlgorithm astro_opencl_wstacking = {
  .name = "wstacking",
  .has_planes = TRUE,
  .bytes = bytes,
  .create = create,
  .begin = begin,
  .plane = plane,
  .skip = skip,
  .destroy = destroy,
};
