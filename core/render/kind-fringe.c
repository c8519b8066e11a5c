/* Visibilities as a fringe: the phase of the baseline of the first two stations over time, and its
 * lags. */
#include "core/render/lags.h"
#include "core/render/visibilities.h"
#include "core/kit/units.h"

#include <math.h>
#include <string.h>

#define GAP 1.5 /* integrations between two middles, above which some are missing */

enum { PHASE, LAGS };

typedef struct {
  AstroRenderVisibilities v;
  guint most, shown, lags; /* numbers of integrations (the newest is last) and of lags */
  double last, step;       /* middle of the newest, and distance of two: seconds, or integrations */
  gboolean has_times;
  AstroLags *finder;
  double (*spectrum)[2];
  float *amplitudes; /* [shown][lags] */
  float *phases;     /* degrees */
} Kind;

/* ---- panels ---- */

static const struct {
  double from, seconds; /* the smallest range of lags; in a unit */
  const char *name;
} units[] = { { 2, 1, "s" }, { 2e-3, 1e-3, "ms" }, { 2e-6, 1e-6, "µs" }, { 0, 1e-9, "ns" } };

static AstroPanelAxis lag_axis(const Kind *k)
{
  const double bandwidth = k->v.stream.bandwidth;
  if (!(bandwidth > 0))
    return (AstroPanelAxis){ g_strdup("Lag (1/bandwidth)"), -0.5 * (double)k->v.channels,
                             0.5 * (double)k->v.channels };
  const double range = astro_lags_range(bandwidth, k->v.channels);
  guint i = 0;
  while (range < units[i].from)
    i++;
  const double half = range / 2 / units[i].seconds, place = 2 * half / k->lags;
  /* The first row is centred on the most negative lag. */
  return (AstroPanelAxis){ g_strdup_printf("Lag (%s)", units[i].name), -half - place / 2,
                           half - place / 2 };
}

static char *title_of(const Kind *k, const AstroRenderInput *in)
{
  char *const *names = astro_render_visibilities_names(&k->v, in);
  return names ? g_strdup_printf("Stations %s and %s, %s", names[1], names[0], k->v.product_name)
               : g_strdup_printf("Stations 1 and 0, %s", k->v.product_name);
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  Kind *k = g_new0(Kind, 1);
  gboolean good = astro_render_visibilities_open(&k->v, in, error);
  if (good && k->v.stations < 2)
    good = astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                               "a fringe needs two stations, but there is one: expected "
                               "view=spectrum or matrix");
  if (good && k->v.channels > G_MAXINT / 16)
    good =
        astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                            "channels is %" G_GUINT64_FORMAT ", expected at most %d for a fringe",
                            k->v.channels, G_MAXINT / 16);
  if (!good) {
    g_free(k);
    return NULL;
  }
  k->most = in->style->rows;
  k->lags = astro_lags_count(k->v.channels);
  AstroPanel phase = { .title = title_of(k, in), .is_stacked = TRUE, .n_points = k->most };
  AstroPanel lags = {
    .is_stacked = TRUE, .upward = TRUE, .unit = "amplitude", .width = k->most, .height = k->lags
  };
  phase.x = (AstroPanelAxis){ g_strdup("Integration"), 0, 1 };
  lags.x = (AstroPanelAxis){ g_strdup("Integration"), 0, 1 };
  phase.y = (AstroPanelAxis){ g_strdup("Phase (degrees)"), -180, 180, .is_angle = TRUE };
  lags.y = lag_axis(k);
  g_array_append_val(panels, phase);
  g_array_append_val(panels, lags);
  return k;
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  astro_lags_free(k->finder);
  g_free(k->spectrum);
  g_free(k->amplitudes);
  g_free(k->phases);
  g_free(k);
}

/* ---- integrations ---- */

static void begin(Kind *k)
{
  k->finder = astro_lags_new(k->v.channels);
  k->spectrum = g_malloc(k->v.channels * sizeof *k->spectrum);
  k->amplitudes = g_new(float, (gsize)k->most * k->lags);
  k->phases = g_new(float, k->most);
}

