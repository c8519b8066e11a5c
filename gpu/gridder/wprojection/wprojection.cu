/* W-projection on the device: memory, tables, and the order of the steps. Records wait until there
 * is no room for those of another piece of rows, so that many are added up before they are spread.
 * The records of a piece are counted first; the host waits for their number, and for nothing else.
 */
#include "gpu/gridder/wprojection/wprojection.h"

#include <math.h>

enum { LEAST_STAGED = 12 /* cells of a support */ };
/* Memory of records. */
#define LEAST_MEMORY ((guint64)512 << 20)
#define MOST_MEMORY ((guint64)2 << 30)
/* The most records of a segment, where taps are interpolated. Those of a piece are counted in 32
 * bits. */
#define MOST_OF_SEGMENT (8 * WPROJECTION_SEGMENT)

struct _AstroGridding {
  AstroPlace place;
  AstroWProjectionConfig config; /* its taps are device memory */
  guint grids;                   /* channels that have grids of their own */
  gboolean is_double, interpolated, deterministic;
  gint multiprocessors, shared_bytes; /* 0: the bulk copy engine is not used */
  guint n_classes, supports[WPROJECTION_CLASSES], strides[WPROJECTION_CLASSES];
  gint taps_exponent; /* all taps are less than 2 to this power */
  WProjectionKeys keys;
  guint64 capacity, n; /* records */
  guint64 piece;       /* segments that are collected at once */

  gpointer tables; /* all taps, then planes, their classes and AstroTaps */
  const guint8 *class_of_plane;
  gpointer block; /* memory of all that follows */
  guint64 *keys_in, *keys_out, *largest, *spread;
  guint32 *indices_in, *indices_out, *block_counts, *class_starts;
  gpointer values, sums, scratch;
  guint8 *counts; /* of segments */
  gsize scratch_bytes;
  WProjectionRecord *records;
  gint64 *fixed;
  guint32 *counted; /* host */
};

static cudaStream_t stream_of(const AstroGridding *self)
{
  return astro_cuda_stream(self->place.queue);
}

/* ---- memory ---- */

static gsize value_bytes(const AstroGridding *self)
{
  return self->config.products * (self->is_double ? sizeof(double2) : sizeof(float2));
}

static gsize grid_cells(const AstroGridding *self)
{
  return (gsize)self->config.size * self->config.size * self->config.products * self->grids;
}

/* Divides the block at that address, or counts the bytes that are needed if it is NULL. */
static gsize lay_out(AstroGridding *self, guint8 *block)
{
  gsize at = 0;
  auto take = [&](auto *&piece, gsize bytes) {
    piece = (std::remove_reference_t<decltype(piece)>)(block + at);
    at += (bytes + 255) / 256 * 256;
  };
  take(self->keys_in, self->capacity * sizeof *self->keys_in);
  take(self->keys_out, self->capacity * sizeof *self->keys_out);
  take(self->indices_in, self->capacity * sizeof *self->indices_in);
  take(self->indices_out, self->capacity * sizeof *self->indices_out);
  take(self->values, self->capacity * value_bytes(self));
  take(self->sums, self->capacity * value_bytes(self));
  take(self->records, self->capacity * sizeof *self->records);
  take(self->scratch, self->scratch_bytes);
  take(self->counts, self->capacity);
  take(self->block_counts, (wprojection_blocks(self->capacity) + 1) * sizeof *self->block_counts);
  take(self->class_starts, (WPROJECTION_CLASSES + 1) * sizeof *self->class_starts);
  take(self->largest, sizeof *self->largest);
  take(self->spread, sizeof *self->spread);
  take(self->fixed, self->deterministic ? grid_cells(self) * 2 * sizeof *self->fixed : 0);
  return at;
}

static guint bits_for(guint n)
{
  return n > 1 ? g_bit_storage(n - 1) : 0;
}

/* Sets all that follows from the configuration and the size of the table. */
static void set_up(AstroGridding *self, const AstroGriddingConfig *config, const AstroGrid *grid,
                   guint planes, guint64 taps_bytes)
{
  self->config.size = grid->size;
  self->config.cell = grid->cell;
  self->config.products = g_strv_length(grid->products);
  self->grids = MAX(config->channels, 1);
  self->is_double = config->is_double;
  self->deterministic = config->deterministic;
  self->keys = { bits_for(WPROJECTION_CLASSES + 1), bits_for(self->grids),
                 MAX(bits_for(grid->size), (guint)WProjectionKeys::STRIP_BITS),
                 bits_for(planes * grid->spread.oversampling * grid->spread.oversampling) };
  /* A quarter of the memory of grids and tables, within limits. */
  const guint64 of_record = 2 * value_bytes(self) + 2 * (8 + 4) + sizeof(WProjectionRecord);
  const guint64 memory =
      (grid_cells(self) * value_bytes(self) / self->config.products + taps_bytes) / 4;
  self->capacity = CLAMP(memory, LEAST_MEMORY, MOST_MEMORY) / of_record;
  self->piece = MIN(self->capacity, G_MAXUINT32 / MOST_OF_SEGMENT);
}

