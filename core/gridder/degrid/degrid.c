/* Predicts visibilities plane by plane. */
#include "config.h"
#include "core/gridder/degrid/degrid.h"

#include <math.h>
#include <string.h>
#include "core/backend/threads.h"
#include "core/gridder/degrid/planes.h"
#include "core/gridder/rows.h"
#include "core/gridder/sorted.h"
#include "core/gridder/wstacking/kernels.h"

static const AstroSpreadKernels *const variants[] = ASTRO_KERNELS(astro_spread);

const char *astro_degrid_variant(void)
{
  return ((const AstroSpreadKernels *)ASTRO_KERNELS_PICK(variants))->variant.name;
}

typedef struct {
  const AstroGriddingConfig *config;
  const AstroGrid *grid;
  const AstroGridRows *rows;
  AstroPlanes planes;
  AstroSpreadTaps *taps;
  AstroDegridPlanes *made;
  gpointer values;
  /* of the channels in work */
  AstroSorted *sorted;
  AstroSpreadPlane plane;
  AstroSpreadGroup collect;
  guint8 *needed; /* [band] */
} Degridding;

/* ---- planes ---- */

/* Marks the bands that a plane's footprints reach. */
static void find_needed(Degridding *self, guint plane)
{
  const AstroSorted *sorted = self->sorted;
  memset(self->needed, FALSE, sorted->n_bands + 1);
  for (guint i = 0; i < sorted->n_bands; i++) {
    AstroSortedBand *band = &sorted->bands[i];
    gboolean any = FALSE;
    for (guint g = 0; g < band->n_groups; g++) {
      astro_sorted_advance(sorted, &band->groups[g], plane, self->planes.support);
      any |= band->groups[g].lo < band->groups[g].hi;
    }
    self->needed[i] |= any;
    self->needed[i + 1] |= any; /* footprints end there */
  }
}

static void collect_band(gpointer data, guint64 number)
{
  enum { ASKS_EVERY = 64 };
  Degridding *self = data;
  const AstroSortedBand *band = &self->sorted->bands[number];
  _Alignas(64) char room[ASTRO_SPREAD_ROOM] = { 0 };
  for (guint g = 0; g < band->n_groups; g++) {
    if (g % ASKS_EVERY == 0 && astro_is_given_up())
      return;
    if (band->groups[g].lo < band->groups[g].hi)
      self->collect(&self->plane, &band->groups[g], room);
  }
}

static void collect_plane(Degridding *self, guint number, gconstpointer corrected)
{
  const double w = self->planes.first + number * self->planes.step;
  const double turns = w * self->planes.n_middle, part = turns - rint(turns);
  find_needed(self, number);
  self->plane = (AstroSpreadPlane){
    .sorted = self->sorted,
    .taps = self->taps,
    .plane = number,
    .phase_factor = { cos(2 * G_PI * part), sin(2 * G_PI * part) },
    .size = self->grid->size,
    .grid = (gpointer)astro_degrid_planes_make(self->made, corrected, w, self->needed),
  };
  astro_parallel(self->sorted->n_bands, self->config->threads, collect_band, self);
}

/* ---- values ---- */

/* Puts the sorted values where they belong. */
static void put_part(gpointer data, guint64 part)
{
  Degridding *self = data;
  const AstroSorted *sorted = self->sorted;
  const gsize bytes = sorted->products * (sorted->is_double ? 16 : 8);
  guint64 from, to;
  astro_rows_part(sorted->n, part, &from, &to);
  for (guint64 i = from; i < to; i++)
    memcpy((char *)self->values + sorted->numbers[i] * bytes,
           (const char *)sorted->values + i * bytes, bytes);
}

static void turn(gpointer value, gboolean is_double, double re, double im)
{
  if (is_double) {
    double *v = value, was = v[0];
    v[0] = was * re - v[1] * im;
    v[1] = was * im + v[1] * re;
  } else {
    float *v = value, was = v[0];
    v[0] = was * (float)re - v[1] * (float)im;
    v[1] = was * (float)im + v[1] * (float)re;
  }
}

/* Turns values by the phases that planes left out: that of w at the middle of n - 1, and that of
 * the image's centre in u and v. */
static void turn_part(gpointer data, guint64 part)
{
  const Degridding *self = data;
  const AstroGridRows *rows = self->rows;
  const AstroGrid *grid = self->grid;
  const gsize bytes = rows->is_double ? 16 : 8;
  guint64 from, to;
  astro_rows_part(rows->rows, part, &from, &to);
  char *value = (char *)self->values + from * rows->channels * rows->products * bytes;
  for (guint64 row = from; row < to; row++) {
    const double *uvw = rows->uvw + 3 * row;
    const double path =
        uvw[2] * self->planes.n_middle + uvw[0] * grid->centre_l + uvw[1] * grid->centre_m;
    for (guint c = 0; c < rows->channels; c++) {
      const double turns = path * rows->wavenumbers[c], angle = 2 * G_PI * (turns - rint(turns));
      const double re = cos(angle), im = sin(angle);
      for (guint p = 0; p < rows->products; p++, value += bytes)
        turn(value, rows->is_double, re, im);
    }
  }
}

