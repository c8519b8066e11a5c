/* Visibilities prepared on the device: memory for them, copies from the host, and counts. */
#include "gpu/gridder/prepare-tiles.h"

#include <string.h>

enum { FIRST_VALUES = 1 << 20 }; /* room to begin with */

struct _AstroPrepare {
  AstroDumps dumps;
  AstroPlace place;
  double *positions, *wavenumbers, *group_wavenumbers;
  AstroCudaTotals *totals;
  gpointer staging, counts; /* counts of good samples, page-locked and on the device */
  gsize counts_bytes;
  gboolean staging_is_locked;
  AstroEvent *staged; /* staging has been read */

  guint64 rows, capacity;
  double *uvw;
  float *weights, *factors; /* NULL unless keep_weights */
  gpointer values;
  /* A dump's rows of all channels, where those of a row are sums of several; else NULL. */
  gpointer wide_values;
  float *wide_weights;
  gpointer aligned; /* a copy of a dump that is not aligned for loads */
  double *given;    /* (u,v,w) that a dump brings; NULL: none has brought any */
};

static cudaStream_t stream_of(const AstroPrepare *self)
{
  return astro_cuda_stream(self->place.queue);
}

static gboolean alloc(const AstroPrepare *self, gpointer face, gsize bytes, GError **error)
{
  return self->place.device->funcs->alloc(self->place.device, MAX(bytes, 1), (gpointer *)face,
                                          error);
}

/* ---- room ---- */

struct Held {
  gpointer *place;
  gsize bytes; /* of a row */
};

static guint what_is_held(AstroPrepare *self, Held held[4])
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const gsize n = self->dumps.groups;
  held[0] = Held{ (gpointer *)&self->uvw, 3 * sizeof(double) };
  held[1] = Held{ &self->values, n * self->dumps.n_products * (config->is_double ? 16 : 8) };
  held[2] = Held{ (gpointer *)&self->weights, n * sizeof(float) };
  held[3] = Held{ (gpointer *)&self->factors, n * sizeof(float) };
  return config->keep_weights ? 4 : 2;
}

static gboolean grow(AstroPrepare *self, guint64 capacity, GError **error)
{
  Held held[4];
  const guint n = what_is_held(self, held);
  for (guint k = 0; k < n; k++) {
    gpointer larger = NULL;
    if (!alloc(self, &larger, capacity * held[k].bytes, error))
      return FALSE;
    if (self->rows && !CUDA_TRY(cudaMemcpyAsync(larger, *held[k].place, self->rows * held[k].bytes,
                                                cudaMemcpyDeviceToDevice, stream_of(self)))) {
      astro_cuda_free(&self->place, &larger);
      return FALSE;
    }
    astro_cuda_free(&self->place, held[k].place); /* waits for the copy */
    *held[k].place = larger;
  }
  self->capacity = capacity;
  return TRUE;
}

/* Twice as much each time or, if there is not as much, what is needed. */
static gboolean make_room(AstroPrepare *self, GError **error)
{
  const guint64 wanted = self->rows + self->dumps.pairs;
  const guint64 first = FIRST_VALUES / ((guint64)self->dumps.groups * self->dumps.n_products);
  if (wanted <= self->capacity)
    return TRUE;
  if (grow(self, MAX(MAX(wanted, first), 2 * self->capacity), NULL) || grow(self, wanted, error))
    return TRUE;
  g_prefix_error(error, "%" G_GUINT64_FORMAT " rows of visibilities are to be held: ", wanted);
  return FALSE;
}

/* ---- dumps ---- */

static gboolean wait_for_staging(AstroPrepare *self, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  AstroEvent *staged = self->staged;
  self->staged = NULL;
  if (!staged)
    return TRUE;
  const gboolean ok = funcs->event_wait(self->place.device, staged, error);
  funcs->event_free(self->place.device, staged);
  return ok;
}

static void free_staging(AstroPrepare *self)
{
  wait_for_staging(self, NULL);
  if (self->staging_is_locked)
    self->place.device->funcs->unlock_host(self->place.device, self->staging);
  g_aligned_free(self->staging);
  astro_cuda_free(&self->place, &self->counts);
  self->staging = NULL;
  self->staging_is_locked = FALSE;
  self->counts_bytes = 0;
}

