/* Gains of stations: amplitude and phase, or delay and phase, against time, and along the band
 * where there are several channels. Few stations are curves, many are rows of pixels. */
#include "core/kit/units.h"
#include "core/lib/gains/caps.h"
#include "core/render/counted.h"
#include "core/render/panel.h"
#include "core/render/ticks.h"
#include "core/render/waterfall.h"

#include <math.h>
#include <string.h>

#define MOST_CURVES 12 /* stations, whose names fit beside their curves */
#define SLACK 1e-6     /* of an interval, for rounding of times */

typedef enum { AMPLITUDE, PHASE, DELAY } Measure;

static const struct {
  const char *name, *unit;
} measures[] = {
  [AMPLITUDE] = { "Amplitude", NULL },
  [PHASE] = { "Phase", "degrees" },
  [DELAY] = { "Delay", "ns" },
};

/* A panel shows one number of one product. */
typedef struct {
  guint product;
  Measure measure;
  gboolean is_band; /* along the band, in the newest interval */
} Shown;

typedef struct {
  double begin, end; /* seconds since the start, or intervals */
} Interval;

typedef struct {
  AstroStream stream;
  guint stations, channels, products;
  gint channel; /* -1: the mean of all */
  guint most;   /* intervals that are kept */
  gboolean has_times;
  guint n_shown;
  Shown *shown;
  GArray *intervals; /* Interval, the newest is last */
  GArray *values;    /* float [interval][panel][station], of panels against time */
} Kind;

/* ---- panels ---- */

static char *label_of(Measure measure)
{
  return measures[measure].unit
             ? g_strdup_printf("%s (%s)", measures[measure].name, measures[measure].unit)
             : g_strdup(measures[measure].name);
}

static void add_panel(Kind *k, const AstroRenderInput *in, const Shown *shown, GArray *panels)
{
  const AstroObservation *o = in->observation;
  char **names = o && o->n_stations == k->stations ? o->names : NULL;
  const gboolean is_curves = k->stations <= MOST_CURVES, is_phase = shown->measure == PHASE;
  const char *product = in->products.names[shown->product];
  AstroPanel panel = { .is_curves = is_curves,
                       .is_dots = is_phase,
                       .width = shown->is_band ? k->channels : k->most,
                       .height = k->stations };
  panel.x = shown->is_band ? astro_waterfall_channels(&in->stream)
                           : (AstroPanelAxis){ g_strdup("Interval"), 0, 1 };
  if (is_curves) {
    panel.title = g_strdup(product);
    panel.names = names;
    panel.y = (AstroPanelAxis){ label_of(shown->measure), is_phase ? -180 : 0, is_phase ? 180 : 1,
                                .is_angle = is_phase };
  } else {
    panel.title = g_strdup_printf("%s of %s", measures[shown->measure].name, product);
    panel.unit = measures[shown->measure].unit;
    panel.is_angle = is_phase;
    panel.y = (AstroPanelAxis){ g_strdup("Station"), k->stations - 0.5, -0.5,
                                .whole = TRUE,       .names = names,    .n_names = k->stations };
  }
  g_array_append_val(panels, panel);
  k->shown[k->n_shown++] = *shown;
}

/* Types that solve no amplitudes have those of 1, which are not worth a panel. */
static void add_product(Kind *k, const AstroRenderInput *in, guint product, GArray *panels)
{
  const gboolean is_delay = astro_gains_is_delay(in->products.names[product]);
  for (guint band = 0; band < (k->channels > 1 ? 2u : 1u); band++) {
    const Shown amplitude = { product, AMPLITUDE, band == 1 },
                phase = { product, PHASE, band == 1 }, delay = { product, DELAY, band == 1 };
    if (is_delay) {
      add_panel(k, in, &delay, panels);
      continue;
    }
    if (in->has_amplitudes)
      add_panel(k, in, &amplitude, panels);
    add_panel(k, in, &phase, panels);
  }
}

