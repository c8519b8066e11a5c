/* Prepares visibilities for gridding, and keeps them until they are gridded. */
#include "config.h"
#include "core/gridder/prepare.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include "core/kit/pages.h"

struct _AstroPrepare {
  AstroDumps dumps;
  double *positions; /* u v w of each station at one time */

  guint64 rows, capacity;
  double *uvw;
  float *weights, *factors; /* NULL unless keep_weights */
  gpointer values;
  guint64 most_rows, part_rows; /* as limit was told; most_rows 0: any number is kept here */
  AstroRowStore *store;         /* has the rows that came before these; NULL: there are none */
  /* A row of all channels, where those of a row are sums of several; else NULL. */
  gpointer wide_values;
  float *wide_weights;
  AstroGridCounts counts;
  double *sums; /* of the weights, one a channel of a row */
};

static void drop_weights(AstroPrepare *self)
{
  g_clear_pointer(&self->weights, g_free);
  g_clear_pointer(&self->factors, g_free);
}

static void forget_rows(AstroPrepare *self)
{
  self->rows = 0;
}

static void drop_rows(AstroPrepare *self)
{
  drop_weights(self);
  g_clear_pointer(&self->uvw, g_free);
  g_clear_pointer(&self->values, g_free);
  self->rows = self->capacity = 0;
  g_clear_pointer(&self->store, astro_row_store_free);
}

static void destroy(AstroPrepare *self)
{
  drop_rows(self);
  g_free(self->wide_values);
  g_free(self->wide_weights);
  astro_dumps_clear(&self->dumps);
  g_free(self->positions);
  g_free(self->sums);
  g_free(self);
}

static gsize visibility_bytes(const AstroPrepare *self)
{
  return self->dumps.n_products * (self->dumps.config.is_double ? 16 : 8);
}

static AstroPrepare *create(const AstroPrepareConfig *config, const AstroGrid *grid,
                            AstroObservation *observation, const AstroPlace *place, GError **error)
{
  AstroPrepare *self = g_new0(AstroPrepare, 1);
  if (astro_dumps_init(&self->dumps, config, grid, observation, error)) {
    self->positions = g_new0(double, 3 * (gsize)self->dumps.stations);
    self->sums = g_new0(double, config->channels);
    if (self->dumps.group > 1) {
      self->wide_values = g_malloc_n(config->channels, visibility_bytes(self));
      self->wide_weights = g_new(float, config->channels);
    }
    return self;
  }
  destroy(self);
  return NULL;
}

/* ---- counts of good samples ---- */

/* With tables of the parts of an index: divisions take longer. */
typedef struct {
  AstroDumpCounts dump;
  guint32 *channel, *baseline;
} Counts;

static guint32 *table_of(AstroCountedAxis axis, guint n)
{
  guint32 *table = g_new(guint32, n);
  for (guint i = 0; i < n; i++)
    table[i] = i / axis.group * axis.stride;
  return table;
}

static void counts_init(Counts *counts, const AstroPrepareConfig *config,
                        const AstroValidityMeta *meta, const AstroLayout *shape, guint64 number)
{
  memset(counts, 0, sizeof *counts);
  astro_dumps_count(&counts->dump, meta, shape, number);
  if (!counts->dump.counts)
    return;
  counts->channel = table_of(counts->dump.channel, config->channels);
  counts->baseline = table_of(counts->dump.baseline, config->baselines);
}

static void counts_clear(Counts *counts)
{
  g_free(counts->channel);
  g_free(counts->baseline);
}

static inline double weight_at(const Counts *counts, guint channel, guint baseline, guint pol)
{
  if (!counts->dump.counts)
    return 1;
  return counts->dump.counts[counts->channel[channel] + counts->baseline[baseline] +
                             counts->dump.pol[pol]] /
         counts->dump.full;
}

/* ---- rows ---- */

static void get_rows(AstroPrepare *self, AstroGridRows *rows)
{
  *rows = (AstroGridRows){ .rows = self->rows,
                           .channels = self->dumps.groups,
                           .products = self->dumps.n_products,
                           .is_double = self->dumps.config.is_double,
                           .uvw = self->uvw,
                           .wavenumbers = self->dumps.group_wavenumbers,
                           .values = self->values };
}

static gboolean make_store(AstroPrepare *self, GError **error)
{
  const AstroPrepareConfig *config = &self->dumps.config;
  const AstroRowStoreShape shape = { .channels = self->dumps.groups,
                                     .products = self->dumps.n_products,
                                     .is_double = config->is_double,
                                     .has_weights = config->keep_weights,
                                     .wavenumbers = self->dumps.group_wavenumbers,
                                     .part_rows = MAX(self->part_rows, config->baselines) };
  self->store = astro_row_store_new(&shape, error);
  return self->store != NULL;
}

