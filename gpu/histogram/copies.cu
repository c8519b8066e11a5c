/* Catalogues on the device. A few are kept, as one is counted against many. */
#include "gpu/histogram/copies.h"
#include "gpu/histogram/order.h"

#include "core/backend/threads.h"

#define STAGE_BYTES ((gsize)1 << 20)
#define COPIED_AT_ONCE ((gsize)128 << 10)

guint32 histogram_cells_of(const AstroPoints *points)
{
  return points->n_regions + 2 * MAX(points->n_leaves, 1);
}

gboolean histogram_copies_init(HistogramCopies *copies, const AstroPlace *place, GError **error)
{
  AstroDevice *device = copies->device = place->device;
  copies->threads = place->threads;
  copies->up = device->funcs->queue_new(device, error);
  if (!copies->up ||
      !CUDA_TRY(cudaMallocHost((void **)&copies->stages[0].host, HISTOGRAM_STAGES * STAGE_BYTES)))
    return FALSE;
  for (guint i = 0; i < HISTOGRAM_STAGES; i++) {
    copies->stages[i].host = copies->stages[0].host + i * STAGE_BYTES;
    if (!CUDA_TRY(cudaEventCreateWithFlags(&copies->stages[i].sent, cudaEventDisableTiming)))
      return FALSE;
  }
  for (guint i = 0; i < HISTOGRAM_COPIES; i++)
    if (!CUDA_TRY(cudaEventCreateWithFlags(&copies->copies[i].ready, cudaEventDisableTiming)) ||
        !CUDA_TRY(cudaEventCreateWithFlags(&copies->copies[i].used, cudaEventDisableTiming)))
      return FALSE;
  return TRUE;
}

static void forget(HistogramCopies *copies, HistogramCopy *copy)
{
  if (copy->used)
    cudaEventSynchronize(copy->used);
  if (copy->offsets)
    copies->device->funcs->free(copies->device, copy->offsets);
  copy->offsets = NULL;
  g_clear_pointer(&copy->own_cells, g_free);
  copy->serial = copy->room_cells = copy->room_leaves = copy->n_bit_words = 0;
}

void histogram_copies_free_scratch(HistogramCopies *copies)
{
  if (copies->scratch)
    copies->device->funcs->free(copies->device, copies->scratch);
  copies->scratch = NULL;
  copies->scratch_bytes = 0;
}

void histogram_copies_clear(HistogramCopies *copies)
{
  histogram_copies_free_scratch(copies);
  for (guint i = 0; i < HISTOGRAM_COPIES; i++) {
    HistogramCopy *copy = &copies->copies[i];
    forget(copies, copy);
    if (copy->ready)
      cudaEventDestroy(copy->ready);
    if (copy->used)
      cudaEventDestroy(copy->used);
  }
  for (guint i = 0; i < HISTOGRAM_STAGES; i++)
    if (copies->stages[i].sent)
      cudaEventDestroy(copies->stages[i].sent);
  if (copies->stages[0].host)
    cudaFreeHost(copies->stages[0].host);
  if (copies->up)
    copies->device->funcs->queue_free(copies->device, copies->up);
}

static gboolean has_weights(const AstroPoints *points)
{
  return points->weights || points->held.weight;
}