/* Counts are copied from a page-locked block, so that nobody waits for the queue. Nothing is copied
 * where all samples are good. */
static gboolean send_counts(AstroPrepare *self, AstroDumpCounts *counts, GError **error)
{
  const AstroDeviceFuncs *funcs = self->place.device->funcs;
  const gsize bytes = counts->n * sizeof *counts->counts, page = 4096;
  astro_dumps_forget_whole(counts);
  if (!counts->counts)
    return TRUE;
  if (!wait_for_staging(self, error))
    return FALSE;
  if (bytes > self->counts_bytes) {
    free_staging(self);
    if (!alloc(self, &self->counts, bytes, error))
      return FALSE;
    self->staging = g_aligned_alloc(1, (bytes + page - 1) / page * page, page);
    self->staging_is_locked = funcs->lock_host(self->place.device, self->staging, bytes, NULL);
    self->counts_bytes = bytes;
  }
  memcpy(self->staging, counts->counts, bytes);
  counts->counts = (const guint32 *)self->counts;
  if (!CUDA_TRY(cudaMemcpyAsync(self->counts, self->staging, bytes, cudaMemcpyHostToDevice,
                                stream_of(self))))
    return FALSE;
  __atomic_fetch_add(&self->place.device->bytes_up, bytes, __ATOMIC_RELAXED);
  self->staged = funcs->event_record(self->place.device, self->place.queue, error);
  return self->staged != NULL;
}

/* A part of a buffer need not be aligned to whole values, which are loaded at once. */
static gboolean align(AstroPrepare *self, gconstpointer *dump, GError **error)
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const gsize value = config->format == ASTRO_FORMAT_CF64LE ? 16 : 8;
  const gsize bytes =
      (gsize)config->channels * config->baselines * config->pols * config->pols * value;
  if ((gsize)*dump % value == 0)
    return TRUE;
  if ((!self->aligned && !alloc(self, &self->aligned, bytes, error)) ||
      !CUDA_TRY(
          cudaMemcpyAsync(self->aligned, *dump, bytes, cudaMemcpyDeviceToDevice, stream_of(self))))
    return FALSE;
  *dump = self->aligned;
  return TRUE;
}

/* From pageable memory, since few streams bring them; the call has read it when it returns. */
static gboolean send_uvw(AstroPrepare *self, const double *uvw, GError **error)
{
  const gsize bytes = 3 * (gsize)self->dumps.config.baselines * sizeof *uvw;
  return (self->given || alloc(self, &self->given, bytes, error)) &&
         CUDA_TRY(
             cudaMemcpyAsync(self->given, uvw, bytes, cudaMemcpyHostToDevice, stream_of(self)));
}

static void describe(AstroPrepare *self, PrepareRun *work)
{
  const AstroDumps *dumps = &self->dumps;
  const gsize visibility = dumps->n_products * (dumps->config.is_double ? 16 : 8);
  const gsize first = self->rows * dumps->groups;
  work->channels = dumps->config.channels;
  work->baselines = dumps->config.baselines;
  work->pairs = self->dumps.pairs;
  work->correlations = dumps->config.pols * dumps->config.pols;
  work->n_products = dumps->n_products;
  memcpy(work->products, dumps->products, sizeof work->products);
  for (guint p = 0; p < dumps->n_products; p++)
    for (guint k = 0; k < 4; k++)
      work->used[k] |= dumps->products[p].used[k];
  work->positions = self->positions;
  work->wavenumbers = self->wavenumbers;
  work->reach = ((dumps->grid.size - dumps->grid.spread.support) / 2.0 - 1) *
                dumps->grid.cell; /* astro_grid_holds */
  work->centre_l = dumps->grid.centre_l;
  work->centre_m = dumps->grid.centre_m;
  work->centre_n_minus_1 = dumps->centre_n_minus_1;
  work->uvw = self->uvw + 3 * self->rows;
  work->values =
      self->wide_values ? self->wide_values : (guint8 *)self->values + first * visibility;
  if (dumps->config.keep_weights) {
    work->weights = self->wide_weights ? self->wide_weights : self->weights + first;
    work->factors = self->wide_weights ? NULL : self->factors + first;
  }
  work->totals = self->totals;
}

