/* W-projection on an OpenCL device (core/gridder/wprojection/wprojection.h says what it is): the
 * records of some rows at a time are sorted and added to the grid. */
#include "config.h"
#include "core/gridder/wprojection/wprojection.h"
#include "opencl/gridder/gridder.h"
#include "opencl/gridder/sort.h"

static const AstroOpenclProgram program = {
  .name = "gridder: wprojection", .needs_double = TRUE, .text =
#include "opencl/gridder/wprojection/wprojection.cl.h"
};

/* As in wprojection.cl. */
#define BIN 8
#define ITEMS (ASTRO_GRID_TILE * ASTRO_GRID_TILE)
#define PRODUCTS_TOGETHER 4
#define BATCH 32
G_STATIC_ASSERT(ASTRO_GRID_TILE == 16);

#define MOST_SLICES 4 /* of a group, of ITEMS each */

#define MOST_RECORDS (1u << 20) /* that are sorted at once, unless a row has more */

typedef struct {
  cl_ulong taps, set;
  cl_uint support, stride;
} TapsPlane;

typedef struct {
  double u_per_w, v_per_w, turns_per_w, w_step, scale, origin;
  cl_uint n, row_channels, channels, products;
  cl_uint corners, oversampling, n_planes, size;
  cl_uint side, n_bins;
} Rows;

typedef struct {
  cl_uint size, products, side, tiles, reach;
} Spread;

enum { FIND_KEYS, PUT, SPREAD, N_KERNELS };

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroOpenclWork work;
  AstroOpenclSort sort;
  Rows shape; /* all but what rows say */
  guint products, most_support;
  gpointer planes, taps; /* TapsPlane, and their taps */
  guint64 capacity;      /* records that there is room for */
  AstroOpenclOrder order;
  gpointer bins, starts, of_taps, cells, of_planes, values;
};

static gsize value_bytes(const AstroGriddingConfig *config, guint products)
{
  return (gsize)products * 2 * (config->is_double ? sizeof(double) : sizeof(float));
}

/* Bytes of a record: its place in the order twice, bin, taps, cells, plane and values. */
static gsize record_bytes(const AstroGriddingConfig *config, guint products)
{
  return 4 * sizeof(guint32) + sizeof(guint64) + 2 * sizeof(guint32) +
         value_bytes(config, products);
}

/* ---- room ---- */

static void free_room(AstroGridding *self)
{
  gpointer *faces[] = { &self->bins, &self->of_taps, &self->cells, &self->of_planes,
                        &self->values };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->work.place, faces[i]);
  astro_opencl_order_clear(&self->order, &self->work.place);
  self->capacity = 0;
}

static gboolean make_room(AstroGridding *self, guint64 n, GError **error)
{
  if (n > self->capacity) {
    free_room(self);
    if (!astro_opencl_work_alloc(&self->work, &self->bins, n, sizeof(guint32), error) ||
        !astro_opencl_work_alloc(&self->work, &self->of_taps, n, sizeof(guint64), error) ||
        !astro_opencl_work_alloc(&self->work, &self->cells, n, 2 * sizeof(gint32), error) ||
        !astro_opencl_work_alloc(&self->work, &self->of_planes, n, sizeof(guint32), error) ||
        !astro_opencl_work_alloc(&self->work, &self->values, n,
                                 value_bytes(&self->config, self->products), error) ||
        !astro_opencl_order_init(&self->order, &self->work.place, (guint)n, error))
      return FALSE;
    self->capacity = n;
  }
  self->order.n = (guint)n;
  return TRUE;
}

/* ---- rows ---- */

static gboolean put_in_order(AstroGridding *self, const AstroGridRows *given, const Rows *rows,
                             GError **error)
{
  const AstroOpenclArgument find[] = { OPENCL_FACE(given->uvw),    OPENCL_FACE(given->wavenumbers),
                                       OPENCL_FACE(given->values), OPENCL_FACE(self->planes),
                                       OPENCL_FACE(self->bins),    OPENCL_FACE(self->order.order),
                                       OPENCL_VALUE(*rows) };
  if (!astro_opencl_work_launch(&self->work, FIND_KEYS, find, G_N_ELEMENTS(find), rows->n, 64,
                                error) ||
      !astro_opencl_sort(&self->sort, &self->order, self->bins, rows->n_bins, error) ||
      !astro_opencl_find_starts(&self->sort, &self->order, self->bins, rows->n_bins, self->starts,
                                error))
    return FALSE;
  const AstroOpenclArgument put[] = {
    OPENCL_FACE(given->uvw),      OPENCL_FACE(given->wavenumbers),
    OPENCL_FACE(given->values),   OPENCL_FACE(self->planes),
    OPENCL_FACE(self->bins),      OPENCL_FACE(self->order.order),
    OPENCL_FACE(self->of_taps),   OPENCL_FACE(self->cells),
    OPENCL_FACE(self->of_planes), OPENCL_FACE(self->values),
    OPENCL_VALUE(*rows),
  };
  return astro_opencl_work_launch(&self->work, PUT, put, G_N_ELEMENTS(put), rows->n, 64, error);
}