static gboolean make_room(HistogramCopies *copies, HistogramCopy *copy, const AstroPoints *points,
                          GError **error)
{
  const AstroDeviceFuncs *funcs = copies->device->funcs;
  gsize cells = histogram_cells_of(points), leaves = MAX(points->n_leaves, 1);
  if (copy->room_cells >= cells && copy->room_leaves >= leaves &&
      (copy->weights || !has_weights(points)) && (copy->fields || !points->fields) &&
      (copy->n_bit_words >= points->n_bit_words) && (copy->own_cells || points->cells))
    return TRUE;
  forget(copies, copy);
  /* A little more, as the next catalogue is seldom of exactly the same size. */
  cells += cells / 64;
  leaves += leaves / 64;
  gsize a_leaf = LEAF_POINTS * sizeof(float4) + sizeof(LeafPositions) +
                 (has_weights(points) ? LEAF_POINTS * sizeof(double) : 0) +
                 (points->fields ? sizeof(FieldLeaf) : 0) +
                 LEAF_POINTS * points->n_bit_words * sizeof(guint64);
  if (!funcs->alloc(copies->device, leaves * a_leaf + cells * sizeof(Cell),
                    (gpointer *)&copy->offsets, error))
    return FALSE;
  copy->room_cells = cells;
  copy->room_leaves = leaves;
  copy->positions = (LeafPositions *)(copy->offsets + leaves * LEAF_POINTS);
  copy->cells = (Cell *)(copy->positions + leaves);
  double *more = (double *)(copy->cells + cells);
  copy->weights = has_weights(points) ? more : NULL;
  more += has_weights(points) ? leaves * LEAF_POINTS : 0;
  copy->fields = points->fields ? (FieldLeaf *)more : NULL;
  more += points->fields ? leaves * sizeof(FieldLeaf) / sizeof(double) : 0;
  copy->bits = points->bits ? (guint64 *)more : NULL;
  copy->n_bit_words = points->n_bit_words;
  if (!points->cells && !(copy->own_cells = g_try_new(Cell, cells))) {
    forget(copies, copy);
    return astro_backend_no_memory(error, "no memory on the host for %" G_GSIZE_FORMAT " cells",
                                   cells);
  }
  return TRUE;
}

typedef struct {
  guint8 *to;
  const guint8 *from;
  gsize bytes;
} Part;

static void copy_part(gpointer data, guint64 task)
{
  const Part *part = (const Part *)data;
  gsize first = task * COPIED_AT_ONCE;
  memcpy(part->to + first, part->from + first, MIN(COPIED_AT_ONCE, part->bytes - first));
}

static void copy_parts(HistogramCopies *copies, gpointer to, gconstpointer from, gsize bytes)
{
  Part part = { (guint8 *)to, (const guint8 *)from, bytes };
  astro_parallel((bytes + COPIED_AT_ONCE - 1) / COPIED_AT_ONCE, copies->threads, copy_part, &part);
}

gboolean histogram_copies_send(HistogramCopies *copies, gpointer to, gconstpointer from,
                               gsize bytes, GError **error)
{
  cudaStream_t up = astro_cuda_stream(copies->up);
  for (gsize at = 0; at < bytes; at += STAGE_BYTES) {
    HistogramStage *stage = &copies->stages[copies->next_stage++ % HISTOGRAM_STAGES];
    const gsize n = MIN(STAGE_BYTES, bytes - at);
    if (!CUDA_TRY(cudaEventSynchronize(stage->sent)))
      return FALSE;
    copy_parts(copies, stage->host, (const guint8 *)from + at, n);
    if (!CUDA_TRY(cudaMemcpyAsync((guint8 *)to + at, stage->host, n, cudaMemcpyHostToDevice, up)) ||
        !CUDA_TRY(cudaEventRecord(stage->sent, up)))
      return FALSE;
  }
  return TRUE;
}

/* While a stage is emptied, the next ones are filled. */
gboolean histogram_copies_receive(HistogramCopies *copies, gpointer to, gconstpointer from,
                                  gsize bytes, GError **error)
{
  cudaStream_t up = astro_cuda_stream(copies->up);
  const gsize n_steps = (bytes + STAGE_BYTES - 1) / STAGE_BYTES;
  for (gsize step = 0; step < n_steps + HISTOGRAM_STAGES - 1; step++) {
    if (step < n_steps) {
      HistogramStage *stage = &copies->stages[step % HISTOGRAM_STAGES];
      const gsize at = step * STAGE_BYTES;
      if (!CUDA_TRY(cudaMemcpyAsync(stage->host, (const guint8 *)from + at,
                                    MIN(STAGE_BYTES, bytes - at), cudaMemcpyDeviceToHost, up)) ||
          !CUDA_TRY(cudaEventRecord(stage->sent, up)))
        return FALSE;
    }
    if (step + 1 < HISTOGRAM_STAGES)
      continue;
    const gsize done = step + 1 - HISTOGRAM_STAGES, at = done * STAGE_BYTES;
    HistogramStage *stage = &copies->stages[done % HISTOGRAM_STAGES];
    if (done >= n_steps)
      continue;
    if (!CUDA_TRY(cudaEventSynchronize(stage->sent)))
      return FALSE;
    copy_parts(copies, (guint8 *)to + at, stage->host, MIN(STAGE_BYTES, bytes - at));
  }
  return TRUE;
}