static gboolean choose_product(const AstroRenderInput *in, gint *product, GError **error)
{
  const char *wanted = in->style->product;
  *product = -1;
  for (guint i = 0; wanted && i < in->products.n; i++)
    if (strcmp(wanted, in->products.names[i]) == 0)
      *product = (gint)i;
  if (!wanted || *product >= 0)
    return TRUE;
  g_autofree char *all = astro_power_products_to_string(&in->products);
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "there is no product %s, expected one of %s", wanted, all);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  const guint channels = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  gint product;
  if (!astro_render_check_auto(in->style, "gains", error) || !choose_product(in, &product, error) ||
      !astro_render_check_channel(in->style->channel, channels, error))
    return NULL;
  Kind *k = g_new0(Kind, 1);
  k->stream = in->stream;
  k->stations = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_STATION);
  k->channels = channels;
  k->products = in->products.n;
  k->channel = in->style->channel;
  k->most = in->style->rows;
  k->shown = g_new0(Shown, 4 * (gsize)k->products);
  k->intervals = g_array_new(FALSE, FALSE, sizeof(Interval));
  k->values = g_array_new(FALSE, FALSE, sizeof(float));
  for (guint i = 0; i < k->products; i++)
    if (product < 0 || (guint)product == i)
      add_product(k, in, i, panels);
  return k;
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  g_free(k->shown);
  g_array_unref(k->intervals);
  g_array_unref(k->values);
  g_free(k);
}

/* ---- values ---- */

typedef struct {
  const complex double *data;
  const AstroValidityMeta *validity; /* NULL: all are good */
  guint64 first;                     /* count of the step, behind those before it */
  gboolean is_gap;
  AstroCountedAxis station, channel, pol;
} Step;

static Step step_of(const Kind *k, gconstpointer data, guint64 steps, guint64 number,
                    const AstroRenderMoment *moment)
{
  AstroLayout shape;
  AstroCounted counted;
  astro_stream_shape(&k->stream, steps, &shape);
  astro_counted_init(&counted, &shape, moment->validity);
  const AstroCountedAxis time = astro_counted_axis(&counted, &shape, ASTRO_AXIS_TIME);
  return (Step){
    .data = (const complex double *)data + number * time.stride,
    .validity = moment->validity && moment->validity->counts ? moment->validity : NULL,
    .first = astro_counted_at(&time, number),
    .is_gap = moment->is_gap,
    .station = astro_counted_axis(&counted, &shape, ASTRO_AXIS_STATION),
    .channel = astro_counted_axis(&counted, &shape, ASTRO_AXIS_CHANNEL),
    .pol = astro_counted_axis(&counted, &shape, ASTRO_AXIS_POL),
  };
}

static gboolean is_good(const Step *s, guint station, guint channel, guint product)
{
  return !s->validity || s->validity->counts[s->first + astro_counted_at(&s->station, station) +
                                             astro_counted_at(&s->channel, channel) +
                                             astro_counted_at(&s->pol, product)] > 0;
}

/* The mean over good channels; NaN: there are none. */
static float measure(const Step *s, const Shown *shown, guint station, guint first, guint last)
{
  complex double sum = 0;
  guint n = 0;
  for (guint c = first; c < last && !s->is_gap; c++)
    if (is_good(s, station, c, shown->product)) {
      sum += s->data[station * s->station.stride + c * s->channel.stride +
                     shown->product * s->pol.stride];
      n++;
    }
  if (n == 0)
    return NAN;
  const complex double mean = sum / n;
  const double value = shown->measure == AMPLITUDE ? cabs(mean)
                       : shown->measure == PHASE   ? carg(mean) * ASTRO_DEGREES
                                                   : creal(mean) * 1e9;
  return isfinite(value) ? (float)value : NAN;
}

