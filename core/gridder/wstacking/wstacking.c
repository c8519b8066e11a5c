/* W-stacking: visibilities are spread over a few w-planes as they are over cells in u and v, by the
 * same function. astroimage corrects the image of each plane for its w and adds them up. */
#include "config.h"
#include "core/gridder/gridder.h"

#include <math.h>
#include <string.h>
#include "core/backend/threads.h"
#include "core/lib/spread/semicircle.h"
#include "core/gridder/passes.h"
#include "core/gridder/sorted.h"
#include "core/gridder/wstacking/kernels.h"

struct _AstroGridding {
  AstroGriddingConfig config;
  AstroGrid grid; /* without its products */
  const AstroSpreadKernels *kernels;
  AstroSpreadTaps *taps;
  AstroPlanes planes;
  guint next; /* the next plane */
  guint n_sorted;
  AstroSorted **sorted; /* one a channel of the grid */
  AstroPasses *passes;  /* NULL: all are sorted */
};

/* Along a side. It is a good size itself; and bands have numbers of 16 bits (buckets.c). */
#define MAX_CELLS 1000000

static const AstroSpreadKernels *const variants[] = ASTRO_KERNELS(astro_spread);

/* A larger padding or support does not always help: in single precision wide supports cost
 * accuracy. */
static gboolean refuse_accuracy(const AstroGriddingConfig *config, GError **error)
{
  g_autofree char *padding = g_strdup_printf("padding %g", config->padding);
  g_autofree char *support = g_strdup_printf("support %u", config->support);
  return astro_backend_refuse(error,
                              "accuracy %g cannot be reached with %s and %s: expected 0 for those "
                              "that are set, so that they follow from the accuracy",
                              config->accuracy, config->padding > 0 ? padding : "any padding",
                              config->support ? support : "any support");
}

static gboolean choose(const AstroGriddingConfig *config, AstroGrid *grid, GError **error)
{
  AstroSemicircle shape;
  double least, greatest;
  if (!astro_grid_n_range(grid, &least, &greatest, error) ||
      !astro_gridder_check_spread(config, ASTRO_SEMICIRCLE_MIN, ASTRO_SEMICIRCLE_MAX, error))
    return FALSE;
  if (!config->is_double && config->accuracy < 1e-5)
    return astro_backend_refuse(
        error, "accuracy %g needs double precision (format=CF64LE): single precision reaches 1e-05",
        config->accuracy);
  const AstroSemicircleWanted wanted = { .accuracy = config->accuracy,
                                         .padding = config->padding,
                                         .support = config->support,
                                         .is_double = config->is_double,
                                         .image_size = grid->image_size,
                                         .products =
                                             grid->products ? g_strv_length(grid->products) : 1 };
  if (!astro_semicircle_choose(&shape, &wanted))
    return refuse_accuracy(config, error);
  const double cells = ceil(shape.padding * grid->image_size - 1e-6);
  if (cells > MAX_CELLS)
    return astro_backend_refuse(
        error,
        "a size of %u pixels needs a grid of %.0f cells a side, which is too large: expected "
        "at most %d cells, a size of at most %u",
        grid->image_size, cells, MAX_CELLS, 2 * (guint)(MAX_CELLS / shape.padding / 2));
  grid->size = astro_grid_good_size(MAX((guint)cells, 2 * shape.support + 8));
  grid->cell = 1 / (grid->size * grid->pixel);
  grid->spread = (AstroSpread){ .kind = ASTRO_SPREAD_SEMICIRCLE,
                                .support = shape.support,
                                .beta = shape.beta };
  return TRUE;
}

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  return sizeof(AstroGridding) + sizeof(AstroSpreadTaps);
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->kernels = config->is_reference ? &astro_spread_reference : ASTRO_KERNELS_PICK(variants);
  self->taps = astro_spread_taps_new();
  *variant = self->kernels->variant.name;
  return self;
}

/* ---- planes ---- */

static void forget(AstroGridding *self)
{
  for (guint i = 0; i < self->n_sorted; i++)
    if (self->sorted[i])
      astro_sorted_free(self->sorted[i]);
  g_clear_pointer(&self->sorted, g_free);
  g_clear_pointer(&self->passes, astro_passes_free);
  self->n_sorted = 0;
}

