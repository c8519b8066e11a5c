/* Predicts as many dumps at once as the device has room for, one channel of the model after the
 * other and, where planes of all products are too large, some products after the others. */
#include "gpu/gridder/degrid/degrid.h"
#include "gpu/gridder/room.h"

enum {
  MOST_PLANES = 1 << 16, /* their numbers have 16 bits: for the room that sorting needs */
  SHARE_PERCENT = 70,    /* of the free memory is planned with */
};

/* The corrected images on the device: of which channel of the model, for which planes. */
typedef struct {
  guint channel;
  double w_step;
} Corrected;

struct DegridPredictor {
  AstroDegridderConfig config;
  AstroPlace place;
  guint products, together; /* of the model; whose planes are made at once */
  guint64 budget;           /* bytes for all of this */
  DegridImages images;
  DegridPlanes *makes; /* planes of the products together */
  gboolean is_corrected;
  Corrected corrected;
  guint64 *range;
  double *inverse, *powers, *wavenumbers;
  gpointer pixels; /* corrected */
  gpointer room;   /* for dumps, kept for the next call */
  gsize room_bytes;
  guint64 room_dumps;
  /* pieces of it */
  double *uvw;
  guint8 *folded;
  gpointer values, planes[2]; /* rooms of planes, which are made in the second one */
  gpointer for_sorting;       /* where the planes are, later */
  WstackingSorted sorted;
  DegridReach reach;
};

static cudaStream_t stream_of(const DegridPredictor *self)
{
  return astro_cuda_stream(self->place.queue);
}

/* ---- room ---- */

static gsize real_bytes(const DegridPredictor *self)
{
  return self->config.gridder.is_double ? sizeof(double) : sizeof(float);
}

static gsize plane_bytes(const DegridPredictor *self)
{
  return (gsize)self->config.grid.size * self->config.grid.size * 2 * real_bytes(self);
}

static gsize pixels_bytes(const DegridPredictor *self)
{
  return (gsize)self->config.grid.image_size * self->config.grid.image_size * real_bytes(self) *
         self->products;
}

/* Channels of the visibilities that are predicted from one channel of the model. */
static guint channels_each(const DegridPredictor *self)
{
  return self->config.visibilities.channels / self->config.gridder.channels;
}

static guint n_bins(const DegridPredictor *self)
{
  const guint side = self->config.grid.size / WSTACKING_BIN;
  return side * side;
}

/* Sorting uses the memory of planes, which are made after it. */
static void lay_out(DegridPredictor *self, guint64 dumps, guint64 pairs, AstroRoom *room)
{
  const gsize rows = dumps * pairs, real = real_bytes(self), value = 2 * real * self->products;
  const gsize n = rows * channels_each(self);
  const gsize planes = self->together * astro_room_whole(plane_bytes(self));
  WstackingSorted *sorted = &self->sorted;
  self->uvw = (double *)room->piece(rows * 3 * sizeof *self->uvw);
  self->folded = (guint8 *)room->piece(rows);
  self->values = room->piece(rows * self->config.visibilities.channels * value);
  sorted->places = room->piece(n * 4 * real);
  sorted->values = room->piece(n * value);
  sorted->planes = (guint16 *)room->piece(n * sizeof *sorted->planes);
  sorted->numbers = (guint32 *)room->piece(n * sizeof *sorted->numbers);
  sorted->bins = (guint32 *)room->piece(n * sizeof *sorted->bins);
  self->reach.notes = (guint8 *)room->piece((gsize)MOST_PLANES * self->reach.tiles);
  self->reach.map = (guint8 *)room->piece((gsize)self->reach.tiles * self->reach.tiles);
  self->for_sorting = self->planes[0] =
      room->piece(MAX(2 * planes, astro_wstacking_sort_bytes((guint)n, n_bins(self), MOST_PLANES)));
  self->planes[1] = (guint8 *)self->planes[0] + planes;
}

/* Bytes for so many dumps, with all that an instance has besides. */
static guint64 bytes_for(DegridPredictor *self, guint64 dumps, guint64 pairs)
{
  AstroRoom room = {};
  lay_out(self, dumps, pairs, &room);
  return room.used + pixels_bytes(self) + astro_degrid_planes_bytes(&self->images, self->together);
}

