/* Adds dumps of visibilities to those that are prepared on an OpenCL device. */
#include "config.h"
#include "opencl/gridder/prepare-instance.h"

#include <string.h>

/* As in prepare.cl. */
typedef struct {
  AstroProduct products[ASTRO_MAX_PRODUCTS];
  double axes[3][3];
  double reach, centre_l, centre_m, centre_n_minus_1, full;
  cl_uint channels, baselines, pairs, correlations, n_products;
  cl_int used[4];
  cl_uint channel_group, channel_stride, baseline_group, baseline_stride, pol[4];
  cl_uint has_counts, has_given, has_weights, has_factors;
} Run;
G_STATIC_ASSERT(sizeof(AstroProduct) == 88 && ASTRO_MAX_PRODUCTS == 5 && sizeof(Run) % 8 == 0);

typedef struct {
  cl_uint rows, channels, group, groups, products, has_weights;
} Sums;

static gpointer at(gpointer face, gsize bytes)
{
  return face ? (guint8 *)face + bytes : NULL;
}

/* Nothing is copied where all samples are good. */
static gboolean send_counts(AstroPrepare *self, AstroDumpCounts *counts, GError **error)
{
  const gsize bytes = counts->n * sizeof *counts->counts;
  astro_dumps_forget_whole(counts);
  if (!counts->counts)
    return TRUE;
  if (bytes > self->counts_bytes) {
    astro_opencl_free(&self->place, &self->counts);
    self->counts_bytes = 0;
    if (!astro_opencl_prepare_alloc(self, &self->counts, bytes, error))
      return FALSE;
    self->counts_bytes = bytes;
  }
  if (!astro_opencl_upload(&self->place, self->counts, counts->counts, bytes, error))
    return FALSE;
  __atomic_fetch_add(&self->place.device->bytes_up, bytes, __ATOMIC_RELAXED);
  return TRUE;
}

/* A part of a buffer need not be aligned to whole values. */
static gboolean align(AstroPrepare *self, gpointer *dump, GError **error)
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const gsize value = config->format == ASTRO_FORMAT_CF64LE ? 16 : 8;
  const gsize bytes =
      (gsize)config->channels * config->baselines * config->pols * config->pols * value;
  if ((gsize)*dump % value == 0)
    return TRUE;
  if ((!self->aligned && !astro_opencl_prepare_alloc(self, &self->aligned, bytes, error)) ||
      !astro_opencl_copy(&self->place, self->aligned, *dump, bytes, error))
    return FALSE;
  *dump = self->aligned;
  return TRUE;
}

static gboolean send_uvw(AstroPrepare *self, const double *uvw, GError **error)
{
  const gsize bytes = 3 * (gsize)self->dumps.config.baselines * sizeof *uvw;
  return (self->given || astro_opencl_prepare_alloc(self, &self->given, bytes, error)) &&
         astro_opencl_upload(&self->place, self->given, uvw, bytes, error);
}

static void describe(const AstroPrepare *self, const AstroDumpCounts *counts, Run *run)
{
  const AstroDumps *dumps = &self->dumps;
  run->channels = dumps->config.channels;
  run->baselines = dumps->config.baselines;
  run->pairs = self->dumps.pairs;
  run->correlations = dumps->config.pols * dumps->config.pols;
  run->n_products = dumps->n_products;
  memcpy(run->products, dumps->products, sizeof run->products);
  for (guint p = 0; p < dumps->n_products; p++)
    for (guint k = 0; k < 4; k++)
      run->used[k] |= dumps->products[p].used[k];
  run->reach = ((dumps->grid.size - dumps->grid.spread.support) / 2.0 - 1) *
               dumps->grid.cell; /* astro_grid_holds */
  run->centre_l = dumps->grid.centre_l;
  run->centre_m = dumps->grid.centre_m;
  run->centre_n_minus_1 = dumps->centre_n_minus_1;
  run->has_counts = counts->counts != NULL;
  run->full = counts->full;
  run->channel_group = counts->channel.group;
  run->channel_stride = counts->channel.stride;
  run->baseline_group = counts->baseline.group;
  run->baseline_stride = counts->baseline.stride;
  memcpy(run->pol, counts->pol, sizeof run->pol);
  run->has_weights = (cl_uint)dumps->config.keep_weights;
  run->has_factors = dumps->config.keep_weights && !self->wide_values;
}

