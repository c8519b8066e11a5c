/* W-stacking on the device (core/gridder/wstacking/wstacking.c says what it is): visibilities are
 * sorted once, then every plane is planned and summed without the host. */
#include "gpu/gridder/wstacking/wstacking.h"

#include <string.h>

enum {
  LEAST_SLOTS = 1024,
  MORE_SLOTS = 512, /* visibilities for each slot beyond the first ones */
};

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroPlace place;
  AstroGrid grid; /* without its products */
  gint multiprocessors;
  AstroPlanes planes;
  guint next; /* the next plane */
  WstackingPlane work;
  guint64 *range;
  double *powers;
  guint8 *touched; /* a plane's map where the caller wants none */
  gpointer room;   /* memory for begin, kept for the next call */
  gsize room_bytes;
};

static cudaStream_t stream_of(const AstroGridding *self)
{
  return astro_cuda_stream(self->place.queue);
}

/* ---- room ---- */

static gsize whole(gsize bytes)
{
  return (bytes + 255) & ~(gsize)255;
}

/* Gives out pieces of a block; with no block it counts them. */
typedef struct {
  guint8 *block;
  gsize used;
} Room;

static gpointer piece(Room *room, gsize bytes)
{
  const gsize at = room->used;
  room->used += whole(bytes);
  return room->block ? room->block + at : NULL;
}

static gsize slot_bytes(guint products, gboolean is_double)
{
  return (gsize)WSTACKING_TILE * WSTACKING_TILE * products * 2 *
         (is_double ? sizeof(double) : sizeof(float));
}

/* Sorting uses the memory of the slots, which planes need only after it. */
static gpointer lay_out(AstroGridding *self, Room *room)
{
  WstackingPlane *work = &self->work;
  WstackingSorted *sorted = &work->sorted;
  WstackingPlan *plan = &work->plan;
  const gsize real = self->config.is_double ? sizeof(double) : sizeof(float);
  const gsize slots = plan->n_slots * slot_bytes(work->products, self->config.is_double);
  sorted->places = piece(room, sorted->n * (4 * real));
  sorted->values = piece(room, sorted->n * (2 * real) * work->products);
  sorted->planes = (guint16 *)piece(room, sorted->n * sizeof *sorted->planes);
  sorted->starts = (guint32 *)piece(room, ((gsize)sorted->n_bins + 1) * sizeof *sorted->starts);
  plan->windows = (uint2 *)piece(room, (gsize)sorted->n_bins * sizeof *plan->windows);
  plan->items =
      (WstackingItem *)piece(room, ((gsize)work->n_tiles + plan->n_slots) * sizeof *plan->items);
  plan->heavy = (WstackingHeavy *)piece(room, (gsize)plan->n_slots * sizeof *plan->heavy);
  self->touched = (guint8 *)piece(room, work->n_tiles);
  plan->counts = (WstackingCounts *)piece(room, sizeof *plan->counts);
  plan->slots = piece(
      room, MAX(slots, astro_wstacking_sort_bytes(sorted->n, sorted->n_bins, self->planes.n)));
  return plan->slots;
}

static gboolean make_room(AstroGridding *self, gpointer *for_sorting, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  Room room = {};
  lay_out(self, &room);
  if (room.used > self->room_bytes) {
    astro_cuda_free(&self->place, &self->room);
    self->room_bytes = 0;
    if (!funcs->alloc(self->place.device, room.used, &self->room, error))
      return FALSE;
    self->room_bytes = room.used;
  }
  room = { (guint8 *)self->room, 0 };
  *for_sorting = lay_out(self, &room);
  return TRUE;
}

/* ---- planes ---- */

static gboolean find_planes(AstroGridding *self, const WstackingRows *rows, GError **error)
{
  guint64 range[2];
  return astro_wstacking_range(rows, self->range, stream_of(self), error) &&
         CUDA_TRY(cudaMemcpyAsync(range, self->range, sizeof range, cudaMemcpyDeviceToHost,
                                  stream_of(self))) &&
         CUDA_TRY(cudaStreamSynchronize(stream_of(self))) &&
         astro_planes_of_range(
             &self->planes, &self->config, &self->grid,
             range[0] <= range[1] ? astro_wstacking_range_value(range[0]) : INFINITY,
             range[0] <= range[1] ? MAX(astro_wstacking_range_value(range[1]), 0) : 0, error);
}

static gboolean check_counts(guint64 n, guint64 bins, GError **error)
{
  if (n < G_MAXUINT32 && bins < G_MAXINT32)
    return TRUE;
  g_set_error(
      error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE,
      "%" G_GUINT64_FORMAT " visibilities on %" G_GUINT64_FORMAT
      " bins of %d x %d cells, at most %u on %d are possible: use an interval or fewer channels",
      n, bins, WSTACKING_BIN, WSTACKING_BIN, G_MAXUINT32 - 1, G_MAXINT32 - 1);
  return FALSE;
}

