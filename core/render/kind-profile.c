/* Profiles of a pulsar, phase from left to right: the mean pulse of each station or beam; below it
 * the mean of each channel; and below that the sub-integrations, the newest on top. The first two
 * are means over all sub-integrations since the stream began, each value with the weight of the
 * samples behind it. */
#include "core/render/counted.h"
#include "core/render/ticks.h"
#include "core/render/waterfall.h"

#include <math.h>
#include <string.h>

enum { PULSE, CHANNELS, ROWS, N_PANELS };

/* Sums of values with their weights. */
typedef struct {
  double *sums, *weights;
  gsize n;
} Means;

typedef struct {
  AstroStream stream;
  guint bins, channels, stations; /* or beams */
  guint product;
  gboolean flatten;
  AstroWaterfall waterfall;
  float *profiles, *newest; /* of the rows; and where the newest is */
  Means row;                /* [bin] of a sub-integration */
  Means pulses;             /* [station][bin] */
  Means bands;              /* [channel][bin] */
} Kind;

/* ---- panels ---- */

static gboolean choose_product(Kind *k, const AstroRenderInput *in, GError **error)
{
  const gint found =
      in->style->product ? astro_power_products_find(&in->products, in->style->product) : 0;
  k->product = (guint)MAX(found, 0);
  if (found >= 0)
    return TRUE;
  g_autofree char *names = astro_power_products_to_string(&in->products);
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                             "the profiles have no product %s, expected one of %s",
                             in->style->product, names);
}

static AstroPanelAxis phase_axis(void)
{
  return (AstroPanelAxis){ g_strdup("Phase"), 0, 1 };
}

static const char *unit_of(const Kind *k)
{
  return k->flatten ? "of the mean" : "power";
}

static void add_panels(const Kind *k, const AstroRenderInput *in, GArray *panels)
{
  const AstroObservation *o = in->observation;
  const gboolean named = astro_layout_find(&in->stream.layout, ASTRO_AXIS_STATION) >= 0 && o &&
                         o->n_stations == k->stations;
  const AstroPanelAxis channels = astro_waterfall_channels(&in->stream);
  AstroPanel pulse = { .title = g_strdup(in->products.names[k->product]),
                       .is_curves = TRUE,
                       .is_stacked = TRUE,
                       .names = named ? o->names : NULL,
                       .width = k->bins,
                       .height = k->stations,
                       .x = phase_axis(),
                       .y = { g_strdup_printf("Power (%s)", unit_of(k)), 0, 1 } };
  AstroPanel bands = { .is_stacked = TRUE,
                       .upward = TRUE,
                       .unit = unit_of(k),
                       .width = k->bins,
                       .height = k->channels,
                       .x = phase_axis(),
                       .y = channels };
  AstroPanel rows = { .is_stacked = TRUE,
                      .unit = unit_of(k),
                      .width = k->bins,
                      .height = in->style->rows,
                      .x = phase_axis(),
                      .y = { g_strdup(k->waterfall.things), 0, 1 } };
  g_array_append_val(panels, pulse);
  g_array_append_val(panels, bands);
  g_array_append_val(panels, rows);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  if (!astro_render_check_auto(in->style, "profiles", error) || !choose_product(k, in, error)) {
    g_free(k);
    return NULL;
  }
  k->stream = in->stream;
  k->flatten = in->style->flatten;
  k->bins = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_PHASE);
  k->channels = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_CHANNEL);
  k->stations = (guint)(astro_stream_extent(&in->stream, ASTRO_AXIS_STATION) *
                        astro_stream_extent(&in->stream, ASTRO_AXIS_BEAM));
  k->waterfall = (AstroWaterfall){ .width = k->bins,
                                   .rows = in->style->rows,
                                   .things = "Sub-integrations ago" };
  add_panels(k, in, panels);
  return k;
}

static void clear_means(Means *means)
{
  g_free(means->sums);
  g_free(means->weights);
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  astro_waterfall_clear(&k->waterfall);
  g_free(k->profiles);
  clear_means(&k->row);
  clear_means(&k->pulses);
  clear_means(&k->bands);
  g_free(k);
}

/* ---- values ---- */

static void make_means(Means *means, gsize n)
{
  *means = (Means){ g_new0(double, n), g_new0(double, n), n };
}

static void add(Means *means, gsize at, double value, double weight)
{
  means->sums[at] += weight * value;
  means->weights[at] += weight;
}