static guint64 bytes(const AstroGriddingConfig *config, const AstroGrid *grid)
{
  const AstroTapsConfig taps = astro_wprojection_taps(config, grid);
  const guint64 tables = astro_taps_bytes(&taps);
  AstroGridding self = {};
  set_up(&self, config, grid, astro_taps_planes(&taps), tables);
  self.scratch_bytes = wprojection_sort_bytes(self.capacity, self.keys.bits());
  return tables + lay_out(&self, NULL);
}

static gboolean check_memory(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, GError **error)
{
  AstroDeviceMemory memory;
  const guint64 needed = bytes(config, grid);
  if (!place->device->funcs->memory(place->device, &memory, error))
    return FALSE;
  if (needed <= memory.free)
    return TRUE;
  g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
              "wprojection: convolution functions and records need %" G_GUINT64_FORMAT
              " bytes of the device's memory, %" G_GSIZE_FORMAT " of %" G_GSIZE_FORMAT " are free",
              needed, memory.free, memory.whole);
  return FALSE;
}

/* ---- tables ---- */

static gboolean classify(AstroGridding *self, const AstroTaps *taps, guint8 *class_of_plane,
                         GError **error)
{
  guint widest = 0;
  for (guint i = 0; i < taps->n_planes; i++) {
    const AstroTapsPlane *plane = &taps->planes[i];
    guint clas = 0;
    widest = MAX(widest, plane->support);
    while (clas < self->n_classes && self->supports[clas] != plane->support)
      clas++;
    if (clas == WPROJECTION_CLASSES)
      return astro_backend_refuse(error, "w-planes have more than %d different supports",
                                  WPROJECTION_CLASSES);
    self->supports[clas] = plane->support;
    self->strides[clas] = plane->stride;
    self->n_classes = MAX(self->n_classes, clas + 1);
    class_of_plane[i] = (guint8)clas;
  }
  self->keys.classes = bits_for(self->n_classes);
  if (self->config.size < widest || self->config.size >= G_MAXUINT16)
    return astro_backend_refuse(error, "the grid is %u cells wide, expected %u to %d",
                                self->config.size, widest, G_MAXUINT16 - 1);
  if (self->keys.bits() > 64 || self->keys.grids > 16)
    return astro_backend_refuse(
        error,
        "places of %u grids of %u cells by as many and %u w-planes take %u bits, "
        "expected at most 64 bits and 65536 grids",
        self->grids, self->config.size, taps->n_planes, self->keys.bits());
  return TRUE;
}

static gint exponent_of(const AstroTaps *taps)
{
  double largest = 0;
  for (guint i = 0; i < taps->n_planes; i++) {
    const AstroTapsPlane *plane = &taps->planes[i];
    const gsize n = 2 * plane->set * taps->oversampling * taps->oversampling;
    for (gsize k = 0; k < n; k++)
      largest = MAX(largest, fabs(taps->is_double ? ((const double *)plane->taps)[k]
                                                  : (double)((const float *)plane->taps)[k]));
  }
  return largest > 0 ? ilogb(largest) + 1 : 0;
}

/* With the zeros around its sets, in whole lines. */
static gsize plane_bytes(const AstroTaps *taps, guint plane)
{
  return astro_taps_length(&taps->planes[plane], taps->oversampling) * (taps->is_double ? 16 : 8);
}

