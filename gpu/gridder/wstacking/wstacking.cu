/* W-stacking on the device (core/gridder/wstacking/wstacking.c says what it is): visibilities are
 * sorted once, then every plane is planned and summed without the host. */
#include "gpu/gridder/room.h"
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

static gsize slot_bytes(guint products, gboolean is_double)
{
  return (gsize)WSTACKING_TILE * WSTACKING_TILE * products * 2 *
         (is_double ? sizeof(double) : sizeof(float));
}

/* Sorting uses the memory of the slots, which planes need only after it. */
static gpointer lay_out(AstroGridding *self, AstroRoom *room)
{
  WstackingPlane *work = &self->work;
  WstackingSorted *sorted = &work->sorted;
  WstackingPlan *plan = &work->plan;
  const gsize real = self->config.is_double ? sizeof(double) : sizeof(float);
  const gsize slots = plan->n_slots * slot_bytes(work->products, self->config.is_double);
  sorted->places = room->piece(sorted->n * (4 * real));
  sorted->values = room->piece(sorted->n * (2 * real) * work->products);
  sorted->planes = (guint16 *)room->piece(sorted->n * sizeof *sorted->planes);
  sorted->starts = (guint32 *)room->piece(((gsize)sorted->n_bins + 1) * sizeof *sorted->starts);
  plan->windows = (uint2 *)room->piece((gsize)sorted->n_bins * sizeof *plan->windows);
  plan->items =
      (WstackingItem *)room->piece(((gsize)work->n_tiles + plan->n_slots) * sizeof *plan->items);
  plan->heavy = (WstackingHeavy *)room->piece((gsize)plan->n_slots * sizeof *plan->heavy);
  self->touched = (guint8 *)room->piece(work->n_tiles);
  plan->counts = (WstackingCounts *)room->piece(sizeof *plan->counts);
  plan->slots = room->piece(
      MAX(slots, astro_wstacking_sort_bytes(sorted->n, sorted->n_bins, self->planes.n)));
  return plan->slots;
}

static gboolean make_room(AstroGridding *self, gpointer *for_sorting, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  AstroRoom room = {};
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

static gboolean begin(AstroGridding *self, const AstroGridRows *rows, guint *planes, GError **error)
{
  WstackingPlane *work = &self->work;
  WstackingRows r;
  gpointer for_sorting;

  if (!astro_wstacking_rows(&r, rows, self->config.channels, &self->grid, error) ||
      !astro_wstacking_find_planes(&r, &self->config, &self->grid, self->range, stream_of(self),
                                   error))
    return FALSE;
  self->planes = r.planes;
  self->next = 0;
  work->is_flat = self->planes.step == 0;
  work->sorted.n = r.n;
  work->sorted.side = r.side;
  work->sorted.n_bins = r.n_bins;
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
      funcs->alloc(place->device, WSTACKING_POWERS_BYTES, (gpointer *)&self->powers, error) &&
      astro_wstacking_send_powers(&self->grid.spread, self->powers, stream_of(self), error) &&
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