static gboolean send_tree(HistogramCopies *copies, HistogramCopy *copy, const AstroPoints *points,
                          GError **error)
{
  const gsize leaves = points->n_leaves, cells = histogram_cells_of(points);
  return histogram_copies_send(copies, copy->cells, points->cells, cells * sizeof(Cell), error) &&
         histogram_copies_send(copies, copy->positions, points->positions,
                               leaves * sizeof(LeafPositions), error) &&
         (!points->weights ||
          histogram_copies_send(copies, copy->weights, points->weights,
                                leaves * LEAF_POINTS * sizeof(double), error)) &&
         (!points->fields || histogram_copies_send(copies, copy->fields, points->fields,
                                                   leaves * sizeof(FieldLeaf), error)) &&
         (!points->bits ||
          histogram_copies_send(copies, copy->bits, points->bits,
                                leaves * LEAF_POINTS * points->n_bit_words * sizeof(guint64),
                                error));
}

static gboolean send(HistogramCopies *copies, HistogramCopy *copy, const AstroPoints *points,
                     GError **error)
{
  cudaStream_t up = astro_cuda_stream(copies->up);
  const guint cells = histogram_cells_of(points);
  copy->serial = 0;
  if (!CUDA_TRY(cudaEventSynchronize(copy->used)) ||
      !(points->cells ? send_tree : histogram_order)(copies, copy, points, error))
    return FALSE;
  histogram_offsets(copy->cells, cells, copy->positions, copy->offsets, up);
  if (!CUDA_TRY(cudaGetLastError()) || !CUDA_TRY(cudaEventRecord(copy->ready, up)))
    return FALSE;
  copy->serial = points->serial;
  copy->has_weights = has_weights(points);
  copy->has_fields = points->fields != NULL;
  copy->has_bits = points->bits != NULL;
  return TRUE;
}

static HistogramCopy *oldest(HistogramCopies *copies, const HistogramCopy *keep)
{
  HistogramCopy *found = NULL;
  for (guint i = 0; i < HISTOGRAM_COPIES; i++) {
    HistogramCopy *copy = &copies->copies[i];
    if (copy != keep && (!found || copy->turn < found->turn))
      found = copy;
  }
  return found;
}

HistogramCopy *histogram_copies_get(HistogramCopies *copies, const AstroPoints *points,
                                    const HistogramCopy *keep, GError **error)
{
  HistogramCopy *copy = NULL;
  for (guint i = 0; i < HISTOGRAM_COPIES; i++)
    if (copies->copies[i].serial == points->serial)
      copy = &copies->copies[i];
  if (!copy) {
    copy = oldest(copies, keep);
    gboolean has_room = make_room(copies, copy, points, NULL);
    if (!has_room) { /* free the catalogues that might have been of use later */
      for (guint i = 0; i < HISTOGRAM_COPIES; i++)
        if (&copies->copies[i] != keep)
          forget(copies, &copies->copies[i]);
      has_room = make_room(copies, copy, points, error);
    }
    if (!has_room || !send(copies, copy, points, error))
      return NULL;
  }
  copy->turn = ++copies->turn;
  return copy;
}

HistogramTree histogram_copy_tree(const HistogramCopy *copy)
{
  return { copy->cells,
           copy->positions,
           copy->offsets,
           copy->has_weights ? copy->weights : NULL,
           copy->has_fields ? copy->fields : NULL,
           copy->has_bits ? copy->bits : NULL };
}

const Cell *histogram_copy_cells(const HistogramCopy *copy, const AstroPoints *points)
{
  return points->cells ? points->cells : copy->own_cells;
}
