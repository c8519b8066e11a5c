/* Passes over visibilities in a file. */
#include "config.h"
#include "core/gridder/passes.h"

#include <math.h>
#include <string.h>
#include "core/gridder/rows.h"
#include "core/kit/pages.h"

struct _AstroPasses {
  AstroRowStore *store;
  AstroGriddingConfig config;
  AstroGrid grid; /* without its products */
  AstroPlanes planes;
  guint rows_channels;  /* channels of a row that make one of the grid */
  guint64 *counts;      /* visibilities by their first plane: [channel of the grid][plane] */
  AstroSorted **sorted; /* one a channel of the grid: those of the last pass */
  guint first, end;     /* the planes that they are for */
  guint portion, portions;
};

/* ---- looking at each visibility ---- */

typedef struct {
  guint64 number; /* row * channels + channel */
  guint channel, plane;
  double uvw[3]; /* wavelengths */
} Found;

typedef struct {
  AstroPasses *passes;
  void (*take)(gpointer data, const AstroGridRows *rows, const Found *found);
  gpointer data;
} Visit;

/* The same as for sorting: those that are zero or lie outside the grid are left out. */
static gboolean find(const AstroPasses *self, const AstroGridRows *rows, guint64 row, guint c,
                     Found *found)
{
  const double per = rows->wavenumbers[c], *uvw = rows->uvw + 3 * row;
  const AstroPlanes *planes = &self->planes;
  double inside;
  for (guint i = 0; i < 3; i++)
    found->uvw[i] = uvw[i] * per;
  found->number = row * rows->channels + c;
  found->channel = c / self->rows_channels;
  found->plane = 0;
  if (!astro_grid_holds(&self->grid, found->uvw[0], found->uvw[1]) ||
      astro_rows_is_zero(rows, found->number))
    return FALSE;
  if (planes->step > 0)
    found->plane =
        astro_first_cell((found->uvw[2] - planes->first) / planes->step, planes->support, &inside);
  return TRUE;
}

static gboolean visit_all(const Visit *visit, GError **error)
{
  AstroPasses *self = visit->passes;
  const guint parts = astro_row_store_parts(self->store);
  for (guint part = 0; part < parts; part++) {
    AstroGridRows rows;
    Found found;
    if (!astro_row_store_read(self->store, part, &rows, error))
      return FALSE;
    for (guint64 row = 0; row < rows.rows && !astro_is_given_up(); row++)
      for (guint c = 0; c < rows.channels; c++)
        if (find(self, &rows, row, c, &found))
          visit->take(visit->data, &rows, &found);
    if (!astro_backend_goes_on(error))
      return FALSE;
  }
  return TRUE;
}

/* ---- planes ---- */

static gboolean find_planes(AstroPasses *self, GError **error)
{
  double least = INFINITY, greatest = 0;
  for (guint part = 0; part < astro_row_store_parts(self->store); part++) {
    AstroGridRows rows;
    if (!astro_row_store_read(self->store, part, &rows, error) ||
        !astro_planes_widen(&rows, &self->grid, self->config.threads, &least, &greatest, error))
      return FALSE;
  }
  return astro_planes_of_range(&self->planes, &self->config, &self->grid, least, greatest, error);
}

static void count_one(gpointer data, const AstroGridRows *rows, const Found *found)
{
  AstroPasses *self = data;
  self->counts[(gsize)found->channel * self->planes.n + found->plane]++;
}

static gboolean count(AstroPasses *self, GError **error)
{
  const Visit visit = { self, count_one, self };
  self->counts = g_try_new0(guint64, (gsize)self->planes.n * self->config.channels);
  if (!self->counts)
    return astro_backend_no_memory(error, "no memory to count the visibilities of %u planes",
                                   self->planes.n);
  return visit_all(&visit, error);
}

AstroPasses *astro_passes_new(AstroRowStore *store, const AstroGriddingConfig *config,
                              const AstroGrid *grid, AstroPlanes *planes, GError **error)
{
  AstroPasses *self = g_new0(AstroPasses, 1);
  self->store = store;
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->rows_channels = astro_row_store_shape(store)->channels / config->channels;
  self->sorted = g_new0(AstroSorted *, config->channels);
  if (find_planes(self, error) && count(self, error)) {
    *planes = self->planes;
    return self;
  }
  astro_passes_free(self);
  return NULL;
}

static void forget_sorted(AstroPasses *self)
{
  for (guint c = 0; c < self->config.channels; c++)
    g_clear_pointer(&self->sorted[c], astro_sorted_free);
  self->first = self->end = 0;
}

void astro_passes_free(AstroPasses *self)
{
  forget_sorted(self);
  g_free(self->sorted);
  g_free(self->counts);
  g_free(self);
}

/* ---- choosing those of a pass ---- */

/* Visibilities of a channel of the grid whose first plane is from `from` to before `to`. */
static guint64 count_between(const AstroPasses *self, guint channel, guint from, guint to)
{
  guint64 n = 0;
  for (guint plane = from; plane < to; plane++)
    n += self->counts[(gsize)channel * self->planes.n + plane];
  return n;
}

static guint64 count_all(const AstroPasses *self, guint from, guint to)
{
  guint64 n = 0;
  for (guint c = 0; c < self->config.channels; c++)
    n += count_between(self, c, from, to);
  return n;
}