static int more_work_first(gconstpointer a, gconstpointer b, gpointer sorted)
{
  const AstroSortedBand *bands = ((const AstroSorted *)sorted)->bands;
  const guint64 x = bands[*(const guint *)a].n, y = bands[*(const guint *)b].n;
  return x < y ? 1 : x > y ? -1 : 0;
}

static gboolean check_products(guint products, GError **error)
{
  return products <= ASTRO_MAX_PRODUCTS ||
         astro_backend_refuse(error, "%u products of each visibility, at most %d are possible",
                              products, ASTRO_MAX_PRODUCTS);
}

static gboolean begin(AstroGridding *self, const AstroGridRows *rows, guint *planes, GError **error)
{
  const guint channels = rows->channels / self->config.channels;
  forget(self);
  if (!check_products(rows->products, error))
    return FALSE;
  self->next = 0;
  if (!astro_planes_choose(&self->planes, &self->config, &self->grid, rows, error))
    return FALSE;
  astro_spread_taps_fill(self->taps, &self->grid.spread, self->config.is_double,
                         self->planes.step == 0);
  self->n_sorted = self->config.channels;
  self->sorted = g_new0(AstroSorted *, self->n_sorted);
  for (guint i = 0; i < self->n_sorted; i++)
    if (!(self->sorted[i] = astro_sorted_new(rows, i * channels, channels, &self->grid,
                                             &self->planes, self->config.threads, error)))
      return FALSE;
  *planes = self->planes.n;
  return TRUE;
}

static gboolean begin_stored(AstroGridding *self, AstroRowStore *store, guint *planes,
                             GError **error)
{
  forget(self);
  if (!check_products(astro_row_store_shape(store)->products, error))
    return FALSE;
  self->next = 0;
  self->passes = astro_passes_new(store, &self->config, &self->grid, &self->planes, error);
  if (!self->passes)
    return FALSE;
  astro_spread_taps_fill(self->taps, &self->grid.spread, self->config.is_double,
                         self->planes.step == 0);
  *planes = self->planes.n;
  return TRUE;
}

typedef struct {
  AstroSpreadPlane plane;
  const AstroSorted *sorted;
  AstroSpreadGroup spread;
  guint support, rows; /* in w, in v */
  const guint *bands;
  guint8 *touched;      /* [band][tile]; NULL: the grid has been filled with zeros */
  const guint8 *clears; /* those of them that hold nothing yet */
  guint tiles, reach;   /* reach: cells of a row that a group's kernel adds to */
} Work;

/* A footprint is no higher than a band or a tile, and begins in its group's band. */
G_STATIC_ASSERT(ASTRO_BAND_ROWS == ASTRO_GRID_TILE && ASTRO_SEMICIRCLE_MAX <= ASTRO_BAND_ROWS);

/* ---- finding a plane's visibilities ---- */

static guint first_tile(const Work *work, const AstroSortedGroup *group)
{
  return group->block * astro_sorted_block(work->sorted->is_double) / ASTRO_GRID_TILE;
}

static guint end_tile(const Work *work, const AstroSortedGroup *group)
{
  const guint cell = group->block * astro_sorted_block(work->sorted->is_double) + work->reach;
  return MIN((cell + ASTRO_GRID_TILE - 1) / ASTRO_GRID_TILE, work->tiles);
}

static void touch(const Work *work, const AstroSortedGroup *group)
{
  const guint first = first_tile(work, group), n = end_tile(work, group) - first;
  const guint last_row = (group->row + work->rows - 1) / ASTRO_GRID_TILE;
  for (guint row = group->row / ASTRO_GRID_TILE; row <= last_row; row++)
    memset(work->touched + row * work->tiles + first, TRUE, n);
}