static guint64 most_dumps(DegridPredictor *self, guint64 pairs)
{
  guint64 least = 0, above = MAX(G_MAXUINT32 / MAX(pairs * channels_each(self), 1), (guint64)1) + 1;
  while (above - least > 1) {
    const guint64 middle = least + (above - least) / 2;
    if (bytes_for(self, middle, pairs) <= self->budget)
      least = middle;
    else
      above = middle;
  }
  return least;
}

/* Grows to so many dumps, or to as many as there is room for. */
static gboolean make_room(DegridPredictor *self, guint64 dumps, guint64 pairs, GError **error)
{
  AstroRoom room = {};
  if (dumps > self->room_dumps) {
    const guint64 most = MIN(dumps, MAX(most_dumps(self, pairs), (guint64)1));
    lay_out(self, most, pairs, &room);
    if (room.used > self->room_bytes) {
      astro_cuda_free(&self->place, &self->room);
      self->room_bytes = self->room_dumps = 0;
      if (!self->place.device->funcs->alloc(self->place.device, room.used, &self->room, error))
        return FALSE;
      self->room_bytes = room.used;
    }
    self->room_dumps = most;
  }
  room = { (guint8 *)self->room, 0 };
  lay_out(self, MIN(dumps, self->room_dumps), pairs, &room);
  return TRUE;
}

/* ---- planes ---- */

/* The images of a channel of the model, for planes at that distance. */
static gboolean correct(DegridPredictor *self, guint channel, double w_step, GError **error)
{
  const gsize bytes = pixels_bytes(self);
  AstroImageSeries series;
  if (self->is_corrected && self->corrected.channel == channel && self->corrected.w_step == w_step)
    return TRUE;
  astro_image_series_set(&series, &self->config.grid, w_step);
  self->corrected = { channel, w_step };
  self->is_corrected =
      CUDA_TRY(cudaMemcpyAsync(self->pixels, (const guint8 *)self->config.model + channel * bytes,
                               bytes, cudaMemcpyHostToDevice, stream_of(self))) &&
      astro_degrid_correct_on_device(&self->images, &series, self->pixels, stream_of(self), error);
  return self->is_corrected;
}

/* Makes the planes of some products and collects from them. */
static gboolean collect(DegridPredictor *self, DegridPlane *plane, double w, GError **error)
{
  const gsize image = pixels_bytes(self) / self->products;
  plane->cells = self->planes[1];
  return astro_degrid_planes_make(self->makes, (guint8 *)self->pixels + plane->first * image, w,
                                  self->reach.map, self->planes, error) &&
         (self->config.gridder.is_double
              ? astro_degrid_collect_double
              : astro_degrid_collect_single)(plane, stream_of(self), error);
}

static gboolean collect_all(DegridPredictor *self, const AstroPlanes *planes, GError **error)
{
  const AstroGrid *grid = &self->config.grid;
  DegridPlane plane = {};
  plane.sorted = self->sorted;
  plane.side = AstroDivisor(self->sorted.side);
  plane.size = grid->size;
  plane.support = grid->spread.support;
  plane.products = self->products;
  plane.n_here = self->together;
  plane.is_flat = planes->step == 0;
  plane.beta = grid->spread.beta;
  plane.degree = astro_semicircle_degree(grid->spread.support);
  plane.powers = self->powers;
  for (plane.plane = 0; plane.plane < planes->n; plane.plane++) {
    const double w = planes->first + plane.plane * planes->step;
    const double turns = w * planes->n_middle, angle = 2 * G_PI * (turns - rint(turns));
    plane.phase_factor[0] = cos(angle);
    plane.phase_factor[1] = sin(angle);
    if (!astro_degrid_reach_map(&self->reach, plane.plane, stream_of(self), error))
      return FALSE;
    for (plane.first = 0; plane.first < self->products; plane.first += self->together)
      if (!collect(self, &plane, w, error))
        return FALSE;
    if (!astro_backend_goes_on(error))
      return FALSE;
  }
  return TRUE;
}

