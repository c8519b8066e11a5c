/* The opencl backend of histogram. The host walks the trees as far down as cells of some hundred
 * points, and counts cells as a whole whose pairs all fall between two edges; the device counts the
 * pairs of the others, a slice of the walk at a time, for which the host waits. */
#include "config.h"
#include "core/histogram/bounds.h"
#include "core/histogram/check.h"
#include "core/histogram/count.h"
#include "core/histogram/deal.h"
#include "opencl/runtime/opencl.h"
#include "opencl/runtime/platforms.h"

#include <string.h>

static const char text[] =
#include "opencl/histogram/histogram.cl.h"
    ;

#define GROUP 64         /* as in histogram.cl */
#define MOST_POINTS 512  /* of a cell that the device counts */
#define MOST_SEEDS 16384 /* of a slice */
#define MOST_PAIRS 1e11  /* of a slice: a second of work, more or less */

/* As in histogram.cl. */
typedef struct {
  cl_uint a, n_a, b, n_b;
  cl_uint first, last;
  cl_uint region;
  cl_uint is_self;
} Seed;

/* A catalogue on the device; weights are NULL if there are none. */
typedef struct {
  gpointer positions, weights;
} Catalogue;

typedef struct {
  Counter *counter;
  AstroPlace place;
  gsize values;
  cl_kernel kernel;
  gpointer squares, counts, sums, seeds; /* on the device */
  Seed *slice;
  guint n_seeds;
  guint64 pairs; /* of the slice, and of cells that were counted as a whole */
} OpenclCounter;

typedef struct {
  OpenclCounter *self;
  Count count;
  gboolean is_alone;
  Catalogue a, b;
  GError **error;
} Walk;

/* ---- on the device ---- */

/* Host memory must stay as it is until the queue is drained. */
static gboolean send(OpenclCounter *self, gpointer to, gconstpointer from, gsize bytes,
                     GError **error)
{
  AstroDevice *device = self->place.device;
  return device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_UP, to, from, bytes,
                                   error);
}

static gboolean fetch(OpenclCounter *self, gpointer to, gconstpointer from, gsize bytes,
                      GError **error)
{
  AstroDevice *device = self->place.device;
  return device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_DOWN, to, from, bytes,
                                   error) &&
         astro_opencl_drain(&self->place, error);
}

static gboolean catalogue_send(OpenclCounter *self, Catalogue *catalogue, const AstroPoints *points,
                               GError **error)
{
  const gsize leaves = points->n_leaves, weights = leaves * LEAF_POINTS;
  if (!astro_opencl_alloc(&self->place, "histogram", &catalogue->positions, MAX(leaves, 1),
                          sizeof *points->positions, error) ||
      !send(self, catalogue->positions, points->positions, leaves * sizeof *points->positions,
            error))
    return FALSE;
  return !self->counter->config.weighted || !points->weights ||
         (astro_opencl_alloc(&self->place, "histogram", &catalogue->weights, MAX(weights, 1),
                             sizeof *points->weights, error) &&
          send(self, catalogue->weights, points->weights, weights * sizeof *points->weights,
               error));
}

static void catalogue_free(OpenclCounter *self, Catalogue *catalogue)
{
  astro_opencl_free(&self->place, &catalogue->positions);
  astro_opencl_free(&self->place, &catalogue->weights);
}

/* Counts the slice, and waits for it. FALSE: it failed, or the count was cancelled. */
static gboolean run_slice(Walk *walk)
{
  OpenclCounter *self = walk->self;
  const cl_uint n_edges = self->counter->config.n_edges;
  const cl_uint has_weights = (walk->a.weights ? 1u : 0u) | (walk->b.weights ? 2u : 0u);
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(self->seeds),       OPENCL_FACE(self->squares),   OPENCL_FACE(walk->a.positions),
    OPENCL_FACE(walk->b.positions), OPENCL_FACE(walk->a.weights), OPENCL_FACE(walk->b.weights),
    OPENCL_FACE(self->counts),      OPENCL_FACE(self->sums),      OPENCL_VALUE(n_edges),
    OPENCL_VALUE(has_weights)
  };
  const AstroOpenclRange range = { 1, { (gsize)self->n_seeds * GROUP }, { GROUP } };
  if (!send(self, self->seeds, self->slice, self->n_seeds * sizeof *self->slice, walk->error) ||
      !astro_opencl_launch(&self->place, self->kernel, arguments, G_N_ELEMENTS(arguments), &range,
                           walk->error) ||
      !astro_opencl_drain(&self->place, walk->error))
    return FALSE;
  count_report(&walk->count, self->pairs);
  self->n_seeds = 0;
  self->pairs = 0;
  return !count_is_cancelled(&walk->count);
}