/* Finds in each group of a band the visibilities that are spread over this plane. */
static void find_band(gpointer data, guint64 number)
{
  Work *work = data;
  AstroSortedBand *band = &work->sorted->bands[work->bands[number]];
  const guint plane = work->plane.plane;
  for (AstroSortedGroup *group = band->groups, *end = group + band->n_groups; group < end;
       group++) {
    astro_sorted_advance(work->sorted, group, plane, work->support);
    if (work->touched && group->lo < group->hi)
      touch(work, group);
  }
}

/* ---- spreading ---- */

/* Fills the touched tiles of a row from first to end with zeros. */
static void clear_tiles(const Work *work, guint row, guint first, guint end)
{
  const AstroSpreadPlane *plane = &work->plane;
  const guint8 *clears = work->clears + row * work->tiles;
  const gsize cell = work->sorted->is_double ? 16 : 8, line = plane->size * cell;
  const guint begin = row * ASTRO_GRID_TILE, lines = MIN(plane->size - begin, ASTRO_GRID_TILE);
  for (guint tile = first; tile < end; tile++) {
    if (!clears[tile])
      continue;
    const guint left = tile * ASTRO_GRID_TILE, n = MIN(plane->size - left, ASTRO_GRID_TILE);
    char *cells = (char *)plane->grid + begin * line + left * cell;
    for (guint product = 0; product < work->sorted->products;
         product++, cells += line * plane->size)
      for (guint i = 0; i < lines; i++)
        memset(cells + i * line, 0, n * cell);
  }
}

/* Tiles are cleared just before they are needed: every other band clears those of its own row of
 * tiles and of the next, which no other task uses at that time. */
static guint clear_until(const Work *work, guint band, guint from, guint end)
{
  if (!work->touched || band % 2 || from >= end)
    return from;
  clear_tiles(work, band, from, end);
  if (band + 1 < work->sorted->n_bands)
    clear_tiles(work, band + 1, from, end);
  return end;
}

/* Prefetches the rows of a footprint, which lie too far apart for the processor to foresee. */
static void fetch(const Work *work, const AstroSortedGroup *group)
{
  enum { LINE = 64 };
  const AstroSpreadPlane *plane = &work->plane;
  const gsize row = plane->size * (work->sorted->is_double ? 16 : 8);
  const char *cells = (const char *)plane->grid + group->row * row + group->block * LINE;
  for (guint product = 0; product < work->sorted->products; product++, cells += row * plane->size)
    for (guint i = 0; i < work->rows; i++) {
      __builtin_prefetch(cells + i * row, 1);
      __builtin_prefetch(cells + i * row + LINE, 1);
    }
}

static void spread_band(gpointer data, guint64 number)
{
  /* Groups to prefetch ahead, and between two checks whether to stop. */
  enum { AHEAD = 4, ASKS_EVERY = 64 };
  Work *work = data;
  _Alignas(64) char room[ASTRO_SPREAD_ROOM] = { 0 };
  const guint at = work->bands[number];
  const AstroSortedBand *band = &work->sorted->bands[at];
  guint cleared = 0;
  for (const AstroSortedGroup *group = band->groups, *end = group + band->n_groups; group < end;
       group++) {
    if (group + AHEAD < end)
      fetch(work, group + AHEAD);
    if ((group - band->groups) % ASKS_EVERY == 0 && astro_is_given_up())
      return;
    if (group->lo == group->hi)
      continue;
    cleared = clear_until(work, at, cleared, end_tile(work, group));
    work->spread(&work->plane, group, room);
  }
  clear_until(work, at, cleared, work->tiles);
}

/* A band overlaps only the next one, so that every other band can be worked on in parallel. */
static void every_other(AstroGridding *self, Work *work, AstroTask task)
{
  const guint n = work->sorted->n_bands;
  g_autofree guint *bands = g_new(guint, n);
  work->bands = bands;
  for (guint parity = 0; parity < 2; parity++) {
    const guint half = (n + 1 - parity) / 2;
    for (guint i = 0; i < half; i++)
      bands[i] = 2 * i + parity;
    g_qsort_with_data(bands, (gint)half, sizeof *bands, more_work_first, (gpointer)work->sorted);
    astro_parallel(half, self->config.threads, task, work);
  }
}