/* The first of the planes at which a visibility of this plane may begin. */
static guint reaches_back(const AstroPasses *self, guint plane)
{
  return plane + 1 - MIN(plane + 1, self->planes.support);
}

static guint64 most_sorted(const AstroPasses *self)
{
  return self->config.most_sorted > 0 ? self->config.most_sorted : G_MAXUINT64;
}

/* Planes from this one on whose visibilities fit into memory together: one at least. */
static void choose_pass(AstroPasses *self, guint plane)
{
  const guint from = reaches_back(self, plane);
  const guint64 most = most_sorted(self);
  guint64 n = count_all(self, from, plane + 1);
  self->first = plane;
  self->end = plane + 1;
  self->portions = (guint)MAX((n + most - 1) / most, 1);
  while (self->portions == 1 && self->end < self->planes.n) {
    n += count_all(self, self->end, self->end + 1);
    if (n > most)
      break;
    self->end++;
  }
}

/* ---- taking those of a pass ---- */

typedef struct {
  guint64 first, n; /* of those of the pass */
  guint64 seen;     /* those that came by */
  gsize at;         /* where they go in the arrays */
} Share;

typedef struct {
  const AstroPasses *passes;
  guint from, to; /* first planes */
  gsize bytes;    /* of a visibility's values */
  Share *shares;  /* one a channel of the grid */
  double *uvw;
  char *values;
} Taking;

static void take_one(gpointer data, const AstroGridRows *rows, const Found *found)
{
  Taking *taking = data;
  Share *share = &taking->shares[found->channel];
  if (found->plane < taking->from || found->plane >= taking->to)
    return;
  const guint64 number = share->seen++;
  if (number < share->first || number >= share->first + share->n)
    return;
  const gsize at = share->at + number - share->first;
  memcpy(taking->uvw + 3 * at, found->uvw, sizeof found->uvw);
  memcpy(taking->values + at * taking->bytes,
         (const char *)rows->values + found->number * taking->bytes, taking->bytes);
}

static gsize one_value_bytes(const AstroRowStoreShape *shape)
{
  return shape->products * (shape->is_double ? 16 : 8);
}

/* The rows of one channel have one channel, with (u,v,w) in wavelengths. */
static gboolean sort_channel(AstroPasses *self, const Taking *taking, guint channel, GError **error)
{
  static const double one = 1;
  const AstroRowStoreShape *shape = astro_row_store_shape(self->store);
  const Share *share = &taking->shares[channel];
  const AstroGridRows rows = { .rows = share->n,
                               .channels = 1,
                               .products = shape->products,
                               .is_double = shape->is_double,
                               .uvw = taking->uvw + 3 * share->at,
                               .wavenumbers = &one,
                               .values = taking->values + share->at * taking->bytes };
  self->sorted[channel] =
      astro_sorted_new(&rows, 0, 1, &self->grid, &self->planes, self->config.threads, error);
  return self->sorted[channel] != NULL;
}

static gboolean take_and_sort(AstroPasses *self, Taking *taking, gsize n, GError **error)
{
  const Visit visit = { self, take_one, taking };
  taking->uvw = astro_pages_alloc(n * 3 * sizeof(double));
  taking->values = astro_pages_alloc(n * taking->bytes);
  if (!taking->uvw || !taking->values)
    return astro_backend_no_memory(error, "no memory to sort %" G_GSIZE_FORMAT " visibilities", n);
  if (!visit_all(&visit, error))
    return FALSE;
  for (guint c = 0; c < self->config.channels; c++)
    if (!sort_channel(self, taking, c, error))
      return FALSE;
  return TRUE;
}

static gboolean make_pass(AstroPasses *self, guint portion, GError **error)
{
  Taking taking = { .passes = self,
                    .from = reaches_back(self, self->first),
                    .to = self->end,
                    .bytes = one_value_bytes(astro_row_store_shape(self->store)),
                    .shares = g_new0(Share, self->config.channels) };
  gsize n = 0;
  for (guint c = 0; c < self->config.channels; c++) {
    const guint64 all = count_between(self, c, taking.from, taking.to);
    const guint64 first = all * portion / self->portions,
                  end = all * (portion + 1) / self->portions;
    taking.shares[c] = (Share){ .first = first, .n = end - first, .at = n };
    n += end - first;
  }
  const gboolean ok = take_and_sort(self, &taking, n, error);
  free(taking.uvw);
  free(taking.values);
  g_free(taking.shares);
  self->portion = portion;
  return ok;
}

guint astro_passes_portions(AstroPasses *self, guint plane)
{
  if (plane < self->first || plane >= self->end) {
    forget_sorted(self);
    choose_pass(self, plane);
  }
  return self->portions;
}

AstroSorted **astro_passes_sort(AstroPasses *self, guint plane, guint portion, GError **error)
{
  if (self->sorted[0] && self->portion == portion)
    return self->sorted;
  const guint first = self->first, end = self->end;
  forget_sorted(self);
  self->first = first;
  self->end = end;
  if (make_pass(self, portion, error))
    return self->sorted;
  forget_sorted(self);
  return NULL;
}

/* ---- memory ---- */

guint64 astro_passes_sorting_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                                   guint products, guint planes, guint64 n)
{
  return n * (3 * sizeof(double) + products * (config->is_double ? 16 : 8)) +
         astro_sorting_bytes(config, grid, products, n) +
         (guint64)planes * config->channels * sizeof(guint64);
}