/* ---- the walk ---- */

static gboolean add_seed(Walk *walk, const Cell *a, const Cell *b, guint region, Edges edges)
{
  OpenclCounter *self = walk->self;
  const gboolean is_self = walk->is_alone && a == b;
  self->slice[self->n_seeds++] = (Seed){ .a = a->first_leaf * LEAF_POINTS,
                                         .n_a = (cl_uint)a->n,
                                         .b = b->first_leaf * LEAF_POINTS,
                                         .n_b = (cl_uint)b->n,
                                         .first = edges.first,
                                         .last = edges.last,
                                         .region = region,
                                         .is_self = (cl_uint)is_self };
  self->pairs += is_self ? a->n * (a->n - 1) / 2 : a->n * b->n;
  return (self->n_seeds < MOST_SEEDS && (double)self->pairs < MOST_PAIRS) || run_slice(walk);
}

static void add_whole(Walk *walk, const Cell *a, const Cell *b, guint region, guint place)
{
  const guint n_bins = walk->self->counter->config.n_edges - 1;
  const gsize value = (gsize)region * n_bins + place - 1;
  walk->self->pairs += a->n * b->n;
  if (place < 1 || place > n_bins)
    return;
  walk->count.counts[value] += a->n * b->n;
  if (walk->count.sums)
    walk->count.sums[value] += a->weight * b->weight;
}

/* FALSE: it failed, or the count was cancelled. */
static gboolean visit(Walk *walk, const Cell *a, const Cell *b, guint region, Edges edges)
{
  const Counter *counter = walk->self->counter;
  const gboolean is_self = walk->is_alone && a == b;
  const Cell *const cells_a = walk->count.a->cells, *const cells_b = walk->count.b->cells;
  if (!is_self) {
    edges = narrow(counter->squares, a, b, edges);
    if (edges.first == edges.last && counter->config.method != ASTRO_PAIR_METHOD_BRUTE) {
      add_whole(walk, a, b, region, edges.first);
      return TRUE;
    }
  }
  if (a->n <= MOST_POINTS && b->n <= MOST_POINTS)
    return add_seed(walk, a, b, region, edges);
  /* Cells of similar size are both split. */
  const gboolean split_a = a->left && (a->n > MOST_POINTS || a->n >= b->n),
                 split_b = b->left && (b->n > MOST_POINTS || b->n >= a->n);
  const Cell *as = split_a ? &cells_a[a->left] : a, *bs = split_b ? &cells_b[b->left] : b;
  for (guint i = 0; i <= (guint)split_a; i++)
    for (guint j = is_self ? i : 0; j <= (guint)split_b; j++)
      if (!visit(walk, as + i, bs + j, region, edges))
        return FALSE;
  return TRUE;
}

static gboolean visit_tops(Walk *walk, guint64 i, guint64 j)
{
  const AstroPoints *a = walk->count.a, *b = walk->count.b;
  const Top *top_a = &a->tops[i], *top_b = &b->tops[j];
  const guint region = top_a->region * a->n_regions + top_b->region;
  const Edges edges = { 0, walk->self->counter->config.n_edges };
  return visit(walk, &a->cells[top_a->cell], &b->cells[top_b->cell], region, edges);
}

/* All pairs of tops, or those that are dealt to this instance. */
static gboolean visit_all(Walk *walk)
{
  const AstroHistogramCall *call = walk->count.call;
  guint64 i, j;
  gboolean is_own;
  if (call && call->deal) {
    while (histogram_deal_take(call->deal, call->lane, &i, &j, &is_own))
      if (!visit_tops(walk, i, j))
        return FALSE;
    return TRUE;
  }
  for (i = 0; i < walk->count.a->n_tops; i++)
    for (j = walk->is_alone ? i : 0; j < walk->count.b->n_tops; j++)
      if (!visit_tops(walk, i, j))
        return FALSE;
  return TRUE;
}

/* ---- the backend ---- */

/* Adds what the device has counted to what the host has. */
static gboolean add_counts(Walk *walk)
{
  OpenclCounter *self = walk->self;
  const gsize bytes = self->values * sizeof(guint64);
  g_autofree guint64 *values = g_malloc(bytes);
  if (!fetch(self, values, self->counts, bytes, walk->error))
    return FALSE;
  for (gsize k = 0; k < self->values; k++)
    walk->count.counts[k] += values[k];
  if (!walk->count.sums)
    return TRUE;
  if (!fetch(self, values, self->sums, bytes, walk->error))
    return FALSE;
  for (gsize k = 0; k < self->values; k++)
    walk->count.sums[k] += ((const double *)values)[k];
  return TRUE;
}

