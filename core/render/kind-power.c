/* Power: the mean spectrum of each station or beam, and below it the mean of all as a waterfall,
 * one row per integration.
 *
 * The spectra are means over at least as many integrations as the waterfall has rows, and at most
 * twice as many: they would be as noisy as a row otherwise, and a history of each station would
 * take too much memory. Where the rows are divided by their mean, the spectra are those of the
 * newest buffer, as the mean has nothing to show.
 *
 * Power at several dispersion measures, of one channel, has these in the place of channels. */
#include "core/render/counted.h"
#include "core/render/ticks.h"
#include "core/render/waterfall.h"

#include <math.h>
#include <string.h>

/* Powers farther below the largest are rounding errors, and would only lengthen the axis. */
#define MOST_DB 160

typedef struct {
  AstroStream stream;
  AstroAxis across;         /* channel, or dm where there are several */
  guint channels, stations; /* the extent of that axis; or beams */
  guint product;
  gboolean decibels, flatten;
  gint spectrum, rows; /* the panels; -1: not shown */
  char **beams;        /* names; NULL: there are no beams, or they are not known */
  AstroWaterfall waterfall;
  float *powers, *newest;                 /* of the rows, as they came; and where the newest is */
  double *means;                          /* of a channel over the rows, or 1 */
  double *sums, *weights;                 /* [station][channel], of a row or a buffer */
  double *mean_sums[2], *mean_weights[2]; /* of the integrations now, and of those before them */
  guint64 summed;                         /* integrations in the first */
  double *dms;                            /* of the columns; NULL: not known */
  gint64 end_ns;                          /* of the newest row, from the observation's start */
} Kind;

/* ---- panels ---- */

/* Powers are positive. Other products, such as Q, have a sign. */
gboolean astro_render_is_positive(const char *product)
{
  static const char *const positive[] = { "I", "XX", "YY", "RR", "LL", NULL };
  return astro_power_is_square(product) || g_strv_contains(positive, product);
}

static gboolean choose_product(Kind *k, const AstroRenderInput *in, GError **error)
{
  const gint found =
      in->style->product ? astro_power_products_find(&in->products, in->style->product) : 0;
  k->product = (guint)MAX(found, 0);
  k->decibels = in->style->decibels && astro_render_is_positive(in->products.names[k->product]);
  k->flatten = in->style->flatten && astro_render_is_positive(in->products.names[k->product]);
  if (found >= 0)
    return TRUE;
  g_autofree char *names = astro_power_products_to_string(&in->products);
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "the power has no product %s, expected one of %s", in->style->product,
                             names);
}

static gboolean check(const AstroRenderInput *in, GError **error)
{
  const AstroView view = in->style->view;
  const guint64 channels = astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL),
                dms = astro_stream_extent(&in->stream, ASTRO_AXIS_DM);
  if (dms > 1 && channels > 1)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "power of %" G_GUINT64_FORMAT " channels at %" G_GUINT64_FORMAT
                               " dispersion measures, expected several of one of them",
                               channels, dms);
  if (dms <= 1 &&
      (astro_layout_find(&in->stream.layout, ASTRO_AXIS_CHANNEL) < 0 || channels > G_MAXINT))
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                               "power of %" G_GUINT64_FORMAT
                               " channels, expected an axis of channels, of at most %d",
                               channels, G_MAXINT);
  return (view != ASTRO_VIEW_MATRIX && view != ASTRO_VIEW_FRINGE) ||
         astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "property view is %s, expected spectrum, waterfall or auto for power",
                             view == ASTRO_VIEW_MATRIX ? "matrix" : "fringe");
}

static const char *unit_of(const Kind *k)
{
  return k->decibels ? "dB" : k->flatten ? "of the mean" : "power";
}

static char **names_of_beams(const AstroRenderInput *in)
{
  const AstroObservation *o = in->observation;
  if (!o || o->n_beams == 0 || o->n_beams != astro_stream_extent(&in->stream, ASTRO_AXIS_BEAM))
    return NULL;
  char **names = g_new0(char *, o->n_beams + 1);
  for (guint i = 0; i < o->n_beams; i++)
    names[i] = g_strdup(o->beams[i].name);
  return names;
}

