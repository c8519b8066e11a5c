#include "config.h"
#include "core/gridder/prepare.h"

#include <complex.h>
#include <math.h>
#include <string.h>
#include "core/gridder/pages.h"
#include "core/stream/track.h"

struct _AstroPrepare {
  AstroPrepareConfig config;
  AstroGrid grid; /* without its products */
  guint n_products, stations;
  AstroProduct products[ASTRO_MAX_PRODUCTS];
  AstroObservation *observation;
  AstroTrack *track;
  double *positions;   /* of the stations at one time: u v w */
  double *wavenumbers; /* of the channels */

  guint64 rows, capacity;
  double *uvw;
  float *weights, *factors; /* where they are kept */
  gpointer values;
  AstroGridCounts counts;
  double *sums; /* of weights, of the channels */
  double centre_n_minus_1;
};

static gboolean refuse(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static gboolean refuse(GError **error, const char *format, ...)
{
  va_list list;
  va_start(list, format);
  g_autofree char *text = g_strdup_vprintf(format, list);
  va_end(list);
  g_set_error_literal(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_SHAPE, text);
  return FALSE;
}

/* ---- what is to be known ---- */

#define EARTH_CORE 1e6 /* metres: nobody observes from below */

static gboolean check_positions(const AstroObservation *o, GError **error)
{
  for (guint i = 0; i < o->n_stations; i++) {
    const double *p = &o->positions[3 * i], radius = sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]);
    if (!(radius > EARTH_CORE))
      return refuse(error,
                    "station %s is %.3g m from the earth's centre: positions have to be geocentric "
                    "(ITRF) metres, not local ones",
                    o->names[i], radius);
  }
  return TRUE;
}

static gboolean check(const AstroPrepareConfig *config, const AstroObservation *o, GError **error)
{
  if (!o)
    return refuse(error, "the stream has no observation (stations, phase centre, start), which "
                         "(u,v,w) are computed from");
  if (!o->has_phase_centre)
    return refuse(error, "the observation has no phase centre");
  if (!o->has_start)
    return refuse(error, "the observation has no start");
  if ((guint64)o->n_stations * (o->n_stations + 1) / 2 != config->baselines)
    return refuse(error,
                  "%u baselines are not those of the observation's %u stations with themselves and "
                  "each other: %" G_GUINT64_FORMAT,
                  config->baselines, o->n_stations,
                  (guint64)o->n_stations * (o->n_stations + 1) / 2);
  if (!(config->frequency > 0))
    return refuse(error, "the caps have no frequency, which (u,v,w) in wavelengths need");
  if (config->channels > 1 && !(config->bandwidth > 0))
    return refuse(error, "the caps have %u channels and no bandwidth", config->channels);
  if (config->bandwidth / 2 >= config->frequency)
    return refuse(error, "a bandwidth of %g Hz about %g Hz reaches zero", config->bandwidth,
                  config->frequency);
  return check_positions(o, error);
}

static gboolean find_products(AstroPrepare *self, char **names, GError **error)
{
  for (self->n_products = 0; names[self->n_products]; self->n_products++) {
    if (self->n_products == ASTRO_MAX_PRODUCTS)
      return refuse(error, "more than %d products", ASTRO_MAX_PRODUCTS);
    if (!astro_product_find(&self->products[self->n_products], names[self->n_products],
                            self->observation->basis, self->config.pols, error))
      return FALSE;
  }
  return TRUE;
}

AstroPrepare *astro_prepare_new(const AstroPrepareConfig *config, const AstroGrid *grid,
                                AstroObservation *observation, GError **error)
{
  if (!check(config, observation, error))
    return NULL;
  AstroPrepare *self = g_new0(AstroPrepare, 1);
  self->config = *config;
  self->grid = *grid;
  self->grid.products = NULL;
  self->observation = astro_observation_ref(observation);
  self->stations = observation->n_stations;
  self->positions = g_new(double, 3 * (gsize)self->stations);
  self->wavenumbers = g_new(double, config->channels);
  self->sums = g_new0(double, config->channels);
  const double r2 = grid->centre_l * grid->centre_l + grid->centre_m * grid->centre_m;
  self->centre_n_minus_1 = -r2 / (1 + sqrt(1 - r2));
  self->track = astro_track_new(observation);
  for (guint c = 0; c < config->channels; c++)
    self->wavenumbers[c] = (config->frequency - config->bandwidth / 2 +
                            (c + 0.5) * config->bandwidth / config->channels) /
                           ASTRO_LIGHT_SPEED;
  if (find_products(self, grid->products, error))
    return self;
  astro_prepare_free(self);
  return NULL;
}