static gboolean count_all(Walk *walk)
{
  OpenclCounter *self = walk->self;
  const gsize bytes = self->values * sizeof(guint64);
  if (!catalogue_send(self, &walk->a, walk->count.a, walk->error) ||
      (!walk->is_alone && !catalogue_send(self, &walk->b, walk->count.b, walk->error)) ||
      !astro_opencl_fill(&self->place, self->counts, 0, bytes, walk->error) ||
      (self->sums && !astro_opencl_fill(&self->place, self->sums, 0, bytes, walk->error)))
    return FALSE;
  if (walk->is_alone)
    walk->b = walk->a;
  return visit_all(walk) && run_slice(walk) && add_counts(walk);
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  OpenclCounter *self = instance;
  GError *cause = NULL;
  Walk walk = { .self = self, .is_alone = n_in == 1, .error = &cause };
  if (!count_begin(&walk.count, self->counter, in, n_in, out, n_out, arguments, error))
    return FALSE;
  self->n_seeds = 0;
  self->pairs = 0;
  count_all(&walk);
  astro_opencl_drain(&self->place, NULL); /* what was queued before a failure still reads */
  catalogue_free(self, &walk.a);
  if (!walk.is_alone)
    catalogue_free(self, &walk.b);
  const gboolean ok = count_end(&walk.count, cause ? NULL : error) && !cause;
  if (cause)
    g_propagate_error(error, cause);
  return ok;
}

static void destroy(gpointer instance)
{
  OpenclCounter *self = instance;
  const gpointer faces[] = { self->squares, self->counts, self->sums, self->seeds };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    if (faces[i])
      self->place.device->funcs->free(self->place.device, faces[i]);
  if (self->kernel)
    clReleaseKernel(self->kernel);
  if (self->place.queue)
    self->place.device->funcs->queue_free(self->place.device, self->place.queue);
  g_free(self->slice);
  histogram_destroy(self->counter);
  g_free(self);
}

static gboolean open_kernel(OpenclCounter *self, GError **error)
{
  const gboolean weighted = self->counter->config.weighted;
  const AstroOpenclProgram program = { "histogram", text, TRUE };
  g_autofree char *extensions =
      astro_opencl_device_text(astro_opencl_device(self->place.device)->id, CL_DEVICE_EXTENSIONS);
  if (weighted && !strstr(extensions, "cl_khr_int64_base_atomics"))
    return astro_backend_refuse(error,
                                "sums of weights need additions of 64 bits, which %s does not have "
                                "(cl_khr_int64_base_atomics)",
                                self->place.device->name);
  self->kernel = astro_opencl_kernel(self->place.device, &program, weighted ? "-DWEIGHTED" : "",
                                     "count_pairs", error);
  return self->kernel != NULL;
}

static gboolean prepare(OpenclCounter *self, GError **error)
{
  const AstroHistogramConfig *config = &self->counter->config;
  const AstroPlace *place = &self->place;
  self->values = astro_histogram_values(config);
  self->slice = g_new(Seed, MOST_SEEDS);
  return (self->place.queue = place->device->funcs->queue_new(place->device, error)) &&
         open_kernel(self, error) &&
         astro_opencl_alloc(place, "histogram", &self->squares, config->n_edges, sizeof(double),
                            error) &&
         astro_opencl_alloc(place, "histogram", &self->counts, self->values, sizeof(guint64),
                            error) &&
         (!config->weighted || astro_opencl_alloc(place, "histogram", &self->sums, self->values,
                                                  sizeof(double), error)) &&
         astro_opencl_alloc(place, "histogram", &self->seeds, MOST_SEEDS, sizeof(Seed), error) &&
         send(self, self->squares, self->counter->squares, config->n_edges * sizeof(double), error);
}

/* The queue is its own, as it is waited for while blocks of other work may be queued. */
static gpointer create(gconstpointer config, const AstroPlace *place, const char **variant,
                       GError **error)
{
  Counter *counter = histogram_create(config, place, NULL, error);
  if (!counter)
    return NULL;
  OpenclCounter *self = g_new0(OpenclCounter, 1);
  self->counter = counter;
  self->place = *place;
  self->place.queue = NULL;
  if (variant)
    *variant = "cells";
  if (prepare(self, error))
    return self;
  destroy(self);
  return NULL;
}

const AstroBackend astro_opencl_histogram = {
  .stage = "histogram",
  .kind = ASTRO_BACKEND_OPENCL,
  .config_bytes = sizeof(AstroHistogramConfig),
  .shape = astro_histogram_shape_angular,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
