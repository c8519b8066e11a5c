/* Visibilities prepared on an OpenCL device: memory for them, kernels, and counts. */
#include "config.h"
#include "opencl/gridder/prepare-instance.h"

static const AstroOpenclProgram program = {
  .name = "gridder: visibilities", .needs_double = TRUE, .text =
#include "opencl/gridder/totals.cl.h"
#include "opencl/gridder/prepare.cl.h"
};

#define FIRST_VALUES (1u << 20) /* room to begin with */

/* ---- room ---- */

typedef struct {
  gpointer *face;
  gsize bytes; /* of a row */
} Held;

static guint what_is_held(AstroPrepare *self, Held held[4])
{
  const gsize n = self->dumps.groups;
  held[0] = (Held){ &self->uvw, 3 * sizeof(double) };
  held[1] = (Held){ &self->values, n * astro_opencl_visibility_bytes(&self->dumps) };
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
    if (!astro_opencl_prepare_alloc(self, &larger, capacity * held[k].bytes, error))
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
  const guint64 wanted = self->rows + self->dumps.pairs;
  const guint64 first = FIRST_VALUES / ((guint64)self->dumps.groups * self->dumps.n_products);
  if (wanted <= self->capacity)
    return TRUE;
  if (grow(self, MAX(MAX(wanted, first), 2 * self->capacity), NULL) || grow(self, wanted, error))
    return TRUE;
  g_prefix_error(error, "%" G_GUINT64_FORMAT " rows of visibilities are to be held: ", wanted);
  return FALSE;
}

/* ---- what is held ---- */

static gboolean add(AstroPrepare *self, gconstpointer dump, const AstroValidityMeta *validity,
                    const AstroLayout *shape, guint64 number, gint64 middle_ns, const double *uvw,
                    GError **error)
{
  if (self->dumps.pairs == 0)
    return TRUE;
  self->dumps.totals.are_known = FALSE;
  if (!make_room(self, error) || !astro_opencl_prepare_add(self, (gpointer)dump, validity, shape,
                                                           number, middle_ns, uvw, error))
    return FALSE;
  self->rows += self->dumps.pairs;
  return TRUE;
}

static void add_missing(AstroPrepare *self)
{
  astro_dumps_miss(&self->dumps);
}

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
  self->dumps.totals.are_known &= weighting == ASTRO_WEIGHTING_NATURAL;
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
  *counts = &self->dumps.totals.counts;
  *sums = self->dumps.totals.sums;
  if (self->dumps.totals.are_known)
    return TRUE;
  g_autofree AstroOpenclTotals *totals = g_new(AstroOpenclTotals, channels);
  if (!fetch_totals(self, totals, error))
    return FALSE;
  astro_dumps_begin_totals(&self->dumps);
  for (guint c = 0; c < channels; c++) {
    const double sum =
        (double)totals[c].weights[0] * 0x1p-24 + (double)totals[c].weights[1] * 0x1p-52;
    const AstroGridCounts of_channel = { totals[c].used, totals[c].outside, totals[c].flagged,
                                         totals[c].not_finite };
    astro_dumps_add_totals(&self->dumps, c, sum, &of_channel);
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
  for (guint k = 0; k < G_N_ELEMENTS(held); k++)
    astro_opencl_free(&self->place, held[k].face);
  self->rows = self->capacity = 0;
}

static gboolean reset_counts(AstroPrepare *self, GError **error)
{
  astro_dumps_forget_missing(&self->dumps);
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
  astro_opencl_kernels_release(self->kernels, N_KERNELS);
  astro_dumps_clear(&self->dumps);
  g_free(self);
}

/* By the precisions of dumps and of rows. */
static const char *options_of(const AstroPrepareConfig *config)
{
  static const char *const options[2][2] = {
    { "-DFROM=float -DTO=float", "-DFROM=float -DTO=double" },
    { "-DFROM=double -DTO=float", "-DFROM=double -DTO=double" }
  };
  return options[astro_format_is_double(config->format) ? 1 : 0][config->is_double ? 1 : 0];
}

gboolean astro_opencl_prepare_compiles(const AstroPrepareConfig *config, const AstroPlace *place,
                                       GError **error)
{
  return astro_opencl_compiles(place->device, &program, options_of(config), error);
}

static gboolean open_kernels(AstroPrepare *self, GError **error)
{
  static const char *const names[N_KERNELS] = { "prepare", "count", "add_up" };
  return astro_opencl_kernels(self->place.device, &program, options_of(&self->dumps.config), names,
                              N_KERNELS, self->kernels, error);
}

static gboolean send_doubles(AstroPrepare *self, gpointer *to, const double *from, gsize n,
                             GError **error)
{
  return astro_opencl_prepare_alloc(self, to, n * sizeof *from, error) &&
         astro_opencl_upload(&self->place, *to, from, n * sizeof *from, error);
}

/* Room for what is found of one dump, and for its rows of all channels. */
static gboolean make_dump_room(AstroPrepare *self, GError **error)
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const gsize n = (gsize)self->dumps.pairs * config->channels;
  return astro_opencl_prepare_alloc(self, &self->totals,
                                    config->channels * sizeof(AstroOpenclTotals), error) &&
         astro_opencl_prepare_alloc(self, &self->fates, n, error) &&
         astro_opencl_prepare_alloc(self, &self->shares, n * sizeof(float), error) &&
         (self->dumps.group == 1 ||
          (astro_opencl_prepare_alloc(self, &self->wide_values,
                                      n * astro_opencl_visibility_bytes(&self->dumps), error) &&
           (!config->keep_weights ||
            astro_opencl_prepare_alloc(self, &self->wide_weights, n * sizeof(float), error))));
}

static AstroPrepare *create(const AstroPrepareConfig *config, const AstroGrid *grid,
                            AstroObservation *observation, const AstroPlace *place, GError **error)
{
  AstroPrepare *self = g_new0(AstroPrepare, 1);
  self->place = *place;
  if (astro_dumps_init(&self->dumps, config, grid, observation, error)) {
    const AstroDumps *dumps = &self->dumps;
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