/* ---- visibilities ---- */

/* Visibilities beyond the grid, of which there should be none, are sorted to the end, where no
 * plane reaches them. */
static gboolean sort(DegridPredictor *self, const WstackingRows *rows, GError **error)
{
  const gsize n = rows->n, value = 2 * real_bytes(self) * self->products;
  WstackingSorted *sorted = &self->sorted;
  sorted->n = rows->n;
  sorted->side = rows->side;
  sorted->n_bins = rows->n_bins;
  return CUDA_TRY(cudaMemsetAsync(sorted->values, 0, n * value, stream_of(self))) &&
         CUDA_TRY(
             cudaMemsetAsync(sorted->planes, 0xff, n * sizeof *sorted->planes, stream_of(self))) &&
         CUDA_TRY(cudaMemsetAsync(sorted->numbers, 0xff, n * sizeof *sorted->numbers,
                                  stream_of(self))) &&
         astro_wstacking_sort(rows, sorted, self->for_sorting, stream_of(self), error) &&
         astro_degrid_reach_note(&self->reach, sorted, rows->planes.n,
                                 self->config.gridder.is_double, stream_of(self), error) &&
         CUDA_TRY(cudaMemsetAsync(self->planes[0], 0, self->together * plane_bytes(self),
                                  stream_of(self)));
}

/* All visibilities that one channel of the model is for. */
static gboolean predict_channel(DegridPredictor *self, const AstroGridRows *given, guint channel,
                                const DegridValues *values, GError **error)
{
  const AstroGrid *grid = &self->config.grid;
  const guint each = channels_each(self);
  AstroGridRows some = *given;
  WstackingRows rows;
  some.channels = each;
  some.uvw = self->uvw;
  some.wavenumbers = self->wavenumbers + channel * each;
  if (!astro_wstacking_rows(&rows, &some, 1, grid, error) ||
      !astro_wstacking_find_planes(&rows, &self->config.gridder, grid, self->range, stream_of(self),
                                   error) ||
      !sort(self, &rows, error) || !correct(self, channel, rows.planes.step, error) ||
      !collect_all(self, &rows.planes, error))
    return FALSE;
  const DegridPut put = { self->sorted,         channel * each, each,
                          rows.planes.n_middle, grid->centre_l, grid->centre_m };
  return astro_degrid_put(values, &put, stream_of(self), error);
}

gboolean astro_degrid_predict(DegridPredictor *self, const AstroGridRows *rows,
                              const guint8 *folded, guint64 pairs, guint64 *dumps,
                              DegridValues *values, GError **error)
{
  if (!make_room(self, *dumps, pairs, error))
    return FALSE;
  *dumps = MIN(*dumps, self->room_dumps);
  AstroGridRows some = *rows;
  some.rows = *dumps * pairs;
  *values = { pairs,     rows->channels, self->products,    self->config.gridder.is_double,
              self->uvw, self->folded,   self->wavenumbers, self->values };
  if (some.rows == 0)
    return TRUE;
  const gsize bytes = some.rows * rows->channels * self->products * 2 * real_bytes(self);
  if (!CUDA_TRY(cudaMemcpyAsync(self->uvw, rows->uvw, some.rows * 3 * sizeof *rows->uvw,
                                cudaMemcpyHostToDevice, stream_of(self))) ||
      !CUDA_TRY(cudaMemcpyAsync(self->folded, folded, some.rows, cudaMemcpyHostToDevice,
                                stream_of(self))) ||
      !CUDA_TRY(cudaMemcpyAsync(self->wavenumbers, rows->wavenumbers,
                                rows->channels * sizeof *rows->wavenumbers, cudaMemcpyHostToDevice,
                                stream_of(self))) ||
      !CUDA_TRY(cudaMemsetAsync(self->values, 0, bytes, stream_of(self))))
    return FALSE;
  for (guint channel = 0; channel < self->config.gridder.channels; channel++)
    if (!predict_channel(self, &some, channel, values, error))
      return FALSE;
  return TRUE;
}