/* The tiles that are touched now and were not before. */
static guint8 *find_new(const Work *work, const guint8 *before)
{
  const gsize n = (gsize)work->tiles * work->tiles;
  guint8 *fresh = g_memdup2(work->touched, n);
  for (gsize i = 0; i < n; i++)
    fresh[i] &= !before[i];
  return fresh;
}

/* before: the tiles that hold something already; NULL: none does. */
static void spread_channel(AstroGridding *self, const AstroSorted *sorted, gpointer grid,
                           guint8 *touched, const guint8 *before, double turns)
{
  const guint index = self->grid.spread.support - ASTRO_SEMICIRCLE_MIN;
  const guint block = astro_sorted_block(sorted->is_double);
  Work work = {
    .plane = { .sorted = sorted,
               .taps = self->taps,
               .plane = self->next,
               .phase_factor = { cos(2 * G_PI * turns), sin(2 * G_PI * turns) },
               .size = self->grid.size,
               .grid = grid },
    .sorted = sorted,
    .spread =
        self->config.is_double ? self->kernels->in_double[index] : self->kernels->single[index],
    .support = self->planes.support,
    .rows = self->grid.spread.support,
    .touched = touched,
    .clears = touched,
    .tiles = astro_grid_tiles(self->grid.size),
    /* Whole blocks, which are vectors of the widest kind. */
    .reach = (block - 1 + self->grid.spread.support + block - 1) / block * block,
  };
  every_other(self, &work, find_band);
  g_autofree guint8 *fresh = before ? find_new(&work, before) : NULL;
  work.clears = fresh ? fresh : touched;
  every_other(self, &work, spread_band);
}

/* Adds visibilities, one AstroSorted a channel. is_more: the plane has some already. */
static void add_sorted(AstroGridding *self, AstroSorted *const *sorted, gpointer grid,
                       guint8 *touched, gboolean is_more)
{
  const double at = self->planes.first + self->next * self->planes.step;
  /* The phase that values were given for their w, now for the plane's: it cancels in the image of
   * the plane. */
  const double turns = at * self->planes.n_middle;
  const gsize cell = 2 * (self->config.is_double ? sizeof(double) : sizeof(float));
  const gsize tiles = astro_grid_tiles(self->grid.size), map = tiles * tiles;
  for (guint i = 0; i < self->config.channels; i++) {
    const gsize cells = (gsize)sorted[i]->products * self->grid.size * self->grid.size;
    char *channel = (char *)grid + i * cells * cell;
    guint8 *own = touched ? touched + i * map : NULL;
    g_autofree guint8 *before = own && is_more ? g_memdup2(own, map) : NULL;
    if (!is_more && own)
      memset(own, FALSE, map);
    else if (!is_more)
      memset(channel, 0, cells * cell);
    spread_channel(self, sorted[i], channel, own, before, turns - rint(turns));
  }
}

static gboolean plane(AstroGridding *self, gpointer grid, guint8 *touched, double *w,
                      double *w_step, GError **error)
{
  const guint portions = self->passes ? astro_passes_portions(self->passes, self->next) : 1;
  for (guint portion = 0; portion < portions; portion++) {
    AstroSorted *const *sorted =
        self->passes ? astro_passes_sort(self->passes, self->next, portion, error) : self->sorted;
    if (!sorted)
      return FALSE;
    add_sorted(self, sorted, grid, touched, portion > 0);
  }
  *w = self->planes.first + self->next * self->planes.step;
  *w_step = self->planes.step;
  self->next++;
  if (self->next == self->planes.n) /* what is made of the planes needs the memory */
    forget(self);
  return TRUE;
}

static void destroy(AstroGridding *self)
{
  forget(self);
  astro_spread_taps_free(self->taps);
  g_free(self);
}

static void skip(AstroGridding *self)
{
  self->next++;
}

const AstroGridAlgorithm astro_wstacking = {
  .name = "wstacking",
  .has_planes = TRUE,
  .choose = choose,
  .bytes = bytes,
  .create = create,
  .begin = begin,
  .begin_stored = begin_stored,
  .plane = plane,
  .skip = skip,
  .destroy = destroy,
};
