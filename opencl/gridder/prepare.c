/* Visibilities prepared on an OpenCL device: memory for them, kernels, and counts. */
#include "config.h"
#include "opencl/gridder/prepare.h"

#include <string.h>

static const char text[] =
#include "opencl/gridder/totals.cl.h"
#include "opencl/gridder/prepare.cl.h"
    ;

#define FIRST_VALUES (1u << 20) /* room to begin with */

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

enum { PREPARE, COUNT, ADD_UP, N_KERNELS };

struct _AstroPrepare {
  AstroDumps dumps;
  AstroPlace place;
  guint pairs; /* baselines between two stations: rows of a dump */
  cl_kernel kernels[N_KERNELS];
  gpointer positions, wavenumbers, group_wavenumbers, totals;
  gpointer fates, shares; /* of a dump's visibilities */
  gpointer counts;        /* of good samples */
  gsize counts_bytes;

  guint64 rows, capacity;
  gpointer uvw, weights, factors, values; /* weights and factors: NULL unless keep_weights */
  /* A dump's rows of all channels, where those of a row are sums of several; else NULL. */
  gpointer wide_values, wide_weights;
  gpointer aligned; /* a copy of a dump that is not aligned for loads */
  gpointer given;   /* (u,v,w) that a dump brings; NULL: none has brought any */

  gboolean totals_known; /* known and sums are what totals says */
  AstroGridCounts known;
  double *sums;
  guint64 missing; /* visibilities of lost dumps, which count as flagged */
};

static gboolean alloc(const AstroPrepare *self, gpointer face, gsize bytes, GError **error)
{
  return astro_opencl_alloc(&self->place, "gridder", face, MAX(bytes, 1), 1, error);
}

static gsize visibility_bytes(const AstroDumps *dumps)
{
  return dumps->n_products * (dumps->config.is_double ? 16 : 8);
}

static gpointer at(gpointer face, gsize bytes)
{
  return face ? (guint8 *)face + bytes : NULL;
}

/* ---- room ---- */

typedef struct {
  gpointer *face;
  gsize bytes; /* of a row */
} Held;

static guint what_is_held(AstroPrepare *self, Held held[4])
{
  const gsize n = self->dumps.groups;
  held[0] = (Held){ &self->uvw, 3 * sizeof(double) };
  held[1] = (Held){ &self->values, n * visibility_bytes(&self->dumps) };
  held[2] = (Held){ &self->weights, n * sizeof(float) };
  held[3] = (Held){ &self->factors, n * sizeof(float) };
  return self->dumps.config.keep_weights ? 4 : 2;
}

static gboolean grow(AstroPrepare *self, guint64 capacity, GError **error)
{
  Held held[4];
  const guint n = what_is_held(self, held);
  for (guint k = 0; k < n; k++) {
    gpointer larger = NULL;
    if (!alloc(self, &larger, capacity * held[k].bytes, error))
      return FALSE;
    if (self->rows && !astro_opencl_copy(&self->place, larger, *held[k].face,
                                         self->rows * held[k].bytes, error)) {
      astro_opencl_free(&self->place, &larger);
      return FALSE;
    }
    astro_opencl_free(&self->place, held[k].face);
    *held[k].face = larger;
  }
  self->capacity = capacity;
  return TRUE;
}

/* Twice as much each time or, if there is not as much, what is needed. */
static gboolean make_room(AstroPrepare *self, GError **error)
{
  const guint64 wanted = self->rows + self->pairs;
  const guint64 first = FIRST_VALUES / ((guint64)self->dumps.groups * self->dumps.n_products);
  if (wanted <= self->capacity)
    return TRUE;
  if (grow(self, MAX(MAX(wanted, first), 2 * self->capacity), NULL) || grow(self, wanted, error))
    return TRUE;
  g_prefix_error(error, "%" G_GUINT64_FORMAT " rows of visibilities are to be held: ", wanted);
  return FALSE;
}

/* ---- dumps ---- */

static gboolean lost_nothing(const AstroDumpCounts *counts)
{
  for (guint64 i = 0; i < counts->n; i++)
    if (counts->counts[i] != counts->full)
      return FALSE;
  return TRUE;
}

