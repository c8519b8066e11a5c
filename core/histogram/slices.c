/* Orders points that memory does not hold: a sample of them tells where to cut, then each point is
 * written to its slice. */
#include "core/histogram/slices.h"

#include "core/histogram/halve.h"
#include "core/kit/fail.h"

#include <math.h>
#include <stdlib.h>

#define MOST_SAMPLES 16384
#define MOST_SLICES 16384
#define BUFFER_BYTES (2u << 20) /* of all slices together */
#define POINTS_AT_ONCE 1024
/* Slices are cut by a sample, and so are not of equal size. */
#define FILL 0.8

typedef struct {
  Slices *slices;
  gboolean in_space;
  guint threads;
  AstroStoppable work;
  AstroVector *places; /* of a chunk */
  const AstroCatalogue *chunk;
  guint axis;
  guint64 step; /* every so many points are sampled */
  double *sample[3];
  guint n_samples;
  double *cuts;    /* n_slices - 1, where slices end */
  double *buffers; /* rows on their way to their slices */
  guint64 rows_in_buffer;
  guint64 *n_buffered, *n_written; /* by slice */
  AstroSpill *to;
} Order;

static void place_points(gpointer data, guint64 task)
{
  const Order *order = data;
  const AstroCatalogue *chunk = order->chunk;
  const guint64 first = task * POINTS_AT_ONCE, last = MIN(first + POINTS_AT_ONCE, chunk->n);
  for (guint64 i = first; i < last; i++) {
    double *x = order->places[i].x;
    astro_unit_vector(chunk->ra[i], chunk->dec[i], &x[0], &x[1], &x[2]);
    for (guint axis = 0; axis < 3 && order->in_space; axis++)
      x[axis] *= chunk->distance[i];
  }
}

static gboolean place_chunk(Order *order, const AstroCatalogue *chunk, GError **error)
{
  if (astro_is_stopped(&order->work))
    return astro_fail(error, ASTRO_HISTOGRAM_ERROR, ASTRO_HISTOGRAM_ERROR_CANCELLED,
                      "stopped while points were being ordered along the sky");
  order->chunk = chunk;
  astro_parallel((chunk->n + POINTS_AT_ONCE - 1) / POINTS_AT_ONCE, order->threads, place_points,
                 order);
  return TRUE;
}

/* ---- where to cut ---- */

static gboolean take_samples(gpointer data, const AstroCatalogue *chunk, guint64 first,
                             GError **error)
{
  Order *order = data;
  if (!place_chunk(order, chunk, error))
    return FALSE;
  for (guint64 i = (order->step - first % order->step) % order->step; i < chunk->n;
       i += order->step, order->n_samples++)
    for (guint axis = 0; axis < 3; axis++)
      order->sample[axis][order->n_samples] = order->places[i].x[axis];
  return TRUE;
}