void astro_prepare_free(AstroPrepare *self)
{
  astro_prepare_drop_rows(self);
  astro_track_free(self->track);
  astro_observation_unref(self->observation);
  g_free(self->positions);
  g_free(self->wavenumbers);
  g_free(self->sums);
  g_free(self);
}

/* ---- counts of good samples ---- */

/* Where the count of a value stands: the sum of an offset for each of its indices. */
typedef struct {
  const guint32 *counts; /* NULL: all are valid */
  double full;
  guint32 *channel, *baseline, pol[4];
} Counts;

static void counts_init(Counts *counts, const AstroValidityMeta *meta, const AstroLayout *shape,
                        guint64 number)
{
  memset(counts, 0, sizeof *counts);
  if (!meta)
    return;
  gsize base = 0;
  guint64 strides[ASTRO_MAX_AXES];
  guint from = 0, pols_seen = 0;
  astro_layout_strides(&meta->shape, strides);
  counts->full = MAX(meta->full, 1);
  for (guint a = 0; a < shape->n_axes; a++) {
    const guint64 extent = shape->extents[a];
    const gboolean counted = from < meta->shape.n_axes && meta->shape.axes[from] == shape->axes[a];
    const guint64 stride = counted ? strides[from] : 0;
    const guint64 group = counted ? MAX(extent / MAX(meta->shape.extents[from], 1), 1) : 1;
    guint32 **table = shape->axes[a] == ASTRO_AXIS_CHANNEL    ? &counts->channel
                      : shape->axes[a] == ASTRO_AXIS_BASELINE ? &counts->baseline
                                                              : NULL;
    if (table) {
      *table = g_new(guint32, extent);
      for (guint64 i = 0; i < extent; i++)
        (*table)[i] = (guint32)(i / group * stride);
    } else if (shape->axes[a] == ASTRO_AXIS_POL) {
      for (guint k = 0; k < 4; k++)
        counts->pol[k] += (guint32)((pols_seen ? k % 2 : k / 2) / group * stride);
      pols_seen++;
    } else if (shape->axes[a] == ASTRO_AXIS_TIME) {
      base = number / group * stride;
    }
    from += counted;
  }
  counts->counts = meta->counts + base;
}

static void counts_clear(Counts *counts)
{
  g_free(counts->channel);
  g_free(counts->baseline);
}

static inline double weight_at(const Counts *counts, guint channel, guint baseline, guint pol)
{
  if (!counts->counts)
    return 1;
  const guint32 at = (counts->channel ? counts->channel[channel] : 0) +
                     (counts->baseline ? counts->baseline[baseline] : 0) + counts->pol[pol];
  return counts->counts[at] / counts->full;
}

/* ---- rows ---- */

static gboolean make_room(AstroPrepare *self, GError **error)
{
  const guint64 wanted = self->rows + self->config.baselines;
  const gsize visibility = self->n_products * (self->config.is_double ? 16 : 8);
  if (wanted <= self->capacity)
    return TRUE;
  const guint64 capacity = MAX(wanted, self->capacity + self->capacity / 2);
  const gsize n = capacity * self->config.channels;
  gpointer uvw = g_try_realloc(self->uvw, capacity * 3 * sizeof *self->uvw);
  self->uvw = uvw ? uvw : self->uvw;
  const gsize weight = self->config.keep_weights ? sizeof *self->weights : 0;
  gpointer weights = g_try_realloc(self->weights, MAX(n * weight, 1));
  self->weights = weights ? weights : self->weights;
  gpointer factors = g_try_realloc(self->factors, MAX(n * weight, 1));
  self->factors = factors ? factors : self->factors;
  gpointer values = g_try_realloc(self->values, n * visibility);
  self->values = values ? values : self->values;
  if (!uvw || !weights || !factors || !values) {
    g_set_error(error, ASTRO_BACKEND_ERROR, ASTRO_BACKEND_ERROR_MEMORY,
                "no memory for %" G_GUINT64_FORMAT " bytes of prepared visibilities",
                (guint64)(n * (visibility + 2 * weight)));
    return FALSE;
  }
  astro_pages_wish(values, n * visibility);
  self->capacity = capacity;
  return TRUE;
}