static gboolean launch(const AstroPrepare *self, guint kernel, const AstroOpenclArgument *arguments,
                       guint n_arguments, guint64 items, GError **error)
{
  return astro_opencl_launch_items(&self->place, self->kernels[kernel], arguments, n_arguments,
                                   items, ASTRO_OPENCL_TOTALS_ITEMS, error);
}

static gboolean prepare(AstroPrepare *self, gpointer dump, const Run *run, GError **error)
{
  const AstroDumps *dumps = &self->dumps;
  const gsize first = self->rows * dumps->groups;
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(dump),
    OPENCL_FACE(run->has_counts ? self->counts : NULL),
    OPENCL_FACE(self->positions),
    OPENCL_FACE(self->wavenumbers),
    OPENCL_FACE(run->has_given ? self->given : NULL),
    OPENCL_FACE(at(self->uvw, self->rows * 3 * sizeof(double))),
    OPENCL_FACE(self->wide_values ? self->wide_values
                                  : at(self->values, first * astro_opencl_visibility_bytes(dumps))),
    OPENCL_FACE(self->wide_weights ? self->wide_weights : at(self->weights, first * sizeof(float))),
    OPENCL_FACE(run->has_factors ? at(self->factors, first * sizeof(float)) : NULL),
    OPENCL_FACE(self->fates),
    OPENCL_FACE(self->shares),
    OPENCL_VALUE(*run),
  };
  return launch(self, PREPARE, arguments, G_N_ELEMENTS(arguments),
                (guint64)self->dumps.pairs * run->channels, error);
}

static gboolean count(AstroPrepare *self, GError **error)
{
  const cl_uint pairs = self->dumps.pairs, channels = self->dumps.config.channels;
  const AstroOpenclArgument arguments[] = { OPENCL_FACE(self->fates), OPENCL_FACE(self->shares),
                                            OPENCL_FACE(self->totals), OPENCL_VALUE(pairs),
                                            OPENCL_VALUE(channels) };
  return launch(self, COUNT, arguments, G_N_ELEMENTS(arguments),
                (guint64)channels * ASTRO_OPENCL_TOTALS_ITEMS, error);
}

/* Adds up the channels of a dump that has just been prepared, into the places of its rows. */
static gboolean add_up(AstroPrepare *self, GError **error)
{
  const AstroDumps *dumps = &self->dumps;
  const gsize first = self->rows * dumps->groups;
  const Sums sums = {
    self->dumps.pairs, dumps->config.channels, dumps->group,
    dumps->groups,     dumps->n_products,      (cl_uint)dumps->config.keep_weights
  };
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(self->wide_values),
    OPENCL_FACE(at(self->values, first * astro_opencl_visibility_bytes(dumps))),
    OPENCL_FACE(self->wide_weights),
    OPENCL_FACE(at(self->weights, first * sizeof(float))),
    OPENCL_FACE(at(self->factors, first * sizeof(float))),
    OPENCL_VALUE(sums),
  };
  return !self->wide_values || launch(self, ADD_UP, arguments, G_N_ELEMENTS(arguments),
                                      (guint64)self->dumps.pairs * dumps->groups, error);
}

gboolean astro_opencl_prepare_add(AstroPrepare *self, gpointer dump,
                                  const AstroValidityMeta *validity, const AstroLayout *shape,
                                  guint64 number, gint64 middle_ns, const double *uvw,
                                  GError **error)
{
  AstroDumpCounts counts = { 0 };
  Run run = { .has_given = uvw != NULL };
  astro_dumps_count(&counts, validity, shape, number);
  if (!send_counts(self, &counts, error) || !align(self, &dump, error) ||
      (uvw && !send_uvw(self, uvw, error)))
    return FALSE;
  if (!uvw)
    astro_track_axes(self->dumps.track, middle_ns, run.axes);
  describe(self, &counts, &run);
  return prepare(self, dump, &run, error) && count(self, error) && add_up(self, error);
}