/* ---- instances ---- */

void astro_degrid_predictor_free(DegridPredictor *self)
{
  gpointer blocks[] = { self->range,       self->inverse, self->powers,
                        self->wavenumbers, self->pixels,  self->room };
  if (self->makes)
    astro_degrid_planes_free(self->makes);
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    astro_cuda_free(&self->place, &blocks[i]);
  g_free(self);
}

static gboolean allocate(DegridPredictor *self, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  const gsize n_inverse = self->config.grid.image_size + 1;
  g_autofree double *inverse = astro_image_inverse(&self->config.grid);
  const struct {
    gpointer to;
    gsize bytes;
  } blocks[] = {
    { &self->range, 2 * sizeof *self->range },
    { &self->inverse, n_inverse * sizeof *inverse },
    { &self->powers, WSTACKING_POWERS_BYTES },
    { &self->wavenumbers, self->config.visibilities.channels * sizeof *self->wavenumbers },
    { &self->pixels, pixels_bytes(self) },
  };
  for (guint i = 0; i < G_N_ELEMENTS(blocks); i++)
    if (!funcs->alloc(self->place.device, blocks[i].bytes, (gpointer *)blocks[i].to, error))
      return FALSE;
  self->images.inverse = self->inverse;
  return CUDA_TRY(cudaMemcpyAsync(self->inverse, inverse, n_inverse * sizeof *inverse,
                                  cudaMemcpyHostToDevice, stream_of(self))) &&
         astro_wstacking_send_powers(&self->config.grid.spread, self->powers, stream_of(self),
                                     error);
}

/* As many products together as there is room for, with one dump; each time the same number. */
static gboolean choose_together(DegridPredictor *self, GError **error)
{
  const guint64 pairs = astro_degridder_pairs(&self->config);
  AstroDeviceMemory memory;
  if (!self->place.device->funcs->memory(self->place.device, &memory, error))
    return FALSE;
  self->budget = (guint64)memory.free * SHARE_PERCENT / 100;
  if (self->config.budget)
    self->budget = MIN(self->budget, self->config.budget);
  for (self->together = self->products; self->together > 0; self->together--)
    if (self->products % self->together == 0 && self->together <= DEGRID_MOST_TOGETHER &&
        bytes_for(self, 1, pairs) <= self->budget)
      return TRUE;
  self->together = 1;
  return astro_backend_no_memory(
      error,
      "planes of %u x %u cells and one integration need %" G_GUINT64_FORMAT
      " bytes of %s's memory, and %" G_GUINT64_FORMAT " may be used: expected a smaller model, or "
      "a larger accuracy",
      self->config.grid.size, self->config.grid.size, bytes_for(self, 1, pairs),
      self->place.device->name, self->budget);
}

static void set_reach(DegridPredictor *self)
{
  const DegridImages *images = &self->images;
  const guint first = astro_degrid_first_column(images);
  const gboolean is_whole = images->image == images->size;
  self->reach.tiles = astro_grid_tiles(images->size);
  self->reach.support = self->config.grid.spread.support;
  self->reach.first_tile = is_whole ? 0 : first / ASTRO_GRID_TILE;
  self->reach.last_tile =
      is_whole ? self->reach.tiles - 1 : (first + images->image - 1) / ASTRO_GRID_TILE;
}

DegridPredictor *astro_degrid_predictor_new(const AstroDegridderConfig *config,
                                            const AstroPlace *place, GError **error)
{
  DegridPredictor *self = g_new0(DegridPredictor, 1);
  const AstroGrid *grid = &config->grid;
  self->config = *config;
  self->place = *place;
  self->products = g_strv_length(grid->products);
  self->config.grid.products = NULL;
  self->images = { grid->size,  grid->image_size, self->products, config->gridder.is_double,
                   grid->pixel, grid->centre_l,   grid->centre_m };
  set_reach(self);
  if (choose_together(self, error) && allocate(self, error)) {
    self->makes = astro_degrid_planes_new(&self->images, self->together, place, error);
    if (self->makes)
      return self;
  }
  astro_degrid_predictor_free(self);
  return NULL;
}