static gboolean send_taps(AstroGridding *self, const AstroTaps *taps, GError **error)
{
  const gsize each = taps->is_double ? sizeof(double2) : sizeof(float2);
  g_autofree AstroTapsPlane *planes = g_new(AstroTapsPlane, taps->n_planes);
  g_autofree guint8 *class_of_plane = g_new(guint8, taps->n_planes);
  AstroTaps copy = *taps;
  gsize length = 0;

  if (!classify(self, taps, class_of_plane, error))
    return FALSE;
  for (guint i = 0; i < taps->n_planes; i++)
    length += plane_bytes(taps, i);
  const gsize planes_bytes = taps->n_planes * sizeof *planes;
  if (!self->place.device->funcs->alloc(self->place.device,
                                        length + sizeof copy + planes_bytes + taps->n_planes,
                                        &self->tables, error))
    return FALSE;
  guint8 *at = (guint8 *)self->tables;
  for (guint i = 0; i < taps->n_planes; i++) {
    const gsize front = astro_taps_front(&taps->planes[i]) * each;
    planes[i] = taps->planes[i];
    planes[i].block = NULL;
    planes[i].taps = at + front;
    if (!CUDA_TRY(cudaMemcpyAsync(at, (const guint8 *)taps->planes[i].taps - front,
                                  plane_bytes(taps, i), cudaMemcpyHostToDevice, stream_of(self))))
      return FALSE;
    at += plane_bytes(taps, i);
  }
  self->config.taps = (const AstroTaps *)at;
  copy.planes = (AstroTapsPlane *)(at + sizeof copy);
  self->class_of_plane = at + sizeof copy + planes_bytes;
  return CUDA_TRY(
             cudaMemcpyAsync(at, &copy, sizeof copy, cudaMemcpyHostToDevice, stream_of(self))) &&
         CUDA_TRY(cudaMemcpyAsync(copy.planes, planes, planes_bytes, cudaMemcpyHostToDevice,
                                  stream_of(self))) &&
         CUDA_TRY(cudaMemcpyAsync((gpointer)self->class_of_plane, class_of_plane, taps->n_planes,
                                  cudaMemcpyHostToDevice, stream_of(self)));
}

/* ---- spreading ---- */

static gboolean flush(AstroGridding *self, gpointer grid, GError **error)
{
  const guint blocks = wprojection_blocks(self->n);
  if (self->n == 0)
    return TRUE;
  const WProjectionMerge merge = {
    self->config.taps,
    self->keys,
    self->config.products,
    self->is_double,
    self->n,
    self->capacity,
    self->keys_in,
    self->keys_out,
    self->indices_in,
    self->indices_out,
    self->values,
    self->scratch,
    self->scratch_bytes,
    self->block_counts,
    self->records,
    self->sums,
    self->class_starts,
    self->spread,
    self->deterministic ? self->largest : NULL,
  };
  WProjectionSpread spread = { self->records, self->sums };
  spread.size = self->config.size;
  spread.products = self->config.products;
  spread.is_double = self->is_double;
  spread.capacity = self->capacity;
  spread.grid = grid;
  spread.multiprocessors = self->multiprocessors;
  spread.shared_bytes = (guint)self->shared_bytes;
  if (self->deterministic)
    spread.fixed = { self->fixed, self->largest, self->taps_exponent,
                     (gint)g_bit_storage(self->n) };
  if (!wprojection_merge(&merge, stream_of(self), error))
    return FALSE;
  for (guint clas = 0; clas < self->n_classes; clas++) {
    spread.range = self->class_starts + clas;
    spread.support = self->supports[clas];
    spread.stride = self->strides[clas];
    for (spread.product = 0; spread.product < spread.products; spread.product += spread.group) {
      spread.group = wprojection_group(spread.product, spread.products);
      if (!(self->shared_bytes && spread.support >= LEAST_STAGED
                ? wprojection_spread_staged(&spread, self->n, stream_of(self), error)
                : wprojection_spread(&spread, self->n, stream_of(self), error)))
        return FALSE;
    }
  }
  self->n = 0;
  return !self->deterministic || wprojection_unfix(&spread.fixed, grid, 2 * grid_cells(self),
                                                   self->is_double, stream_of(self), error);
}

/* ---- collecting ---- */

/* Counts the records of the segments. */
static gboolean count(AstroGridding *self, const WProjectionCollect *collect, guint64 *n,
                      GError **error)
{
  if (!wprojection_count(collect, stream_of(self), error) ||
      !CUDA_TRY(cudaMemcpyAsync(self->counted, self->block_counts + wprojection_blocks(collect->n),
                                sizeof *self->counted, cudaMemcpyDeviceToHost, stream_of(self))) ||
      !CUDA_TRY(cudaStreamSynchronize(stream_of(self))))
    return FALSE;
  *n = *self->counted;
  return TRUE;
}

/* How many segments to try after so many made too many records: at least as many as there is room
 * for in any case. */
static guint64 fewer_segments(const AstroGridding *self, guint64 segments, guint64 records)
{
  const guint64 least = self->capacity / (WPROJECTION_SEGMENT * (self->interpolated ? 8 : 1));
  return MAX((guint64)(0.9 * segments * self->capacity / records), least);
}