#define EVEN 1e-6 /* of a step */

/* Values of dispersion measures that are known and evenly spaced; else their numbers. */
static AstroPanelAxis axis_of_dms(const AstroRenderInput *in, guint n)
{
  const AstroObservation *o = in->observation;
  gboolean is_even = o && o->n_dms == n && n > 1;
  const double step = is_even ? (o->dms[n - 1] - o->dms[0]) / (n - 1) : 1;
  for (guint i = 0; is_even && i < n; i++)
    is_even = fabs(o->dms[i] - o->dms[0] - i * step) < EVEN * step;
  if (is_even)
    return (AstroPanelAxis){ g_strdup("DM (pc/cm\302\263)"), o->dms[0] - step / 2,
                             o->dms[n - 1] + step / 2 };
  return (AstroPanelAxis){ g_strdup("Dispersion measure"), -0.5, n - 0.5, .whole = TRUE };
}

static AstroPanelAxis axis_across(const Kind *k, const AstroRenderInput *in)
{
  return k->across == ASTRO_AXIS_DM ? axis_of_dms(in, k->channels)
                                    : astro_waterfall_channels(&in->stream);
}

static void add_panels(Kind *k, const AstroRenderInput *in, GArray *panels)
{
  const char *product = in->products.names[k->product];
  const AstroObservation *o = in->observation;
  const gboolean named = astro_layout_find(&in->stream.layout, ASTRO_AXIS_STATION) >= 0 && o &&
                         o->n_stations == k->stations;
  k->spectrum = k->rows = -1;
  if (in->style->view != ASTRO_VIEW_WATERFALL) {
    k->spectrum = (gint)panels->len;
    AstroPanel panel = { .title = g_strdup(product),
                         .is_curves = TRUE,
                         .is_stacked = TRUE,
                         .names = named ? o->names : k->beams,
                         .width = k->channels,
                         .height = k->stations,
                         .x = axis_across(k, in),
                         .y = { g_strdup_printf("Power (%s)", unit_of(k)), 0, 1 } };
    g_array_append_val(panels, panel);
  }
  if (in->style->view != ASTRO_VIEW_SPECTRUM) {
    k->rows = (gint)panels->len;
    AstroPanel panel = { .title = g_strdup(k->spectrum < 0   ? product
                                           : k->stations > 1 ? "Mean of all"
                                                             : NULL),
                         .is_stacked = TRUE,
                         .unit = unit_of(k),
                         .width = k->channels,
                         .height = in->style->rows,
                         .x = axis_across(k, in),
                         .y = { g_strdup("Integrations ago"), 0, 1 } };
    g_array_append_val(panels, panel);
  }
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  if (!check(in, error) || !choose_product(k, in, error)) {
    g_free(k);
    return NULL;
  }
  k->stream = in->stream;
  k->across =
      astro_stream_extent(&in->stream, ASTRO_AXIS_DM) > 1 ? ASTRO_AXIS_DM : ASTRO_AXIS_CHANNEL;
  k->channels = (guint)astro_stream_extent(&in->stream, k->across);
  k->stations = (guint)(astro_stream_extent(&in->stream, ASTRO_AXIS_STATION) *
                        astro_stream_extent(&in->stream, ASTRO_AXIS_BEAM));
  k->waterfall = (AstroWaterfall){ .width = k->channels,
                                   .rows = in->style->rows,
                                   .things = "Integrations ago" };
  k->beams = names_of_beams(in);
  if (k->across == ASTRO_AXIS_DM && in->observation && in->observation->n_dms == k->channels)
    k->dms = g_memdup2(in->observation->dms, k->channels * sizeof *k->dms);
  add_panels(k, in, panels);
  return k;
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  astro_waterfall_clear(&k->waterfall);
  g_strfreev(k->beams);
  g_free(k->powers);
  g_free(k->means);
  g_free(k->dms);
  g_free(k->sums);
  g_free(k->weights);
  for (guint i = 0; i < 2; i++) {
    g_free(k->mean_sums[i]);
    g_free(k->mean_weights[i]);
  }
  g_free(k);
}

/* ---- values ---- */