/* Adds up the channels of a dump that has just been prepared, into the places of its rows. */
static gboolean add_up(AstroPrepare *self, GError **error)
{
  const AstroDumps *dumps = &self->dumps;
  const gsize first = self->rows * dumps->groups;
  PrepareSums sums = {};
  if (!self->wide_values)
    return TRUE;
  sums.rows = self->dumps.pairs;
  sums.channels = dumps->config.channels;
  sums.group = dumps->group;
  sums.groups = dumps->groups;
  sums.products = dumps->n_products;
  sums.values = self->wide_values;
  sums.to = (guint8 *)self->values + first * dumps->n_products * (dumps->config.is_double ? 16 : 8);
  if (dumps->config.keep_weights) {
    sums.weights = self->wide_weights;
    sums.to_weights = self->weights + first;
    sums.to_factors = self->factors + first;
  }
  return astro_prepare_sums(&sums, dumps->config.is_double, stream_of(self), error);
}

static gboolean add(AstroPrepare *self, gconstpointer dump, const AstroValidityMeta *validity,
                    const AstroLayout *shape, guint64 number, gint64 middle_ns, const double *uvw,
                    GError **error)
{
  const gboolean from_double = self->dumps.config.format == ASTRO_FORMAT_CF64LE;
  PrepareRun work = {};
  if (self->dumps.pairs == 0)
    return TRUE;
  if (!make_room(self, error))
    return FALSE;
  astro_dumps_count(&work.counts, validity, shape, number);
  if (!send_counts(self, &work.counts, error) || !align(self, &dump, error) ||
      (uvw && !send_uvw(self, uvw, error)))
    return FALSE;
  work.dump = dump;
  if (uvw)
    work.given = self->given;
  else
    astro_track_axes(self->dumps.track, middle_ns, work.axes);
  describe(self, &work);
  self->dumps.totals.are_known = FALSE;
  if (!astro_prepare_tiles(&work, from_double, self->dumps.config.is_double, stream_of(self),
                           error) ||
      !add_up(self, error))
    return FALSE;
  self->rows += self->dumps.pairs;
  return TRUE;
}

static void add_missing(AstroPrepare *self)
{
  astro_dumps_miss(&self->dumps);
}

/* ---- what is held ---- */

static void rows_of(AstroPrepare *self, AstroGridRows *rows)
{
  rows->rows = self->rows;
  rows->channels = self->dumps.groups;
  rows->products = self->dumps.n_products;
  rows->is_double = self->dumps.config.is_double;
  rows->uvw = self->uvw;
  rows->wavenumbers = self->group_wavenumbers;
  rows->values = self->values;
}

static gboolean weigh(AstroPrepare *self, AstroWeighting weighting, double robust,
                      gboolean per_channel, GError **error)
{
  AstroCudaWeights weights = {};
  AstroGridRows rows;
  rows_of(self, &rows);
  weights.weighting = weighting;
  weights.robust = robust;
  weights.per_channel = per_channel;
  weights.grid = &self->dumps.grid;
  weights.weights = self->weights;
  weights.factors = self->factors;
  weights.values = self->values;
  weights.totals = self->totals;
  weights.n_totals = self->dumps.config.channels;
  self->dumps.totals.are_known &= weighting == ASTRO_WEIGHTING_NATURAL;
  return astro_cuda_weights_apply(&weights, &rows, &self->place, error);
}

