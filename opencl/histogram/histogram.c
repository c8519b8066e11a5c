/* The opencl backend of histogram: catalogues are prepared on the host, sent to the device and
 * counted there; what the host has counted by the way is added. */
#include "config.h"
#include "core/histogram/check.h"
#include "core/histogram/fields.h"
#include "core/histogram/pair-weights.h"
#include "core/histogram/space.h"
#include "opencl/histogram/counter.h"
#include "opencl/runtime/platforms.h"

#include <string.h>

/* ---- on the device ---- */

gboolean astro_opencl_histogram_put(OpenclCounter *self, gpointer *face, gconstpointer values,
                                    gsize n, gsize bytes, GError **error)
{
  AstroDevice *device = self->place.device;
  return !values || (astro_opencl_alloc(&self->place, "histogram", face, MAX(n, 1), bytes, error) &&
                     device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_UP, *face,
                                               values, n * bytes, error));
}

static gboolean catalogue_send(OpenclCounter *self, OpenclCatalogue *catalogue,
                               const AstroPoints *points, GError **error)
{
  const gsize leaves = points->n_leaves, slots = leaves * LEAF_POINTS;
  if (!astro_opencl_histogram_put(self, &catalogue->positions, points->positions, leaves,
                                  sizeof *points->positions, error) ||
      !astro_opencl_histogram_put(self, &catalogue->bits, points->bits, slots * points->n_bit_words,
                                  sizeof *points->bits, error))
    return FALSE;
  if (points->fields)
    return astro_opencl_histogram_put(self, &catalogue->carried, points->fields, leaves,
                                      sizeof *points->fields, error);
  return !self->counter->config.weighted ||
         astro_opencl_histogram_put(self, &catalogue->carried, points->weights, slots,
                                    sizeof *points->weights, error);
}

static void catalogue_free(OpenclCounter *self, OpenclCatalogue *catalogue)
{
  astro_opencl_free(&self->place, &catalogue->positions);
  astro_opencl_free(&self->place, &catalogue->carried);
  astro_opencl_free(&self->place, &catalogue->bits);
}

static gboolean table_send(OpenclWalk *walk)
{
  const PairTable *table = walk->count.call ? walk->count.call->table : NULL;
  return !table || (astro_opencl_histogram_put(walk->self, &walk->squares, table->squares, table->n,
                                               sizeof *table->squares, walk->error) &&
                    astro_opencl_histogram_put(walk->self, &walk->weights, table->weights, table->n,
                                               sizeof *table->weights, walk->error));
}

/* ---- a count ---- */

static gboolean fetch(OpenclCounter *self, gpointer to, gconstpointer from, gsize bytes,
                      GError **error)
{
  AstroDevice *device = self->place.device;
  return device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_DOWN, to, from, bytes,
                                   error) &&
         astro_opencl_drain(&self->place, error);
}

/* Adds what the device has counted to what the host has. */
static gboolean add_counts(OpenclWalk *walk)
{
  OpenclCounter *self = walk->self;
  const gsize most = MAX(self->values, self->n_sums);
  g_autofree guint64 *values = g_try_new(guint64, most);
  if (!values)
    return astro_backend_no_memory(walk->error,
                                   "no memory for %" G_GSIZE_FORMAT
                                   " counts or sums of a device: expected fewer regions or bins",
                                   most);
  if (!fetch(self, values, self->counts, self->values * sizeof *values, walk->error))
    return FALSE;
  for (gsize k = 0; k < self->values; k++)
    walk->count.counts[k] += values[k];
  if (!walk->count.sums)
    return TRUE;
  if (!fetch(self, values, self->sums, self->n_sums * sizeof *values, walk->error))
    return FALSE;
  for (gsize k = 0; k < self->n_sums; k++)
    walk->count.sums[k] += ((const double *)values)[k];
  return TRUE;
}

static gboolean count_all(OpenclWalk *walk)
{
  OpenclCounter *self = walk->self;
  const AstroPoints *a = walk->count.a, *b = walk->count.b;
  if (!catalogue_send(self, &walk->a, a, walk->error) ||
      (!walk->is_alone && !catalogue_send(self, &walk->b, b, walk->error)) || !table_send(walk) ||
      !astro_opencl_fill(&self->place, self->counts, 0, self->values * sizeof(guint64),
                         walk->error) ||
      (self->sums &&
       !astro_opencl_fill(&self->place, self->sums, 0, self->n_sums * sizeof(double), walk->error)))
    return FALSE;
  if (walk->is_alone)
    walk->b = walk->a;
  walk->rule = count_cell_rule(&walk->count);
  if (!astro_opencl_walk(walk) || !add_counts(walk))
    return FALSE;
  if (walk->is_alone && a->fields)
    fields_forget_order(&self->counter->config, walk->count.sums);
  return TRUE;
}