static gboolean begin(AstroGridding *self, const AstroGridRows *rows, guint *planes, GError **error)
{
  const guint side = self->grid.size / WSTACKING_BIN, channels = self->config.channels;
  const guint64 n = rows->rows * rows->channels, bins = (guint64)side * side * channels;
  const double reach =
      (self->grid.size - self->grid.spread.support) / 2.0 - 1; /* as astro_grid_holds */
  WstackingPlane *work = &self->work;
  gpointer for_sorting;

  if (!check_counts(n, bins, error))
    return FALSE;
  WstackingRows r = {};
  r.rows = *rows;
  r.n = (guint)n;
  r.channels = MAX(rows->channels / channels, 1);
  r.support = self->grid.spread.support;
  r.per_cell = 1 / self->grid.cell;
  r.middle = self->grid.size / 2;
  r.reach = reach * self->grid.cell;
  if (!find_planes(self, &r, error))
    return FALSE;
  r.planes = self->planes;
  self->next = 0;
  work->is_flat = self->planes.step == 0;
  work->sorted.n = r.n;
  work->sorted.side = side;
  work->sorted.n_bins = (guint)bins;
  work->plan.n_slots = LEAST_SLOTS + r.n / MORE_SLOTS;
  *planes = self->planes.n;
  return make_room(self, &for_sorting, error) &&
         astro_wstacking_sort(&r, &work->sorted, for_sorting, stream_of(self), error);
}

static gboolean plane(AstroGridding *self, gpointer grid, guint8 *touched, double *w,
                      double *w_step, GError **error)
{
  const double at = self->planes.first + self->next * self->planes.step;
  /* The phase that values were given for their w, now for the plane's. */
  const double turns = at * self->planes.n_middle, angle = 2 * G_PI * (turns - rint(turns));
  WstackingPlane *work = &self->work;
  work->plane = self->next++;
  work->phase_factor[0] = cos(angle);
  work->phase_factor[1] = sin(angle);
  work->grid = grid;
  work->plan.touched = touched ? touched : self->touched;
  *w = at;
  *w_step = self->planes.step;
  return astro_wstacking_plan(work, stream_of(self), error) &&
         (touched || astro_wstacking_clear(work, stream_of(self), error)) &&
         (self->config.is_double ? astro_wstacking_spread_double : astro_wstacking_spread_single)(
             work, (guint)self->multiprocessors, stream_of(self), error);
}

static void skip(AstroGridding *self)
{
  self->next++;
}

/* ---- instances ---- */

/* Slots for many visibilities are counted with these. */
static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const guint64 bins =
      (guint64)grid->size * grid->size / (WSTACKING_BIN * WSTACKING_BIN) * config->channels;
  const gsize slot = slot_bytes(g_strv_length(grid->products), config->is_double) +
                     sizeof(WstackingItem) + sizeof(WstackingHeavy);
  return bins * (sizeof(guint32) + sizeof(uint2)) + (bins / 4 + 1) * (sizeof(WstackingItem) + 1) +
         LEAST_SLOTS * slot;
}

static void destroy(AstroGridding *self)
{
  gpointer blocks[] = { self->range, self->powers, self->room };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  g_free(self);
}

static gboolean send_powers(AstroGridding *self, GError **error)
{
  const AstroSpread *spread = &self->grid.spread;
  double all[ASTRO_SEMICIRCLE_TERMS][ASTRO_SEMICIRCLE_MAX] = {}, powers[ASTRO_SEMICIRCLE_TERMS];
  for (guint tap = 0; tap < spread->support; tap++) {
    astro_semicircle_fit(spread->support, spread->beta, tap, self->work.degree, powers);
    for (guint term = 0; term <= self->work.degree; term++)
      all[term][tap] = powers[term];
  }
  return CUDA_TRY(
      cudaMemcpyAsync(self->powers, all, sizeof all, cudaMemcpyHostToDevice, stream_of(self)));
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  const AstroDeviceFuncs *funcs = place->device->funcs;
  AstroGridding *self = g_new0(AstroGridding, 1);
  WstackingPlane *work = &self->work;
  self->config = *config;
  self->place = *place;
  self->grid = *grid;
  self->grid.products = NULL;
  work->products = g_strv_length(grid->products);
  work->is_double = config->is_double;
  work->support = grid->spread.support;
  work->beta = grid->spread.beta;
  work->degree = astro_semicircle_degree(work->support);
  work->size = grid->size;
  work->tiles = (grid->size + WSTACKING_TILE - 1) / WSTACKING_TILE;
  work->n_tiles = work->tiles * work->tiles * config->channels;
  work->reach = (work->support - 1 + WSTACKING_BIN - 1) / WSTACKING_BIN;
  *variant = config->is_double ? "mma-fp64" : "mma-tf32x3";
  if (funcs->alloc(place->device, 2 * sizeof *self->range, (gpointer *)&self->range, error) &&
      funcs->alloc(place->device, sizeof(double) * ASTRO_SEMICIRCLE_TERMS * ASTRO_SEMICIRCLE_MAX,
                   (gpointer *)&self->powers, error) &&
      send_powers(self, error) &&
      CUDA_TRY(cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount,
                                      place->device->index))) {
    work->powers = self->powers;
    return self;
  }
  destroy(self);
  return NULL;
}

const AstroGridAlgorithm astro_cuda_wstacking = {
  .name = "wstacking",
  .has_planes = TRUE,
  .bytes = bytes,
  .create = create,
  .begin = begin,
  .plane = plane,
  .skip = skip,
  .destroy = destroy,
};