/* Sums up the values of some steps for each station and channel, each with the weight of the
 * samples behind it. */
static void add_steps(Kind *k, const float *data, const AstroLayout *shape,
                      const AstroRenderMoment *moment, guint64 first, guint64 last)
{
  const AstroValidityMeta *meta = moment->validity;
  AstroCounted counted;
  astro_counted_init(&counted, shape, meta);
  const gboolean has_beams = astro_layout_find(shape, ASTRO_AXIS_BEAM) >= 0;
  const AstroCountedAxis time = astro_counted_axis(&counted, shape, ASTRO_AXIS_TIME),
                         pol = astro_counted_axis(&counted, shape, ASTRO_AXIS_POL),
                         channel = astro_counted_axis(&counted, shape, k->across),
                         station = astro_counted_axis(
                             &counted, shape, has_beams ? ASTRO_AXIS_BEAM : ASTRO_AXIS_STATION);
  memset(k->sums, 0, (gsize)k->stations * k->channels * sizeof *k->sums);
  memset(k->weights, 0, (gsize)k->stations * k->channels * sizeof *k->weights);
  for (guint64 t = first; t < last && !moment->is_gap; t++)
    for (guint s = 0; s < k->stations; s++) {
      const float *values = data + t * time.stride + s * station.stride + k->product * pol.stride;
      const guint64 base = astro_counted_at(&time, t) + astro_counted_at(&station, s) +
                           astro_counted_at(&pol, k->product);
      double *sums = k->sums + (gsize)s * k->channels,
             *weights = k->weights + (gsize)s * k->channels;
      for (guint c = 0; c < k->channels; c++) {
        const float value = values[c * channel.stride];
        const double weight = meta ? meta->counts[base + astro_counted_at(&channel, c)] : 1;
        if (weight > 0 && isfinite(value)) {
          sums[c] += weight * (double)value;
          weights[c] += weight;
        }
      }
    }
}

/* A row of the waterfall: the mean over the stations of what was added. */
static void write_row(const Kind *k, float *row)
{
  for (guint c = 0; c < k->channels; c++) {
    double sum = 0, weight = 0;
    for (guint s = 0; s < k->stations; s++) {
      sum += k->sums[(gsize)s * k->channels + c];
      weight += k->weights[(gsize)s * k->channels + c];
    }
    row[c] = weight > 0 ? (float)(sum / weight) : NAN;
  }
}

/* The mean of each channel over the rows, by which it is divided. */
static void find_means(Kind *k)
{
  for (guint c = 0; c < k->channels; c++) {
    double sum = 0;
    guint n = 0;
    for (guint r = 0; r < k->waterfall.shown && k->flatten; r++) {
      const float power = k->newest[(gsize)r * k->channels + c];
      if (isfinite(power)) {
        sum += (double)power;
        n++;
      }
    }
    k->means[c] = !k->flatten ? 1 : n > 0 ? sum / n : NAN;
  }
}

static float shown_as(const Kind *k, double power, guint channel)
{
  const double value = power / k->means[channel];
  const double shown = k->decibels ? 10 * log10(value) : value;
  return isfinite(shown) ? (float)shown : NAN;
}

/* Adds what was summed up to the means, and puts those in its place. */
static void add_to_means(Kind *k, guint64 steps)
{
  const gsize n = (gsize)k->stations * k->channels;
  if (k->summed >= k->waterfall.rows) {
    double *sums = k->mean_sums[1], *weights = k->mean_weights[1];
    k->mean_sums[1] = k->mean_sums[0];
    k->mean_weights[1] = k->mean_weights[0];
    k->mean_sums[0] = memset(sums, 0, n * sizeof *sums);
    k->mean_weights[0] = memset(weights, 0, n * sizeof *weights);
    k->summed = 0;
  }
  k->summed += steps;
  for (gsize i = 0; i < n; i++) {
    k->sums[i] = (k->mean_sums[0][i] += k->sums[i]) + k->mean_sums[1][i];
    k->weights[i] = (k->mean_weights[0][i] += k->weights[i]) + k->mean_weights[1][i];
  }
}