/* The file has values with their natural weights, and these may have others of an earlier grid. */
static void undo_factors(AstroPrepare *self)
{
  const gsize n = self->rows * self->dumps.groups, parts = 2 * (gsize)self->dumps.n_products;
  for (gsize i = 0; self->dumps.config.keep_weights && i < n; i++) {
    const double by = 1 / (double)self->factors[i];
    for (gsize k = i * parts; self->factors[i] != 1 && k < (i + 1) * parts; k++)
      if (self->dumps.config.is_double)
        ((double *)self->values)[k] *= by;
      else
        ((float *)self->values)[k] = (float)(((const float *)self->values)[k] * by);
  }
}

/* Puts the rows that are here into the file. */
static gboolean put_away(AstroPrepare *self, GError **error)
{
  AstroGridRows rows;
  get_rows(self, &rows);
  undo_factors(self);
  if (!(self->store || make_store(self, error)) ||
      !astro_row_store_add(self->store, &rows, self->weights, error))
    return FALSE;
  self->rows = 0;
  return TRUE;
}

/* All rows may be in memory at first, and few once there is a file. */
static guint64 most_rows(const AstroPrepare *self)
{
  if (self->most_rows == 0)
    return G_MAXUINT64;
  return MAX(self->store ? self->part_rows : self->most_rows, self->dumps.config.baselines);
}

static gboolean resize(AstroPrepare *self, guint64 capacity, GError **error)
{
  const gsize visibility = visibility_bytes(self), n = capacity * self->dumps.groups;
  const gsize weight = self->dumps.config.keep_weights ? sizeof *self->weights : 0;
  gpointer uvw = g_try_realloc(self->uvw, capacity * 3 * sizeof *self->uvw);
  self->uvw = uvw ? uvw : self->uvw;
  gpointer weights = g_try_realloc(self->weights, MAX(n * weight, 1));
  self->weights = weights ? weights : self->weights;
  gpointer factors = g_try_realloc(self->factors, MAX(n * weight, 1));
  self->factors = factors ? factors : self->factors;
  gpointer values = g_try_realloc(self->values, n * visibility);
  self->values = values ? values : self->values;
  if (!uvw || !weights || !factors || !values)
    return astro_backend_no_memory(
        error, "no memory for %" G_GUINT64_FORMAT " bytes of prepared visibilities",
        (guint64)(n * (visibility + 2 * weight)));
  astro_pages_wish(values, n * visibility);
  self->capacity = capacity;
  return TRUE;
}

static gboolean make_room(AstroPrepare *self, GError **error)
{
  const guint64 dump = self->dumps.config.baselines;
  if (self->rows + dump <= self->capacity)
    return TRUE;
  const gboolean had_file = self->store != NULL;
  if (self->rows > 0 && self->rows + dump > most_rows(self) && !put_away(self, error))
    return FALSE;
  const guint64 wanted = self->rows + dump;
  if (self->store && !had_file) /* those that were here leave their memory */
    return resize(self, MIN(self->capacity, most_rows(self)), error);
  if (wanted <= self->capacity)
    return TRUE;
  return resize(self, MAX(wanted, MIN(self->capacity + self->capacity / 2, most_rows(self))),
                error);
}

static void limit(AstroPrepare *self, guint64 most, guint64 part)
{
  self->most_rows = most;
  self->part_rows = part;
}

/* The file has either all rows or none. */
static gboolean get_stored(AstroPrepare *self, AstroRowStore **store, GError **error)
{
  *store = self->store;
  return !self->store || self->rows == 0 || put_away(self, error);
}

static void read_pair(const AstroPrepare *self, gconstpointer dump, gsize at,
                      complex double correlations[4])
{
  const guint n = self->dumps.config.pols * self->dumps.config.pols;
  for (guint k = 0; k < n; k++)
    correlations[k] = self->dumps.config.format == ASTRO_FORMAT_CF64LE
                          ? ((const complex double *)dump)[at * n + k]
                          : (complex double)((const complex float *)dump)[at * n + k];
}

/* The baseline seen from its other end: conjugates, with XY and YX exchanged. */
static void seen_from_other_end(complex double correlations[4], guint n)
{
  for (guint k = 0; k < n; k++)
    correlations[k] = conj(correlations[k]);
  if (n == 4) {
    const complex double swapped = correlations[1];
    correlations[1] = correlations[2];
    correlations[2] = swapped;
  }
}

/* The weight of all products of a visibility; 0, and counted, where they cannot be used. A channel
 * at 0 Hz, the first one of samples that no mixer has moved, has nothing but their offset. */