/* As many as a group has items and local memory for: records of each slice, and the sums of one. */
static guint slices_of(AstroDevice *device, gboolean is_double)
{
  const AstroOpenclDevice *there = astro_opencl_device(device);
  const gsize value = is_double ? 2 * sizeof(double) : 2 * sizeof(float);
  const gsize sums = ITEMS * PRODUCTS_TOGETHER * value;
  const gsize slice = BATCH * (sizeof(cl_ulong) + 2 * sizeof(cl_int2) + PRODUCTS_TOGETHER * value);
  const gsize room = there->local_bytes > sums ? (there->local_bytes - sums) / slice : 1;
  return (guint)CLAMP(MIN(there->most_items / ITEMS, room), 1, MOST_SLICES);
}

static char *options_of(const AstroGriddingConfig *config, AstroDevice *device)
{
  return g_strdup_printf("%s -DSLICES=%u", astro_opencl_real_option(config->is_double),
                         slices_of(device, config->is_double));
}

static gboolean spread(AstroGridding *self, gpointer grid, GError **error)
{
  const Rows *shape = &self->shape;
  const guint tiles = astro_grid_tiles(shape->size);
  const Spread work = { shape->size, self->products, shape->side, tiles,
                        (self->most_support - 1 + BIN - 1) / BIN };
  const guint64 shares = (self->products + PRODUCTS_TOGETHER - 1) / PRODUCTS_TOGETHER;
  const guint group = slices_of(self->work.place.device, self->config.is_double) * ITEMS;
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(self->starts),  OPENCL_FACE(self->planes), OPENCL_FACE(self->taps),
    OPENCL_FACE(self->of_taps), OPENCL_FACE(self->cells),  OPENCL_FACE(self->of_planes),
    OPENCL_FACE(self->values),  OPENCL_FACE(grid),         OPENCL_VALUE(work),
  };
  return astro_opencl_work_launch(&self->work, SPREAD, arguments, G_N_ELEMENTS(arguments),
                                  (guint64)tiles * tiles * self->config.channels * shares * group,
                                  group, error);
}

static gboolean add_some(AstroGridding *self, const AstroGridRows *given, gpointer grid,
                         GError **error)
{
  Rows rows = self->shape;
  const guint64 n = given->rows * given->channels * rows.corners;
  if (n >= G_MAXUINT32)
    return astro_backend_refuse(error,
                                "%" G_GUINT64_FORMAT " points of the visibilities of one baseline, "
                                "at most %u are possible by OpenCL: use fewer channels",
                                n, G_MAXUINT32 - 1);
  rows.n = (cl_uint)n;
  rows.row_channels = given->channels;
  rows.channels = MAX(given->channels / self->config.channels, 1);
  return n == 0 || (make_room(self, n, error) && put_in_order(self, given, &rows, error) &&
                    spread(self, grid, error));
}

static gboolean add(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const guint64 of_row = (guint64)rows->channels * self->shape.corners;
  const guint64 together = MAX(MOST_RECORDS / of_row, 1);
  const gsize bytes = rows->channels * value_bytes(&self->config, self->products);
  for (guint64 done = 0; done < rows->rows; done += together) {
    AstroGridRows some = *rows;
    some.rows = MIN(rows->rows - done, together);
    some.uvw = rows->uvw + 3 * done;
    some.values = (const guint8 *)rows->values + done * bytes;
    if (!add_some(self, &some, grid, error))
      return FALSE;
  }
  return TRUE;
}

/* ---- taps ---- */

static gsize plane_values(const AstroTaps *taps, guint plane)
{
  return taps->planes[plane].set * taps->oversampling * taps->oversampling;
}

/* The taps of one plane after another; the call returns once they have been read. */
static gboolean send_taps(AstroGridding *self, const AstroTaps *taps, GError **error)
{
  AstroDevice *device = self->work.place.device;
  const gsize each = 2 * (taps->is_double ? sizeof(double) : sizeof(float));
  g_autofree TapsPlane *planes = g_new(TapsPlane, taps->n_planes);
  guint64 length = 0;
  gboolean ok = TRUE;
  for (guint i = 0; i < taps->n_planes; i++) {
    const AstroTapsPlane *plane = &taps->planes[i];
    planes[i] = (TapsPlane){ length, plane->set, plane->support, plane->stride };
    self->most_support = MAX(self->most_support, plane->support);
    length += plane_values(taps, i);
  }
  if (!astro_opencl_work_alloc(&self->work, &self->taps, length, each, error) ||
      !astro_opencl_work_alloc(&self->work, &self->planes, taps->n_planes, sizeof *planes, error) ||
      !astro_opencl_upload(&self->work.place, self->planes, planes, taps->n_planes * sizeof *planes,
                           error))
    return FALSE;
  for (guint i = 0; i < taps->n_planes && ok; i++)
    ok = device->funcs->queue_copy(device, self->work.place.queue, ASTRO_COPY_UP,
                                   (guint8 *)self->taps + planes[i].taps * each,
                                   taps->planes[i].taps, plane_values(taps, i) * each, error);
  return astro_opencl_drain(&self->work.place, ok ? error : NULL) && ok;
}

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const AstroTapsConfig taps = astro_wprojection_taps(config, grid);
  const guint64 side = (grid->size + BIN - 1) / BIN;
  return astro_taps_bytes(&taps) + side * side * config->channels * sizeof(guint32) +
         MOST_RECORDS * record_bytes(config, g_strv_length(grid->products));
}