static gboolean add(AstroGridding *self, const AstroGridRows *rows, gpointer grid, GError **error)
{
  const guint channels = rows->channels / self->grids;
  WProjectionCollect collect = { self->config, self->class_of_plane, self->interpolated, self->keys,
                                 *rows };
  collect.wide = value_bytes(self) % 16 == 0 && (guintptr)rows->values % 16 == 0;
  collect.channels = channels;
  collect.segments = (channels + WPROJECTION_SEGMENT - 1) / WPROJECTION_SEGMENT * self->grids;
  collect.counts = self->counts;
  collect.block_counts = self->block_counts;
  collect.to_keys = self->keys_in;
  collect.to_indices = self->indices_in;
  collect.to_values = self->values;

  const guint64 end = rows->rows * collect.segments;
  for (; collect.first < end; collect.first += collect.n) {
    guint64 n;
    collect.n = MIN(end - collect.first, self->piece);
    if (!count(self, &collect, &n, error))
      return FALSE;
    if (n > self->capacity) {
      self->piece = fewer_segments(self, collect.n, n);
      collect.n = 0;
      continue;
    }
    if (self->n + n > self->capacity &&
        (!flush(self, grid, error) || !wprojection_count(&collect, stream_of(self), error)))
      return FALSE;
    collect.base = self->n;
    if (n && !wprojection_collect(&collect, stream_of(self), error))
      return FALSE;
    self->n += n;
  }
  return TRUE;
}

static gboolean count_spread(AstroGridding *self, guint64 *spread, GError **error)
{
  return CUDA_TRY(cudaMemcpyAsync(spread, self->spread, sizeof *spread, cudaMemcpyDeviceToHost,
                                  stream_of(self))) &&
         CUDA_TRY(cudaStreamSynchronize(stream_of(self)));
}

/* ---- life ---- */

static void destroy(AstroGridding *self)
{
  astro_cuda_free(&self->place, &self->tables);
  astro_cuda_free(&self->place, &self->block);
  if (self->counted)
    cudaFreeHost(self->counted);
  g_free(self);
}

static gboolean know_device(AstroGridding *self, GError **error)
{
  const gint device = self->place.device->index;
  gboolean can_stage = FALSE;
  if (!CUDA_TRY(
          cudaDeviceGetAttribute(&self->multiprocessors, cudaDevAttrMultiProcessorCount, device)))
    return FALSE;
  if (self->is_double || g_strcmp0(g_getenv("ASTRO_CUDA"), "teams") == 0)
    return TRUE;
  return wprojection_can_stage(&can_stage, error) &&
         (!can_stage || CUDA_TRY(cudaDeviceGetAttribute(
                            &self->shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device)));
}

static gboolean start(AstroGridding *self, const AstroTaps *taps, GError **error)
{
  self->interpolated = taps->interpolated;
  self->taps_exponent = self->deterministic ? exponent_of(taps) : 0;
  if (!send_taps(self, taps, error))
    return FALSE;
  self->scratch_bytes = wprojection_sort_bytes(self->capacity, self->keys.bits());
  if (!self->place.device->funcs->alloc(self->place.device, lay_out(self, NULL), &self->block,
                                        error))
    return FALSE;
  lay_out(self, (guint8 *)self->block);
  return know_device(self, error) &&
         CUDA_TRY(cudaMallocHost((void **)&self->counted, sizeof *self->counted)) &&
         CUDA_TRY(cudaMemsetAsync(self->spread, 0, sizeof *self->spread, stream_of(self))) &&
         (!self->deterministic ||
          CUDA_TRY(cudaMemsetAsync(self->fixed, 0, grid_cells(self) * 2 * sizeof *self->fixed,
                                   stream_of(self))));
}

static AstroGridding *create(const AstroGriddingConfig *config, const AstroGrid *grid,
                             const AstroPlace *place, const char **variant, GError **error)
{
  const AstroTapsConfig taps_config = astro_wprojection_taps(config, grid);
  if (!check_memory(config, grid, place, error))
    return NULL;
  g_autoptr(AstroTaps) taps = astro_taps_build(&taps_config, error);
  if (!taps)
    return NULL;
  AstroGridding *self = g_new0(AstroGridding, 1);
  self->place = *place;
  set_up(self, config, grid, taps->n_planes, taps->bytes);
  if (!start(self, taps, error)) {
    destroy(self);
    return NULL;
  }
  if (self->shared_bytes)
    *variant = self->deterministic ? "staged-deterministic" : "staged";
  else
    *variant = self->deterministic ? "teams-deterministic" : "teams";
  return self;
}

const AstroGridAlgorithm astro_cuda_wprojection = {
  .name = "wprojection",
  .bytes = bytes,
  .create = create,
  .add = add,
  .finish = flush,
  .destroy = destroy,
  .count = count_spread,
};