static double weigh(AstroPrepare *self, const Counts *counts, guint channel, guint baseline,
                    const complex double correlations[4])
{
  double least = INFINITY;
  gboolean finite = TRUE;
  for (guint p = 0; p < self->dumps.n_products; p++) {
    const AstroProduct *product = &self->dumps.products[p];
    double n = 0, inverse = 0;
    for (guint k = 0; k < 4; k++) {
      if (!product->used[k])
        continue;
      n++;
      inverse += 1 / weight_at(counts, channel, baseline, k);
      finite &= isfinite(creal(correlations[k])) && isfinite(cimag(correlations[k]));
    }
    if (n > 0)
      least = MIN(least, n / inverse);
  }
  if (self->dumps.wavenumbers[channel] == 0)
    least = 0;
  if (least == 0)
    self->counts.flagged += self->dumps.n_counted;
  else if (!finite)
    self->counts.not_finite += self->dumps.n_counted;
  return finite ? least : 0;
}

static void put(const AstroPrepare *self, gpointer values, gsize at,
                const complex double correlations[4], complex double factor, complex double psf)
{
  for (guint p = 0; p < self->dumps.n_products; p++) {
    const AstroProduct *product = &self->dumps.products[p];
    complex double value = 0;
    if (product->is_psf)
      value = psf;
    else if (factor != 0) {
      for (guint k = 0; k < 4; k++)
        if (product->used[k])
          value += (product->factors[k][0] + I * product->factors[k][1]) * correlations[k];
      value *= factor;
    }
    if (self->dumps.config.is_double)
      ((complex double *)values)[at * self->dumps.n_products + p] = value;
    else
      ((complex float *)values)[at * self->dumps.n_products + p] = (complex float)value;
  }
}

/* Phase factors: to_centre moves the image's centre, here l = m = 0, to the phase centre in u and
 * v; source is what preparation makes of a source there, which has a phase in w too. */
static void find_phases(const AstroPrepare *self, double u, double v, double w,
                        complex double *to_centre, complex double *source)
{
  *to_centre = *source = 1;
  if (self->dumps.grid.centre_l == 0 && self->dumps.grid.centre_m == 0)
    return;
  const double turns = -(u * self->dumps.grid.centre_l + v * self->dumps.grid.centre_m);
  const double depth = w * self->dumps.centre_n_minus_1;
  *to_centre = cexp(2 * G_PI * I * (turns - rint(turns)));
  *source = cexp(2 * G_PI * I * (depth - rint(depth)));
}

/* The row that is being made, of all channels. */
typedef struct {
  gpointer values;
  float *weights; /* NULL: they are not kept */
} Row;

static float add_visibility(AstroPrepare *self, const Row *row, gconstpointer dump,
                            const Counts *counts, guint baseline, guint channel,
                            const double uvw[3])
{
  const double sign = uvw[2] < 0 ? -1 : 1, per = sign * self->dumps.wavenumbers[channel];
  const double u = uvw[0] * per, v = uvw[1] * per, w = uvw[2] * per;
  complex double correlations[4] = { 0 }, to_centre, source;

  read_pair(self, dump, (gsize)channel * self->dumps.config.baselines + baseline, correlations);
  /* Rounded here, so that values and sums use the same weight. */
  float weight = (float)weigh(self, counts, channel, baseline, correlations);
  if (weight > 0 && !astro_grid_holds(&self->dumps.grid, u, v)) {
    self->counts.outside += self->dumps.n_counted;
    weight = 0;
  }
  if (weight > 0)
    self->counts.used += self->dumps.n_counted;
  if (sign < 0)
    seen_from_other_end(correlations, self->dumps.config.pols * self->dumps.config.pols);
  find_phases(self, u, v, w, &to_centre, &source);
  put(self, row->values, channel, correlations, weight * to_centre, weight * source);
  if (row->weights)
    row->weights[channel] = weight;
  self->sums[channel / self->dumps.group] += weight;
  return weight;
}

static Row row_of(const AstroPrepare *self)
{
  const gsize at = self->rows * self->dumps.groups;
  const gboolean keeps = self->dumps.config.keep_weights;
  if (self->wide_values)
    return (Row){ self->wide_values, keeps ? self->wide_weights : NULL };
  return (Row){ (guint8 *)self->values + at * visibility_bytes(self),
                keeps ? self->weights + at : NULL };
}