/* If time runs backwards, the picture starts again; the oldest intervals make room. */
static void add_interval(Kind *k, const Step *s, Interval interval)
{
  const guint row = k->n_shown * k->stations;
  const guint n = k->intervals->len;
  if (n && interval.begin < g_array_index(k->intervals, Interval, n - 1).end -
                                SLACK * (interval.end - interval.begin)) {
    g_array_set_size(k->intervals, 0);
    g_array_set_size(k->values, 0);
  } else if (n == k->most) {
    g_array_remove_index(k->intervals, 0);
    g_array_remove_range(k->values, 0, row);
  }
  g_array_append_val(k->intervals, interval);
  for (guint p = 0; p < k->n_shown; p++)
    for (guint i = 0; i < k->stations; i++) {
      const guint first = k->channel < 0 ? 0 : (guint)k->channel,
                  last = k->channel < 0 ? k->channels : first + 1;
      const float value = measure(s, &k->shown[p], i, first, last);
      g_array_append_val(k->values, value);
    }
}

/* ---- drawing ---- */

static void set_range(AstroPanel *panel)
{
  double least = INFINITY, most = -INFINITY;
  for (gsize i = 0; i < (gsize)panel->width * panel->height; i++) {
    least = fmin(least, (double)panel->own[i]);
    most = fmax(most, (double)panel->own[i]);
  }
  if (panel->is_curves && !panel->y.is_angle && most >= least)
    astro_axis_around(&panel->y, least, most);
}

static void draw_band(const Kind *k, const Step *s, const Shown *shown, AstroPanel *panel)
{
  for (guint i = 0; i < k->stations; i++)
    for (guint c = 0; c < k->channels; c++)
      panel->own[(gsize)i * k->channels + c] = measure(s, shown, i, c, c + 1);
}

/* Columns are as wide as the shortest interval. Times between intervals stay empty. */
static void draw_times(const Kind *k, guint number, AstroPanel *panel)
{
  const Interval *all = (const Interval *)(gconstpointer)k->intervals->data;
  const guint n = k->intervals->len;
  const double from = all[0].begin, to = all[n - 1].end;
  double shortest = to - from;
  for (guint i = 0; i < n; i++)
    shortest = fmin(shortest, all[i].end - all[i].begin);
  panel->width = (guint)CLAMP(round((to - from) / shortest), 1, k->most);
  for (guint column = 0, at = 0; column < panel->width; column++) {
    const double time = from + (column + 0.5) * (to - from) / panel->width;
    while (at + 1 < n && all[at + 1].begin <= time)
      at++;
    const float *values = (const float *)(gconstpointer)k->values->data +
                          ((gsize)at * k->n_shown + number) * k->stations;
    for (guint i = 0; i < k->stations; i++)
      panel->own[(gsize)i * panel->width + column] = time < all[at].end ? values[i] : NAN;
  }
  if (k->has_times)
    astro_panel_set_times(&panel->x, from, to);
  else
    panel->x.from = from, panel->x.to = to;
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  const double duration = (double)moment->duration_ns / ASTRO_NS_PER_SECOND / (double)steps,
               begin =
                   (double)moment->middle_ns / ASTRO_NS_PER_SECOND - duration * (double)steps / 2;
  Step step = { 0 };
  if (k->has_times != (duration > 0))
    g_array_set_size(k->intervals, 0);
  if (k->intervals->len == 0)
    g_array_set_size(k->values, 0);
  k->has_times = duration > 0;
  for (guint64 t = 0; t < steps; t++) {
    const double number =
        k->intervals->len ? g_array_index(k->intervals, Interval, k->intervals->len - 1).end : 0;
    step = step_of(k, data, steps, t, moment);
    add_interval(k, &step,
                 k->has_times ? (Interval){ begin + (double)t * duration,
                                            begin + (double)(t + 1) * duration }
                              : (Interval){ number, number + 1 });
  }
  for (guint p = 0; p < k->n_shown; p++) {
    if (k->shown[p].is_band)
      draw_band(k, &step, &k->shown[p], &panels[p]);
    else
      draw_times(k, p, &panels[p]);
    set_range(&panels[p]);
  }
}

const AstroRenderKind astro_render_gains = {
  ASTRO_QUANTITY_GAINS,
  ASTRO_VIEW_AUTO,
  "application/x-astro-gains, format = (string) CF64LE, layout = (string) station:channel:pol",
  open_kind,
  take,
  close_kind,
  TRUE,
};