static gboolean totals_of(AstroPrepare *self, const AstroGridCounts **counts, const double **sums,
                          GError **error)
{
  const guint channels = self->dumps.config.channels;
  *counts = &self->dumps.totals.counts;
  *sums = self->dumps.totals.sums;
  if (self->dumps.totals.are_known)
    return TRUE;
  g_autofree AstroCudaTotals *totals = g_new(AstroCudaTotals, channels);
  if (!CUDA_TRY(cudaMemcpyAsync(totals, self->totals, channels * sizeof *totals,
                                cudaMemcpyDeviceToHost, stream_of(self))) ||
      !CUDA_TRY(cudaStreamSynchronize(stream_of(self))))
    return FALSE;
  astro_dumps_begin_totals(&self->dumps);
  for (guint c = 0; c < channels; c++) {
    const AstroGridCounts of_channel = { totals[c].used, totals[c].outside, totals[c].flagged,
                                         totals[c].not_finite };
    astro_dumps_add_totals(&self->dumps, c, totals[c].weights.value(), &of_channel);
  }
  return TRUE;
}

static void forget_rows(AstroPrepare *self)
{
  self->rows = 0;
}

static void drop_rows(AstroPrepare *self)
{
  Held held[4];
  what_is_held(self, held);
  for (guint k = 0; k < 4; k++)
    astro_cuda_free(&self->place, held[k].place);
  self->rows = self->capacity = 0;
}

static gboolean reset_counts(AstroPrepare *self, GError **error)
{
  astro_dumps_forget_missing(&self->dumps);
  return CUDA_TRY(cudaMemsetAsync(
      self->totals, 0, self->dumps.config.channels * sizeof *self->totals, stream_of(self)));
}

/* ---- instances ---- */

static void destroy(AstroPrepare *self)
{
  drop_rows(self);
  free_staging(self);
  astro_cuda_free(&self->place, &self->positions);
  astro_cuda_free(&self->place, &self->wavenumbers);
  astro_cuda_free(&self->place, &self->group_wavenumbers);
  astro_cuda_free(&self->place, &self->wide_values);
  astro_cuda_free(&self->place, &self->wide_weights);
  astro_cuda_free(&self->place, &self->totals);
  astro_cuda_free(&self->place, &self->aligned);
  astro_cuda_free(&self->place, &self->given);
  astro_dumps_clear(&self->dumps);
  g_free(self);
}

static gboolean send_doubles(AstroPrepare *self, double **to, const double *from, gsize n,
                             GError **error)
{
  return alloc(self, to, n * sizeof *from, error) &&
         CUDA_TRY(
             cudaMemcpyAsync(*to, from, n * sizeof *from, cudaMemcpyHostToDevice, stream_of(self)));
}

/* Room for one dump's rows of all channels. */
static gboolean make_wide(AstroPrepare *self, GError **error)
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const gsize n = (gsize)self->dumps.pairs * config->channels;
  return self->dumps.group == 1 ||
         (alloc(self, &self->wide_values, n * self->dumps.n_products * (config->is_double ? 16 : 8),
                error) &&
          (!config->keep_weights || alloc(self, &self->wide_weights, n * sizeof(float), error)));
}

static AstroPrepare *create(const AstroPrepareConfig *config, const AstroGrid *grid,
                            AstroObservation *observation, const AstroPlace *place, GError **error)
{
  AstroPrepare *self = g_new0(AstroPrepare, 1);
  self->place = *place;
  if (astro_dumps_init(&self->dumps, config, grid, observation, error)) {
    if (send_doubles(self, &self->positions, observation->positions,
                     3 * (gsize)self->dumps.stations, error) &&
        send_doubles(self, &self->wavenumbers, self->dumps.wavenumbers, config->channels, error) &&
        send_doubles(self, &self->group_wavenumbers, self->dumps.group_wavenumbers,
                     self->dumps.groups, error) &&
        make_wide(self, error) &&
        alloc(self, &self->totals, config->channels * sizeof *self->totals, error) &&
        reset_counts(self, error))
      return self;
  }
  destroy(self);
  return NULL;
}

const AstroPrepareFuncs astro_cuda_prepare_funcs = {
  .create = create,
  .destroy = destroy,
  .add = add,
  .add_missing = add_missing,
  .rows = rows_of,
  .weigh = weigh,
  .totals = totals_of,
  .forget_rows = forget_rows,
  .drop_rows = drop_rows,
  .reset_counts = reset_counts,
};