static gboolean submit(gpointer instance, const AstroBlock *in, guint n_in, const AstroBlock *out,
                       guint n_out, gconstpointer arguments, AstroResult *result, GError **error)
{
  OpenclCounter *self = instance;
  GError *cause = NULL;
  OpenclWalk walk = { .self = self, .is_alone = n_in == 1, .error = &cause };
  if (!count_begin(&walk.count, self->counter, in, n_in, out, n_out, arguments, error))
    return FALSE;
  count_all(&walk);
  astro_opencl_drain(&self->place, NULL); /* what was queued before a failure still reads */
  catalogue_free(self, &walk.a);
  if (!walk.is_alone)
    catalogue_free(self, &walk.b);
  astro_opencl_free(&self->place, &walk.squares);
  astro_opencl_free(&self->place, &walk.weights);
  const gboolean ok = count_end(&walk.count, cause ? NULL : error) && !cause;
  if (cause)
    g_propagate_error(error, cause);
  return ok;
}

/* ---- the instance ---- */

static void destroy(gpointer instance)
{
  OpenclCounter *self = instance;
  gpointer faces[] = { self->rows,   self->columns, self->of_bits,
                       self->counts, self->sums,    self->seeds };
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->place, &faces[i]);
  if (self->whole)
    clReleaseKernel(self->whole);
  if (self->near)
    clReleaseKernel(self->near);
  if (self->place.queue)
    self->place.device->funcs->queue_free(self->place.device, self->place.queue);
  g_free(self->slice);
  histogram_destroy(self->counter);
  g_free(self);
}

static gboolean open_kernels(OpenclCounter *self, GError **error)
{
  const AstroHistogramConfig *config = &self->counter->config;
  g_autofree char *extensions =
      astro_opencl_device_text(astro_opencl_device(self->place.device)->id, CL_DEVICE_EXTENSIONS);
  if (config->weighted && !strstr(extensions, "cl_khr_int64_base_atomics"))
    return astro_backend_refuse(error,
                                "sums of weights need additions of 64 bits, which %s does not have "
                                "(cl_khr_int64_base_atomics)",
                                self->place.device->name);
  const gboolean is_whole =
      config->kind == ASTRO_BINNING_ANGULAR && config->fields == ASTRO_PAIR_FIELDS_NONE;
  return (!is_whole || astro_opencl_whole_open(self, error)) &&
         (!astro_opencl_near_is_wanted(config) || astro_opencl_near_open(self, error));
}

/* The bin rule: squares of edges, and weights of pairs by how many bits they have in common. */
static gboolean put_rule(OpenclCounter *self, GError **error)
{
  const Counter *counter = self->counter;
  const AstroHistogramConfig *config = &counter->config;
  const gboolean in_space = config->kind != ASTRO_BINNING_ANGULAR;
  return astro_opencl_histogram_put(self, &self->rows,
                                    in_space ? counter->rule->rows : counter->squares,
                                    config->n_edges, sizeof(double), error) &&
         astro_opencl_histogram_put(self, &self->columns, in_space ? counter->rule->columns : NULL,
                                    config->n_columns + 1, sizeof(double), error) &&
         astro_opencl_histogram_put(self, &self->of_bits, counter->bits_weights,
                                    32 * config->bits.n_words + 1, sizeof(double), error);
}

static gboolean prepare(OpenclCounter *self, GError **error)
{
  const AstroHistogramConfig *config = &self->counter->config;
  const AstroPlace *place = &self->place;
  self->values = astro_histogram_values(config);
  self->n_sums = config->weighted ? astro_histogram_sums(config) : 0;
  self->slice = g_new(OpenclSeed, OPENCL_SEEDS);
  return (self->place.queue = place->device->funcs->queue_new(place->device, error)) &&
         open_kernels(self, error) && put_rule(self, error) &&
         astro_opencl_alloc(place, "histogram", &self->counts, self->values, sizeof(guint64),
                            error) &&
         (!config->weighted || astro_opencl_alloc(place, "histogram", &self->sums, self->n_sums,
                                                  sizeof(double), error)) &&
         astro_opencl_alloc(place, "histogram", &self->seeds, OPENCL_SEEDS, sizeof(OpenclSeed),
                            error);
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
  .shape = astro_histogram_shape,
  .create = create,
  .submit = submit,
  .destroy = destroy,
};