/* Adds an empty column for the newest integration; drops the oldest if all columns are taken. */
static void make_place(Kind *k)
{
  if (k->shown == k->most) {
    memmove(k->phases, k->phases + 1, (k->most - 1) * sizeof *k->phases);
    memmove(k->amplitudes, k->amplitudes + k->lags,
            (gsize)(k->most - 1) * k->lags * sizeof *k->amplitudes);
    k->shown--;
  }
  k->phases[k->shown] = NAN;
  for (guint i = 0; i < k->lags; i++)
    k->amplitudes[(gsize)k->shown * k->lags + i] = NAN;
  k->shown++;
}

/* Missing integrations leave their columns empty; if time runs backwards, the picture starts again.
 */
static void go_to(Kind *k, double time, double step)
{
  const double ahead = k->shown ? (time - k->last) / k->step : 1;
  if (!(ahead > 0))
    k->shown = 0;
  else if (ahead > GAP)
    for (guint i = 1; i < fmin(round(ahead), k->most); i++)
      make_place(k);
  if (k->shown == 0) /* the last one of a stream may be shorter than the others */
    k->step = step;
  make_place(k);
  k->last = time;
}

static void take_one(Kind *k, const AstroRenderIntegration *shown)
{
  const AstroRenderVisibilities *v = &k->v;
  const guint64 baseline = astro_render_baseline(1, 0), all = v->channels;
  double mean[2];
  for (guint64 c = 0; c < all; c++)
    astro_render_visibilities_mean(v, shown, c, 1, baseline, v->product[0], v->product[1],
                                   k->spectrum[c]);
  astro_lags_find(k->finder, (const double(*)[2])k->spectrum,
                  k->amplitudes + (gsize)(k->shown - 1) * k->lags);
  astro_render_visibilities_mean(v, shown, v->channel < 0 ? 0 : (guint64)v->channel,
                                 v->channel < 0 ? all : 1, baseline, v->product[0], v->product[1],
                                 mean);
  k->phases[k->shown - 1] = (float)(atan2(mean[1], mean[0]) * ASTRO_DEGREES);
}

/* ---- drawing ---- */

static void set_time_axis(const Kind *k, AstroPanelAxis *axis, double *unit)
{
  const double to = k->last + k->step / 2, from = to - k->shown * k->step;
  *unit = 1;
  if (k->has_times) {
    *unit = astro_panel_set_times(axis, from, to);
    return;
  }
  g_free(axis->label);
  axis->label = g_strdup("Integration");
  axis->from = from;
  axis->to = to;
}

static void show(const Kind *k, AstroPanel *panels)
{
  double unit;
  for (guint i = 0; i < 2; i++)
    set_time_axis(k, &panels[i].x, &unit);
  panels[PHASE].n_points = panels[LAGS].width = k->shown;
  for (guint t = 0; t < k->shown; t++) {
    panels[PHASE].points[t] =
        (AstroPanelPoint){ .x = (k->last - (k->shown - 1 - t) * k->step) / unit,
                           .y = k->phases[t] };
    for (guint i = 0; i < k->lags; i++)
      panels[LAGS].own[(gsize)i * k->shown + t] = k->amplitudes[(gsize)t * k->lags + i];
  }
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  const double duration = (double)moment->duration_ns / ASTRO_NS_PER_SECOND;
  const double begin_at = (double)moment->middle_ns / ASTRO_NS_PER_SECOND - duration / 2;
  if (!k->finder)
    begin(k);
  if (k->has_times != (duration > 0))
    k->shown = 0;
  k->has_times = duration > 0;
  for (guint64 i = 0; i < steps; i++) {
    const AstroRenderIntegration shown = astro_render_integration(&k->v, data, steps, i, moment);
    const double step = k->has_times ? duration / (double)steps : 1;
    go_to(k, k->has_times ? begin_at + ((double)i + 0.5) * step : (k->shown ? k->last : 0) + 1,
          step);
    take_one(k, &shown);
  }
  show(k, panels);
}

const AstroRenderKind astro_render_fringe = {
  ASTRO_QUANTITY_VISIBILITIES,
  ASTRO_VIEW_FRINGE,
  ASTRO_RENDER_VISIBILITIES,
  open_kind,
  take,
  close_kind,
  TRUE,
};