/* ---- all of it ---- */

static gboolean degrid_channels(Degridding *self, guint first, guint n, gconstpointer images,
                                GError **error)
{
  gpointer corrected = astro_degrid_correct(self->config, self->grid, self->planes.step,
                                            self->rows->products, images);
  gboolean ok = corrected || astro_backend_no_memory(error, "no memory for a model of %u pixels",
                                                     self->grid->image_size);
  if (ok) {
    self->sorted = astro_sorted_new(self->rows, first, n, self->grid, &self->planes,
                                    self->config->threads, error);
    ok = self->sorted != NULL;
  }
  for (guint plane = 0; ok && plane < self->planes.n; plane++) {
    collect_plane(self, plane, corrected);
    ok = astro_backend_goes_on(error);
  }
  if (ok)
    astro_parallel(ASTRO_ROWS_PARTS, self->config->threads, put_part, self);
  g_clear_pointer(&self->sorted, astro_sorted_free);
  free(corrected);
  return ok && astro_backend_goes_on(error);
}

static gboolean degrid_all(Degridding *self, gconstpointer model, GError **error)
{
  const AstroGriddingConfig *config = self->config;
  const guint channels = self->rows->channels / config->channels;
  const gsize image = (gsize)self->grid->image_size * self->grid->image_size *
                      self->rows->products * (config->is_double ? 8 : 4);
  for (guint i = 0; i < config->channels; i++)
    if (!degrid_channels(self, i * channels, channels, (const char *)model + i * image, error))
      return FALSE;
  astro_parallel(ASTRO_ROWS_PARTS, config->threads, turn_part, self);
  return astro_backend_goes_on(error);
}

gboolean astro_degrid(const AstroGriddingConfig *config, const AstroGrid *grid,
                      const AstroGridRows *rows, gconstpointer model, gpointer values,
                      GError **error)
{
  const AstroSpreadKernels *kernels = ASTRO_KERNELS_PICK(variants);
  const guint index = grid->spread.support - ASTRO_SEMICIRCLE_MIN;
  Degridding self = { .config = config, .grid = grid, .rows = rows, .values = values };
  if (!astro_planes_choose(&self.planes, config, grid, rows, error))
    return FALSE;
  self.made = astro_degrid_planes_new(config, grid, rows->products, error);
  if (!self.made)
    return FALSE;
  self.collect =
      config->is_double ? kernels->collect_double[index] : kernels->collect_single[index];
  self.needed = g_new(guint8, (grid->size + ASTRO_BAND_ROWS - 1) / ASTRO_BAND_ROWS + 1);
  self.taps = astro_spread_taps_new();
  astro_spread_taps_fill(self.taps, &grid->spread, config->is_double, self.planes.step == 0);
  const gboolean ok = degrid_all(&self, model, error);
  astro_spread_taps_free(self.taps);
  astro_degrid_planes_free(self.made);
  g_free(self.needed);
  return ok;
}

/* Sorting is done in rooms for a bucket each (buckets.h), which seldom is more than this part of
 * all visibilities. */
#define BUCKET_PART 64
#define ROOM_BYTES 52 /* of a visibility, while its bucket is sorted */

static guint64 scratch_bytes(const AstroGriddingConfig *config, const AstroGrid *grid,
                             guint64 visibilities)
{
  const guint threads = config->threads ? MIN(config->threads, astro_threads()) : astro_threads();
  return threads *
         (astro_degrid_planes_scratch(config, grid) + visibilities * ROOM_BYTES / BUCKET_PART);
}

/* The most is needed while visibilities are sorted: a group each and then once more, where few
 * share one. */
guint64 astro_degrid_bytes(const AstroGriddingConfig *config, const AstroGrid *grid, guint products,
                           guint64 visibilities)
{
  const guint64 real = config->is_double ? 8 : 4;
  const guint64 sorted = 3 * real + 2 * real * products + sizeof(guint16) + sizeof(guint8) +
                         sizeof(guint32) + sizeof(guint16);
  const guint64 cells = (guint64)grid->size * grid->size;
  const guint64 groups = MIN(visibilities, cells / astro_sorted_block(config->is_double));
  const guint64 corrected = (guint64)grid->image_size * grid->image_size * products * real;
  return astro_degrid_planes_bytes(config, grid, products) + corrected + sorted * visibilities +
         2 * groups * sizeof(AstroSortedGroup) + scratch_bytes(config, grid, visibilities);
}