/* Adds up the channels of the wide row, group by group, into the place of the next row. */
static void add_up(AstroPrepare *self)
{
  const AstroDumps *dumps = &self->dumps;
  const gsize first = self->rows * dumps->groups, parts = 2 * (gsize)dumps->n_products;
  for (guint g = 0; g < dumps->groups; g++) {
    const guint from = g * dumps->group, to = MIN(from + dumps->group, dumps->config.channels);
    for (gsize k = 0; k < parts; k++) {
      double sum = 0;
      for (guint c = from; c < to; c++)
        sum += dumps->config.is_double ? ((const double *)self->wide_values)[c * parts + k]
                                       : ((const float *)self->wide_values)[c * parts + k];
      if (dumps->config.is_double)
        ((double *)self->values)[(first + g) * parts + k] = sum;
      else
        ((float *)self->values)[(first + g) * parts + k] = (float)sum;
    }
    if (!dumps->config.keep_weights)
      continue;
    double weight = 0;
    for (guint c = from; c < to; c++)
      weight += self->wide_weights[c];
    self->weights[first + g] = (float)weight;
  }
}

/* Keeps a baseline's row if any visibility of it can be used. */
static void add_row(AstroPrepare *self, gconstpointer dump, const Counts *counts, guint baseline,
                    const double uvw[3])
{
  const Row row = row_of(self);
  const gsize first = self->rows * self->dumps.groups;
  gboolean any = FALSE;
  for (guint c = 0; c < self->dumps.config.channels; c++)
    any |= add_visibility(self, &row, dump, counts, baseline, c, uvw) > 0;
  if (!any)
    return;
  if (self->wide_values)
    add_up(self);
  for (guint g = 0; row.weights && g < self->dumps.groups; g++)
    self->factors[first + g] = 1;
  for (guint i = 0; i < 3; i++)
    self->uvw[3 * self->rows + i] = uvw[2] < 0 ? -uvw[i] : uvw[i];
  self->rows++;
}

static void place_stations(AstroPrepare *self, gint64 middle_ns)
{
  double axes[3][3];
  astro_track_axes(self->dumps.track, middle_ns, axes);
  for (guint s = 0; s < self->dumps.stations; s++)
    for (guint i = 0; i < 3; i++) {
      const double *p = &self->dumps.observation->positions[3 * s];
      self->positions[3 * s + i] = axes[i][0] * p[0] + axes[i][1] * p[1] + axes[i][2] * p[2];
    }
}

static gboolean add(AstroPrepare *self, gconstpointer dump, const AstroValidityMeta *validity,
                    const AstroLayout *shape, guint64 number, gint64 middle_ns, const double *uvw,
                    GError **error)
{
  Counts counts;
  if (!make_room(self, error))
    return FALSE;
  counts_init(&counts, &self->dumps.config, validity, shape, number);
  if (!uvw)
    place_stations(self, middle_ns);
  for (guint i = 1; i < self->dumps.stations; i++)
    for (guint j = 0; j < i; j++) {
      const guint baseline = i * (i + 1) / 2 + j;
      const double *a = &self->positions[3 * i], *b = &self->positions[3 * j];
      const double of_stations[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
      add_row(self, dump, &counts, baseline, uvw ? &uvw[3 * (gsize)baseline] : of_stations);
    }
  counts_clear(&counts);
  return TRUE;
}

static void add_missing(AstroPrepare *self)
{
  self->counts.flagged += (guint64)self->dumps.n_counted * self->dumps.config.channels *
                          (self->dumps.config.baselines - self->dumps.stations);
}

static gboolean weigh_rows(AstroPrepare *self, AstroWeighting weighting, double robust,
                           gboolean per_channel, GError **error)
{
  AstroWeights weights = { .weighting = weighting,
                           .robust = robust,
                           .per_channel = per_channel,
                           .grid = &self->dumps.grid,
                           .weights = self->weights,
                           .factors = self->factors,
                           .values = self->values,
                           .sums = self->sums };
  AstroRowStore *store;
  AstroGridRows rows;
  get_rows(self, &rows);
  if (!get_stored(self, &store, error))
    return FALSE;
  return store ? astro_weights_apply_stored(&weights, store, error)
               : astro_weights_apply(&weights, &rows, error);
}

static gboolean totals(AstroPrepare *self, const AstroGridCounts **counts, const double **sums,
                       GError **error)
{
  *counts = &self->counts;
  *sums = self->sums;
  return TRUE;
}

static gboolean reset_counts(AstroPrepare *self, GError **error)
{
  self->counts = (AstroGridCounts){ 0 };
  memset(self->sums, 0, self->dumps.config.channels * sizeof *self->sums);
  return TRUE;
}

const AstroPrepareFuncs astro_prepare_funcs = {
  .create = create,
  .destroy = destroy,
  .add = add,
  .add_missing = add_missing,
  .rows = get_rows,
  .limit = limit,
  .stored = get_stored,
  .weigh = weigh_rows,
  .totals = totals,
  .drop_weights = drop_weights,
  .forget_rows = forget_rows,
  .drop_rows = drop_rows,
  .reset_counts = reset_counts,
};