/* Nothing is copied where all samples are good. */
static gboolean send_counts(AstroPrepare *self, AstroDumpCounts *counts, GError **error)
{
  const gsize bytes = counts->n * sizeof *counts->counts;
  if (counts->counts && lost_nothing(counts))
    counts->counts = NULL;
  if (!counts->counts)
    return TRUE;
  if (bytes > self->counts_bytes) {
    astro_opencl_free(&self->place, &self->counts);
    self->counts_bytes = 0;
    if (!alloc(self, &self->counts, bytes, error))
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
  if ((!self->aligned && !alloc(self, &self->aligned, bytes, error)) ||
      !astro_opencl_copy(&self->place, self->aligned, *dump, bytes, error))
    return FALSE;
  *dump = self->aligned;
  return TRUE;
}

static gboolean send_uvw(AstroPrepare *self, const double *uvw, GError **error)
{
  const gsize bytes = 3 * (gsize)self->dumps.config.baselines * sizeof *uvw;
  return (self->given || alloc(self, &self->given, bytes, error)) &&
         astro_opencl_upload(&self->place, self->given, uvw, bytes, error);
}

static void describe(const AstroPrepare *self, const AstroDumpCounts *counts, Run *run)
{
  const AstroDumps *dumps = &self->dumps;
  run->channels = dumps->config.channels;
  run->baselines = dumps->config.baselines;
  run->pairs = self->pairs;
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
  const AstroOpenclRange range = { 1, { items }, { ASTRO_OPENCL_TOTALS_ITEMS } };
  return astro_opencl_launch(&self->place, self->kernels[kernel], arguments, n_arguments, &range,
                             error);
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
                                  : at(self->values, first * visibility_bytes(dumps))),
    OPENCL_FACE(self->wide_weights ? self->wide_weights : at(self->weights, first * sizeof(float))),
    OPENCL_FACE(run->has_factors ? at(self->factors, first * sizeof(float)) : NULL),
    OPENCL_FACE(self->fates),
    OPENCL_FACE(self->shares),
    OPENCL_VALUE(*run),
  };
  return launch(self, PREPARE, arguments, G_N_ELEMENTS(arguments),
                (guint64)self->pairs * run->channels, error);
}

static gboolean count(AstroPrepare *self, GError **error)
{
  const cl_uint pairs = self->pairs, channels = self->dumps.config.channels;
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
  const Sums sums = { self->pairs,   dumps->config.channels, dumps->group,
                      dumps->groups, dumps->n_products,      (cl_uint)dumps->config.keep_weights };
  const AstroOpenclArgument arguments[] = {
    OPENCL_FACE(self->wide_values),
    OPENCL_FACE(at(self->values, first * visibility_bytes(dumps))),
    OPENCL_FACE(self->wide_weights),
    OPENCL_FACE(at(self->weights, first * sizeof(float))),
    OPENCL_FACE(at(self->factors, first * sizeof(float))),
    OPENCL_VALUE(sums),
  };
  return !self->wide_values || launch(self, ADD_UP, arguments, G_N_ELEMENTS(arguments),
                                      (guint64)self->pairs * dumps->groups, error);
}

static gboolean add(AstroPrepare *self, gconstpointer given, const AstroValidityMeta *validity,
                    const AstroLayout *shape, guint64 number, gint64 middle_ns, const double *uvw,
                    GError **error)
{
  gpointer dump = (gpointer)given;
  AstroDumpCounts counts = { 0 };
  Run run = { .has_given = uvw != NULL };
  if (self->pairs == 0)
    return TRUE;
  if (!make_room(self, error))
    return FALSE;
  astro_dumps_count(&counts, validity, shape, number);
  if (!send_counts(self, &counts, error) || !align(self, &dump, error) ||
      (uvw && !send_uvw(self, uvw, error)))
    return FALSE;
  if (!uvw)
    astro_track_axes(self->dumps.track, middle_ns, run.axes);
  describe(self, &counts, &run);
  self->totals_known = FALSE;
  if (!prepare(self, dump, &run, error) || !count(self, error) || !add_up(self, error))
    return FALSE;
  self->rows += self->pairs;
  return TRUE;
}

static void add_missing(AstroPrepare *self)
{
  self->missing += (guint64)self->dumps.config.channels * self->pairs;
  self->totals_known = FALSE;
}

/* ---- what is held ---- */

static void rows_of(AstroPrepare *self, AstroGridRows *rows)
{
  *rows = (AstroGridRows){ .rows = self->rows,
                           .channels = self->dumps.groups,
                           .products = self->dumps.n_products,
                           .is_double = self->dumps.config.is_double,
                           .uvw = self->uvw,
                           .wavenumbers = self->group_wavenumbers,
                           .values = self->values };
}

static gboolean weigh(AstroPrepare *self, AstroWeighting weighting, double robust,
                      gboolean per_channel, GError **error)
{
  const AstroOpenclWeights weights = { .weighting = weighting,
                                       .robust = robust,
                                       .per_channel = per_channel,
                                       .grid = &self->dumps.grid,
                                       .weights = self->weights,
                                       .factors = self->factors,
                                       .values = self->values,
                                       .totals = self->totals,
                                       .n_totals = self->dumps.config.channels };
  AstroGridRows rows;
  rows_of(self, &rows);
  self->totals_known &= weighting == ASTRO_WEIGHTING_NATURAL;
  return astro_opencl_weights_apply(&weights, &rows, &self->place, error);
}

static gboolean fetch_totals(AstroPrepare *self, AstroOpenclTotals *totals, GError **error)
{
  AstroDevice *device = self->place.device;
  return device->funcs->queue_copy(device, self->place.queue, ASTRO_COPY_DOWN, totals, self->totals,
                                   self->dumps.config.channels * sizeof *totals, error) &&
         astro_opencl_drain(&self->place, error);
}