static void draw_spectrum(const Kind *k, AstroPanel *panel)
{
  double least = INFINITY, most = -INFINITY;
  for (gsize i = 0; i < (gsize)k->stations * k->channels; i++) {
    const float value = shown_as(k, k->sums[i] / k->weights[i], (guint)(i % k->channels));
    panel->own[i] = value;
    least = fmin(least, (double)value);
    most = fmax(most, (double)value);
  }
  if (most >= least)
    astro_axis_around(&panel->y, k->decibels ? fmax(least, most - MOST_DB) : least, most);
}

static void make_room(Kind *k)
{
  const gsize n = (gsize)k->stations * k->channels,
              rows = ((gsize)k->waterfall.rows + ASTRO_WATERFALL_SPARE) * k->channels;
  if (k->sums)
    return;
  k->sums = g_new(double, n);
  k->weights = g_new(double, n);
  for (guint i = 0; i < 2; i++) {
    k->mean_sums[i] = g_new0(double, n);
    k->mean_weights[i] = g_new0(double, n);
  }
  k->means = g_new(double, k->channels);
  k->powers = g_new(float, rows);
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  AstroLayout shape;
  make_room(k);
  astro_stream_shape(&k->stream, steps, &shape);
  /* Rows that would be pushed out again are left out. */
  for (guint64 t = steps - MIN(steps, k->waterfall.rows); t < steps; t++) {
    add_steps(k, data, &shape, moment, t, t + 1);
    k->newest = astro_waterfall_push(&k->waterfall, k->powers, moment->duration_ns / steps);
    write_row(k, k->newest);
  }
  k->end_ns = moment->middle_ns + (gint64)(moment->duration_ns / 2);
  find_means(k);
  if (k->spectrum >= 0) {
    add_steps(k, data, &shape, moment, 0, steps);
    if (!k->flatten)
      add_to_means(k, steps);
    draw_spectrum(k, &panels[k->spectrum]);
  }
  if (k->rows < 0)
    return;
  for (gsize i = 0; i < (gsize)k->waterfall.shown * k->channels; i++)
    panels[k->rows].own[i] = shown_as(k, (double)k->newest[i], (guint)(i % k->channels));
  astro_waterfall_set_axis(&k->waterfall, &panels[k->rows]);
}

/* The column of a dispersion measure, which may lie between two of them; NaN: beyond them. */
static double column_of(const Kind *k, double dm)
{
  for (guint i = 1; i < k->channels; i++)
    if (dm >= k->dms[i - 1] && dm <= k->dms[i])
      return i - 1 + (dm - k->dms[i - 1]) / (k->dms[i] - k->dms[i - 1]);
  return NAN;
}

/* The row of a time, from the top of the newest; NaN: it is not shown, or the rows' lengths are not
 * known. */
static double row_of(const Kind *k, gint64 time_ns)
{
  gint64 ago = k->end_ns - time_ns;
  for (guint r = 0; r < k->waterfall.shown && ago >= 0; r++) {
    const gint64 duration = (gint64)k->waterfall.durations[r];
    if (duration == 0)
      break;
    if (ago < duration)
      return r + (double)ago / (double)duration;
    ago -= duration;
  }
  return NAN;
}

static void mark(gpointer kind, const AstroRenderMoment *moment, AstroPanel *panels)
{
  const Kind *k = kind;
  if (k->rows < 0 || !k->dms)
    return;
  AstroPanel *panel = &panels[k->rows];
  panel->n_marks = 0;
  panel->marks = g_renew(AstroPanelMark, panel->marks, moment->n_pulses);
  for (guint i = 0; i < moment->n_pulses; i++) {
    const AstroRenderPulse *pulse = &moment->pulses[i];
    const double x = column_of(k, pulse->dm), row = row_of(k, pulse->time_ns);
    if (isfinite(x) && isfinite(row))
      panel->marks[panel->n_marks++] =
          (AstroPanelMark){ x, panel->height - row - 0.5, pulse->number, TRUE };
  }
}

const AstroRenderKind astro_render_power = {
  ASTRO_QUANTITY_POWER,
  ASTRO_VIEW_AUTO,
  "application/x-astro-power, format = (string) F32LE",
  open_kind,
  take,
  close_kind,
  TRUE,
  mark,
};