static gint compare(gconstpointer a, gconstpointer b)
{
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void choose_cuts(Order *order)
{
  const guint last = order->n_samples - 1, n_slices = order->slices->n_slices;
  for (guint axis = 0; axis < 3; axis++) {
    qsort(order->sample[axis], order->n_samples, sizeof(double), compare);
    const double *sample = order->sample[axis], *widest = order->sample[order->axis];
    if (sample[last] - sample[0] > widest[last] - widest[0])
      order->axis = axis;
  }
  order->cuts = g_new(double, n_slices);
  for (guint s = 0; s + 1 < n_slices; s++)
    order->cuts[s] = order->sample[order->axis][(guint64)(s + 1) * order->n_samples / n_slices];
}

/* A point at a cut is in the slice behind it. */
static guint slice_of(const Order *order, double x)
{
  guint least = 0, above = order->slices->n_slices;
  while (above - least > 1) {
    const guint middle = (least + above) / 2;
    if (x >= order->cuts[middle - 1])
      least = middle;
    else
      above = middle;
  }
  return least;
}

/* ---- into slices ---- */

static gboolean measure_chunk(gpointer data, const AstroCatalogue *chunk, guint64 first,
                              GError **error)
{
  Order *order = data;
  if (!place_chunk(order, chunk, error))
    return FALSE;
  for (guint64 i = 0; i < chunk->n; i++) {
    const double *x = order->places[i].x;
    Slice *slice = &order->slices->slices[slice_of(order, x[order->axis])];
    for (guint axis = 0; axis < 3; axis++) {
      slice->low[axis] = slice->n ? MIN(slice->low[axis], x[axis]) : x[axis];
      slice->high[axis] = slice->n ? MAX(slice->high[axis], x[axis]) : x[axis];
    }
    slice->n++;
  }
  return TRUE;
}

static gboolean write_buffer(Order *order, guint s, GError **error)
{
  const guint n_columns = astro_spill_n_columns(order->to);
  const gboolean good = astro_spill_put(
      order->to, order->slices->slices[s].first + order->n_written[s],
      order->buffers + s * order->rows_in_buffer * n_columns, order->n_buffered[s], error);
  order->n_written[s] += order->n_buffered[s];
  order->n_buffered[s] = 0;
  return good;
}

static gboolean move_chunk(gpointer data, const AstroCatalogue *chunk, guint64 first,
                           GError **error)
{
  Order *order = data;
  AstroCatalogue from = *chunk;
  const guint n_columns = astro_spill_n_columns(order->to);
  if (!place_chunk(order, chunk, error))
    return FALSE;
  for (guint64 i = 0; i < chunk->n; i++) {
    const guint s = slice_of(order, order->places[i].x[order->axis]);
    double *row = order->buffers + (s * order->rows_in_buffer + order->n_buffered[s]++) * n_columns;
    for (guint c = 0; c < ASTRO_CATALOGUE_COLUMNS; c++)
      if (astro_spill_columns(order->to) & 1u << c)
        *row++ = (*astro_catalogue_column(&from, c))[i];
    if (order->n_buffered[s] == order->rows_in_buffer && !write_buffer(order, s, error))
      return FALSE;
  }
  return TRUE;
}

static gboolean move_all(Order *order, const AstroSpill *spill, GError **error)
{
  Slices *slices = order->slices;
  const guint n_slices = slices->n_slices;
  guint64 first = 0;
  for (guint s = 0; s < n_slices; first += slices->slices[s++].n)
    slices->slices[s].first = first;
  order->to = slices->spill = astro_spill_new(astro_spill_columns(spill), error);
  if (!order->to)
    return FALSE;
  const gsize row_bytes = astro_spill_n_columns(spill) * sizeof(double);
  order->rows_in_buffer = MAX(BUFFER_BYTES / row_bytes / n_slices, 1);
  order->buffers = g_try_malloc_n(n_slices, order->rows_in_buffer * row_bytes);
  if (!order->buffers)
    return astro_catalogue_no_memory(error, order->rows_in_buffer * n_slices);
  if (!astro_spill_visit(spill, move_chunk, order, error))
    return FALSE;
  for (guint s = 0; s < n_slices; s++)
    if (!write_buffer(order, s, error))
      return FALSE;
  return TRUE;
}

/* Where many points have one coordinate, a slice is too large: it is cut into equal parts, which
 * have its box. Empty slices go. */
static void cut_large(Slices *slices, guint64 most)
{
  g_autofree Slice *whole = g_steal_pointer(&slices->slices);
  guint64 n = 0;
  for (guint s = 0; s < slices->n_slices; s++)
    n += (whole[s].n + most - 1) / most;
  slices->slices = g_new(Slice, n);
  const guint n_whole = slices->n_slices;
  slices->n_slices = 0;
  for (guint s = 0; s < n_whole; s++) {
    const guint64 parts = (whole[s].n + most - 1) / most;
    for (guint64 p = 0; p < parts; p++) {
      const guint64 from = whole[s].n * p / parts, to = whole[s].n * (p + 1) / parts;
      Slice *part = &slices->slices[slices->n_slices++];
      *part = whole[s];
      part->first += from;
      part->n = to - from;
    }
  }
}

/* ---- all of it ---- */

static gboolean order_points(Order *order, const AstroSpill *spill, GError **error)
{
  const guint n_slices = order->slices->n_slices;
  order->places = g_new(AstroVector, ASTRO_SPILL_CHUNK);
  for (guint axis = 0; axis < 3; axis++)
    order->sample[axis] = g_new(double, MOST_SAMPLES + 1);
  order->n_buffered = g_new0(guint64, n_slices);
  order->n_written = g_new0(guint64, n_slices);
  if (!astro_spill_visit(spill, take_samples, order, error))
    return FALSE;
  choose_cuts(order);
  return astro_spill_visit(spill, measure_chunk, order, error) && move_all(order, spill, error);
}

Slices *slices_new(AstroSpill *spill, gboolean in_space, guint64 most, guint threads,
                   const AstroStop *stop, GError **error)
{
  g_autoptr(AstroSpill) from = spill;
  const guint64 n = astro_spill_points(spill);
  const double wanted = ceil((double)n / (FILL * (double)most));
  g_autoptr(Slices) slices = g_new0(Slices, 1);
  slices->n_slices = (guint)CLAMP(wanted, 1, MIN(MOST_SLICES, (double)n));
  slices->slices = g_new0(Slice, slices->n_slices);
  Order order = { .slices = slices,
                  .in_space = in_space,
                  .threads = threads,
                  .work = { .stop = stop },
                  .step = n / MOST_SAMPLES + 1 };
  const gboolean good = order_points(&order, from, error);
  g_free(order.places);
  for (guint axis = 0; axis < 3; axis++)
    g_free(order.sample[axis]);
  g_free(order.cuts);
  g_free(order.buffers);
  g_free(order.n_buffered);
  g_free(order.n_written);
  if (!good)
    return NULL;
  cut_large(slices, most);
  return g_steal_pointer(&slices);
}

void slices_free(Slices *slices)
{
  if (!slices)
    return;
  astro_spill_free(slices->spill);
  g_free(slices->slices);
  g_free(slices);
}

/* More than the rounding errors of unit vectors, boxes and edges. */
#define MARGIN 1e-9

gboolean slices_may_meet(const Slice *a, const Slice *b, double reach)
{
  double square = 0, largest = 0;
  for (guint axis = 0; axis < 3; axis++) {
    const double gap = MAX(MAX(a->low[axis] - b->high[axis], b->low[axis] - a->high[axis]), 0);
    square += gap * gap;
    largest = MAX(largest, MAX(fabs(a->low[axis]), fabs(a->high[axis])));
    largest = MAX(largest, MAX(fabs(b->low[axis]), fabs(b->high[axis])));
  }
  return sqrt(square) <= reach * (1 + MARGIN) + largest * MARGIN;
}