static void make_room(Kind *k)
{
  if (k->profiles)
    return;
  k->profiles = g_new(float, ((gsize)k->waterfall.rows + ASTRO_WATERFALL_SPARE) * k->bins);
  make_means(&k->row, k->bins);
  make_means(&k->pulses, (gsize)k->stations * k->bins);
  make_means(&k->bands, (gsize)k->channels * k->bins);
}

/* Adds one sub-integration to all means. */
static void add_step(Kind *k, const float *data, const AstroLayout *shape,
                     const AstroRenderMoment *moment, guint64 step)
{
  const gboolean has_beams = astro_layout_find(shape, ASTRO_AXIS_BEAM) >= 0;
  AstroCounted counted;
  astro_counted_init(&counted, shape, moment->validity);
  const AstroCountedAxis time = astro_counted_axis(&counted, shape, ASTRO_AXIS_TIME),
                         pol = astro_counted_axis(&counted, shape, ASTRO_AXIS_POL),
                         channel = astro_counted_axis(&counted, shape, ASTRO_AXIS_CHANNEL),
                         phase = astro_counted_axis(&counted, shape, ASTRO_AXIS_PHASE),
                         station = astro_counted_axis(
                             &counted, shape, has_beams ? ASTRO_AXIS_BEAM : ASTRO_AXIS_STATION);
  for (guint s = 0; s < k->stations; s++)
    for (guint c = 0; c < k->channels; c++) {
      const float *values = data + step * time.stride + s * station.stride + c * channel.stride +
                            k->product * pol.stride;
      const guint64 base = astro_counted_at(&time, step) + astro_counted_at(&station, s) +
                           astro_counted_at(&channel, c) + astro_counted_at(&pol, k->product);
      for (guint b = 0; b < k->bins; b++) {
        const double value = (double)values[b * phase.stride],
                     weight = moment->validity
                                  ? moment->validity->counts[base + astro_counted_at(&phase, b)]
                                  : 1;
        if (!(weight > 0) || !isfinite(value))
          continue;
        add(&k->row, b, value, weight);
        add(&k->pulses, (gsize)s * k->bins + b, value, weight);
        add(&k->bands, (gsize)c * k->bins + b, value, weight);
      }
    }
}

/* Writes means as rows of bins; NaN where there is none. With flatten each row is divided by its
 * own mean. */
static void write_means(const Kind *k, const Means *means, float *to)
{
  for (gsize row = 0; row < means->n; row += k->bins) {
    double sum = 0, weight = 0;
    for (guint b = 0; b < k->bins; b++) {
      sum += means->sums[row + b];
      weight += means->weights[row + b];
    }
    const double scale = k->flatten ? weight / sum : 1;
    for (guint b = 0; b < k->bins; b++) {
      const double value = means->sums[row + b] / means->weights[row + b] * scale;
      to[row + b] = isfinite(value) ? (float)value : NAN;
    }
  }
}

static void draw_pulse(const Kind *k, AstroPanel *panel)
{
  double least = INFINITY, most = -INFINITY;
  write_means(k, &k->pulses, panel->own);
  for (gsize i = 0; i < k->pulses.n; i++) {
    least = fmin(least, (double)panel->own[i]);
    most = fmax(most, (double)panel->own[i]);
  }
  if (most >= least)
    astro_axis_around(&panel->y, least, most);
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  AstroLayout shape;
  make_room(k);
  astro_stream_shape(&k->stream, steps, &shape);
  for (guint64 step = 0; step < steps; step++) {
    memset(k->row.sums, 0, k->bins * sizeof *k->row.sums);
    memset(k->row.weights, 0, k->bins * sizeof *k->row.weights);
    if (!moment->is_gap)
      add_step(k, data, &shape, moment, step);
    k->newest = astro_waterfall_push(&k->waterfall, k->profiles, moment->duration_ns / steps);
    write_means(k, &k->row, k->newest);
  }
  draw_pulse(k, &panels[PULSE]);
  write_means(k, &k->bands, panels[CHANNELS].own);
  memcpy(panels[ROWS].own, k->newest, (gsize)k->waterfall.shown * k->bins * sizeof(float));
  astro_waterfall_set_axis(&k->waterfall, &panels[ROWS]);
}

const AstroRenderKind astro_render_profile = {
  ASTRO_QUANTITY_PROFILE,
  ASTRO_VIEW_AUTO,
  "application/x-astro-profile, format = (string) F32LE",
  open_kind,
  take,
  close_kind,
  TRUE,
};