static gboolean totals_of(AstroPrepare *self, const AstroGridCounts **counts, const double **sums,
                          GError **error)
{
  const guint channels = self->dumps.config.channels;
  const guint64 each = self->dumps.n_counted;
  AstroGridCounts *known = &self->known;
  *counts = known;
  *sums = self->sums;
  if (self->totals_known)
    return TRUE;
  g_autofree AstroOpenclTotals *totals = g_new(AstroOpenclTotals, channels);
  if (!fetch_totals(self, totals, error))
    return FALSE;
  *known = (AstroGridCounts){ .flagged = self->missing * each };
  for (guint c = 0; c < channels; c++) {
    self->sums[c] = (double)totals[c].weights[0] * 0x1p-24 + (double)totals[c].weights[1] * 0x1p-52;
    known->used += totals[c].used * each;
    known->outside += totals[c].outside * each;
    known->flagged += totals[c].flagged * each;
    known->not_finite += totals[c].not_finite * each;
  }
  self->totals_known = TRUE;
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
  for (guint k = 0; k < G_N_ELEMENTS(held); k++)
    astro_opencl_free(&self->place, held[k].face);
  self->rows = self->capacity = 0;
}

static gboolean reset_counts(AstroPrepare *self, GError **error)
{
  self->missing = 0;
  self->totals_known = FALSE;
  return astro_opencl_fill(&self->place, self->totals, 0,
                           self->dumps.config.channels * sizeof(AstroOpenclTotals), error);
}

/* ---- instances ---- */

static void destroy(AstroPrepare *self)
{
  gpointer faces[] = { self->positions, self->wavenumbers, self->group_wavenumbers,
                       self->totals,    self->fates,       self->shares,
                       self->counts,    self->wide_values, self->wide_weights,
                       self->aligned,   self->given };
  drop_rows(self);
  for (guint i = 0; i < G_N_ELEMENTS(faces); i++)
    astro_opencl_free(&self->place, &faces[i]);
  for (guint i = 0; i < N_KERNELS; i++)
    if (self->kernels[i])
      clReleaseKernel(self->kernels[i]);
  astro_dumps_clear(&self->dumps);
  g_free(self->sums);
  g_free(self);
}

static gboolean open_kernels(AstroPrepare *self, GError **error)
{
  static const char *const names[N_KERNELS] = { "prepare", "count", "add_up" };
  const AstroOpenclProgram program = { "gridder: visibilities", text, TRUE };
  const AstroPrepareConfig *config = &self->dumps.config;
  g_autofree char *options = g_strdup_printf(
      "-DFROM=%s -DTO=%s", astro_format_is_double(config->format) ? "double" : "float",
      config->is_double ? "double" : "float");
  for (guint i = 0; i < N_KERNELS; i++)
    if (!(self->kernels[i] =
              astro_opencl_kernel(self->place.device, &program, options, names[i], error)))
      return FALSE;
  return TRUE;
}

static gboolean send_doubles(AstroPrepare *self, gpointer *to, const double *from, gsize n,
                             GError **error)
{
  return alloc(self, to, n * sizeof *from, error) &&
         astro_opencl_upload(&self->place, *to, from, n * sizeof *from, error);
}

/* Room for what is found of one dump, and for its rows of all channels. */
static gboolean make_dump_room(AstroPrepare *self, GError **error)
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const gsize n = (gsize)self->pairs * config->channels;
  return alloc(self, &self->totals, config->channels * sizeof(AstroOpenclTotals), error) &&
         alloc(self, &self->fates, n, error) &&
         alloc(self, &self->shares, n * sizeof(float), error) &&
         (self->dumps.group == 1 ||
          (alloc(self, &self->wide_values, n * visibility_bytes(&self->dumps), error) &&
           (!config->keep_weights || alloc(self, &self->wide_weights, n * sizeof(float), error))));
}

static AstroPrepare *create(const AstroPrepareConfig *config, const AstroGrid *grid,
                            AstroObservation *observation, const AstroPlace *place, GError **error)
{
  AstroPrepare *self = g_new0(AstroPrepare, 1);
  self->place = *place;
  if (astro_dumps_init(&self->dumps, config, grid, observation, error)) {
    const AstroDumps *dumps = &self->dumps;
    self->pairs = config->baselines - dumps->stations;
    self->sums = g_new0(double, config->channels);
    if (open_kernels(self, error) &&
        send_doubles(self, &self->positions, observation->positions, 3 * (gsize)dumps->stations,
                     error) &&
        send_doubles(self, &self->wavenumbers, dumps->wavenumbers, config->channels, error) &&
        send_doubles(self, &self->group_wavenumbers, dumps->group_wavenumbers, dumps->groups,
                     error) &&
        make_dump_room(self, error) && reset_counts(self, error))
      return self;
  }
  destroy(self);
  return NULL;
}

const AstroPrepareFuncs astro_opencl_prepare_funcs = {
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