static void read_pair(const AstroPrepare *self, gconstpointer dump, gsize at,
                      complex double correlations[4])
{
  const guint n = self->config.pols * self->config.pols;
  for (guint k = 0; k < n; k++)
    correlations[k] = self->config.format == ASTRO_FORMAT_CF64LE
                          ? ((const complex double *)dump)[at * n + k]
                          : (complex double)((const complex float *)dump)[at * n + k];
}

/* Seen from the other end of the baseline: conjugate, with XY and YX exchanged. */
static void turn_round(complex double correlations[4], guint n)
{
  for (guint k = 0; k < n; k++)
    correlations[k] = conj(correlations[k]);
  if (n == 4) {
    const complex double swapped = correlations[1];
    correlations[1] = correlations[2];
    correlations[2] = swapped;
  }
}

/* The weight that all products of a visibility have; 0 and a count where they cannot be used. */
static double weigh(AstroPrepare *self, const Counts *counts, guint channel, guint baseline,
                    const complex double correlations[4])
{
  double least = INFINITY;
  gboolean finite = TRUE;
  for (guint p = 0; p < self->n_products; p++) {
    const AstroProduct *product = &self->products[p];
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
  if (least == 0)
    self->counts.flagged += self->n_products;
  else if (!finite)
    self->counts.not_finite += self->n_products;
  return finite ? least : 0;
}

static void put(const AstroPrepare *self, gsize at, const complex double correlations[4],
                complex double factor, complex double psf)
{
  for (guint p = 0; p < self->n_products; p++) {
    const AstroProduct *product = &self->products[p];
    complex double value = 0;
    if (product->is_psf)
      value = psf;
    else if (factor != 0) {
      for (guint k = 0; k < 4; k++)
        if (product->used[k])
          value += (product->factors[k][0] + I * product->factors[k][1]) * correlations[k];
      value *= factor;
    }
    if (self->config.is_double)
      ((complex double *)self->values)[at * self->n_products + p] = value;
    else
      ((complex float *)self->values)[at * self->n_products + p] = (complex float)value;
  }
}

/* What turns the image's centre, here l = m = 0, into the phase centre in u and v; and a source
 * there, in w too, into what preparation makes of it. */
static void find_turns(const AstroPrepare *self, double u, double v, double w,
                       complex double *to_centre, complex double *source)
{
  *to_centre = *source = 1;
  if (self->grid.centre_l == 0 && self->grid.centre_m == 0)
    return;
  const double turns = -(u * self->grid.centre_l + v * self->grid.centre_m);
  const double depth = w * self->centre_n_minus_1;
  *to_centre = cexp(2 * G_PI * I * (turns - rint(turns)));
  *source = cexp(2 * G_PI * I * (depth - rint(depth)));
}

static float add_visibility(AstroPrepare *self, gconstpointer dump, const Counts *counts,
                            guint baseline, guint channel, const double uvw[3])
{
  const gsize to = self->rows * self->config.channels + channel;
  const double sign = uvw[2] < 0 ? -1 : 1, per = sign * self->wavenumbers[channel];
  const double u = uvw[0] * per, v = uvw[1] * per, w = uvw[2] * per;
  complex double correlations[4] = { 0 }, to_centre, source;

  read_pair(self, dump, (gsize)channel * self->config.baselines + baseline, correlations);
  /* Rounded here, so that values and sums have the same. */
  float weight = (float)weigh(self, counts, channel, baseline, correlations);
  if (weight > 0 && !astro_grid_holds(&self->grid, u, v)) {
    self->counts.outside += self->n_products;
    weight = 0;
  }
  if (weight > 0)
    self->counts.used += self->n_products;
  if (sign < 0)
    turn_round(correlations, self->config.pols * self->config.pols);
  find_turns(self, u, v, w, &to_centre, &source);
  put(self, to, correlations, weight * to_centre, weight * source);
  if (self->config.keep_weights) {
    self->weights[to] = weight;
    self->factors[to] = 1;
  }
  self->sums[channel] += weight;
  return weight;
}

/* The row of a baseline is kept where anything of it can be used. */
static void add_row(AstroPrepare *self, gconstpointer dump, const Counts *counts, guint baseline,
                    const double uvw[3])
{
  gboolean any = FALSE;
  for (guint c = 0; c < self->config.channels; c++)
    any |= add_visibility(self, dump, counts, baseline, c, uvw) > 0;
  if (!any)
    return;
  for (guint i = 0; i < 3; i++)
    self->uvw[3 * self->rows + i] = uvw[2] < 0 ? -uvw[i] : uvw[i];
  self->rows++;
}

gboolean astro_prepare_add(AstroPrepare *self, gconstpointer dump,
                           const AstroValidityMeta *validity, const AstroLayout *shape,
                           guint64 number, gint64 middle_ns, GError **error)
{
  double axes[3][3];
  Counts counts;
  if (!make_room(self, error))
    return FALSE;
  counts_init(&counts, validity, shape, number);
  astro_track_axes(self->track, middle_ns, axes);
  for (guint s = 0; s < self->stations; s++)
    for (guint i = 0; i < 3; i++) {
      const double *p = &self->observation->positions[3 * s];
      self->positions[3 * s + i] = axes[i][0] * p[0] + axes[i][1] * p[1] + axes[i][2] * p[2];
    }
  for (guint i = 1; i < self->stations; i++)
    for (guint j = 0; j < i; j++) {
      const double *a = &self->positions[3 * i], *b = &self->positions[3 * j];
      const double uvw[3] = { a[0] - b[0], a[1] - b[1], a[2] - b[2] };
      add_row(self, dump, &counts, i * (i + 1) / 2 + j, uvw);
    }
  counts_clear(&counts);
  return TRUE;
}

void astro_prepare_add_missing(AstroPrepare *self)
{
  self->counts.flagged +=
      (guint64)self->n_products * self->config.channels * (self->config.baselines - self->stations);
}

void astro_prepare_rows(AstroPrepare *self, AstroGridRows *rows)
{
  *rows = (AstroGridRows){ .rows = self->rows,
                           .channels = self->config.channels,
                           .products = self->n_products,
                           .is_double = self->config.is_double,
                           .uvw = self->uvw,
                           .wavenumbers = self->wavenumbers,
                           .values = self->values };
}

const AstroGridCounts *astro_prepare_counts(AstroPrepare *self)
{
  return &self->counts;
}

const double *astro_prepare_sums(AstroPrepare *self)
{
  return self->sums;
}

gboolean astro_prepare_weigh(AstroPrepare *self, AstroWeighting weighting, double robust,
                             gboolean per_channel, GError **error)
{
  AstroWeights weights = { .weighting = weighting,
                           .robust = robust,
                           .per_channel = per_channel,
                           .grid = &self->grid,
                           .weights = self->weights,
                           .factors = self->factors,
                           .values = self->values,
                           .sums = self->sums };
  AstroGridRows rows;
  astro_prepare_rows(self, &rows);
  return astro_weights_apply(&weights, &rows, error);
}

void astro_prepare_forget_rows(AstroPrepare *self)
{
  self->rows = 0;
}

void astro_prepare_drop_rows(AstroPrepare *self)
{
  g_clear_pointer(&self->uvw, g_free);
  g_clear_pointer(&self->weights, g_free);
  g_clear_pointer(&self->factors, g_free);
  g_clear_pointer(&self->values, g_free);
  self->rows = self->capacity = 0;
}

void astro_prepare_reset_counts(AstroPrepare *self)
{
  self->counts = (AstroGridCounts){ 0 };
  memset(self->sums, 0, self->config.channels * sizeof *self->sums);
}

double astro_prepare_longest(const AstroPrepareConfig *config, const AstroObservation *observation)
{
  const double highest =
      config->frequency + config->bandwidth / 2 * (1 - 1.0 / MAX(config->channels, 1));
  double longest = 0;
  for (guint i = 0; i < observation->n_stations; i++)
    for (guint j = 0; j < i; j++) {
      const double *a = &observation->positions[3 * i], *b = &observation->positions[3 * j];
      longest = MAX(longest, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
    }
  return longest * highest / ASTRO_LIGHT_SPEED;
}