/* Tables that the device cannot hold are not built, which may take minutes. */
static gboolean check_taps(const AstroTapsConfig *taps, const AstroPlace *place, GError **error)
{
  const guint64 needed = astro_taps_bytes(taps);
  const guint64 largest = astro_opencl_device(place->device)->largest;
  AstroDeviceMemory memory;
  if (!place->device->funcs->memory(place->device, &memory, error))
    return FALSE;
  return needed < MIN(memory.free, largest) ||
         astro_backend_no_memory(error,
                                 "convolution functions need %" G_GUINT64_FORMAT
                                 " bytes, %s has %" G_GSIZE_FORMAT ", and gives %" G_GUINT64_FORMAT
                                 " at once",
                                 needed, place->device->name, memory.free, largest);
}

/* ---- instances ---- */

static void destroy(AstroGridding *self)
{
  free_room(self);
  astro_opencl_free(&self->work.place, &self->planes);
  astro_opencl_free(&self->work.place, &self->taps);
  astro_opencl_free(&self->work.place, &self->starts);
  astro_opencl_work_clear(&self->sort);
  astro_opencl_work_clear(&self->work);
  g_free(self);
}

gboolean astro_opencl_wprojection_compiles(const AstroGriddingConfig *config,
                                           const AstroPlace *place, GError **error)
{
  g_autofree char *options = options_of(config, place->device);
  return astro_opencl_compiles(place->device, &program, options, error) &&
         astro_opencl_sort_compiles(place, error);
}

static gboolean open_kernels(AstroGridding *self, const AstroPlace *place, GError **error)
{
  static const char *const names[N_KERNELS] = { "find_keys", "put", "spread" };
  g_autofree char *options = options_of(&self->config, place->device);
  return astro_opencl_work_init(&self->work, place, &program, options, names, N_KERNELS, error);
}

static gboolean open_with(AstroGridding *self, const AstroGrid *grid, const AstroTaps *taps,
                          GError **error)
{
  const guint64 side = (grid->size + BIN - 1) / BIN, bins = side * side * self->config.channels;
  if (bins >= G_MAXINT32)
    return astro_backend_refuse(error,
                                "a grid of %" G_GUINT64_FORMAT
                                " bins of %d x %d cells, at most %d are possible by OpenCL: use "
                                "fewer channels",
                                bins, BIN, BIN, G_MAXINT32 - 1);
  self->shape = (Rows){ .u_per_w = taps->u_per_w,
                        .v_per_w = taps->v_per_w,
                        .turns_per_w = taps->turns_per_w,
                        .w_step = taps->w_step,
                        .scale = taps->oversampling / grid->cell,
                        .origin = taps->oversampling * (double)(grid->size / 2),
                        .products = self->products,
                        .corners = taps->interpolated ? 8 : 1,
                        .oversampling = taps->oversampling,
                        .n_planes = taps->n_planes,
                        .size = grid->size,
                        .side = (cl_uint)side,
                        .n_bins = (cl_uint)bins };
  return astro_opencl_work_alloc(&self->work, &self->starts, bins + 1, sizeof(guint32), error) &&
         send_taps(self, taps, error);
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  const AstroTapsConfig taps_config = astro_wprojection_taps(config, grid);
  if (!check_taps(&taps_config, place, error))
    return NULL;
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->config = *config;
  self->products = g_strv_length(grid->products);
  *variant = config->deterministic ? "tiles-deterministic" : "tiles"; /* which are the same */
  if (open_kernels(self, place, error) && astro_opencl_sort_init(&self->sort, place, error)) {
    g_autoptr(AstroTaps) taps = astro_taps_build(&taps_config, error);
    if (taps && open_with(self, grid, taps, error))
      return self;
  }
  destroy(self);
  return NULL;
}

const AstroGridAlgorithm astro_opencl_wprojection = {
  .name = "wprojection",
  .bytes = bytes,
  .create = create,
  .add = add,
  .destroy = destroy,
};
