/* Correlation functions by angle as points with error bars over decades, and the power law that
 * fits them; those in space in their own way (space-correlation.h). */
#include "core/kit/power-law.h"
#include "core/render/panel.h"
#include "core/render/space-correlation.h"

#include <math.h>

typedef struct {
  guint bins;
  gint theta, low, high, w, error, dd; /* indices of columns; -1: not there */
  SpaceCorrelation *space;             /* NULL: by angle */
} Kind;

static gpointer open_in_space(const AstroRenderInput *in, GArray *panels, GError **error)
{
  SpaceCorrelation *space = space_correlation_open(in, panels, error);
  if (!space)
    return NULL;
  Kind *k = g_new0(Kind, 1);
  k->space = space;
  return k;
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  gint theta = space_correlation_column(in->columns, "theta"),
       w = space_correlation_column(in->columns, "w");
  if (space_correlation_is_in(in->columns))
    return open_in_space(in, panels, error);
  if (theta < 0 || w < 0) {
    g_autofree char *found = g_strjoinv(":", in->columns);
    astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                        "columns are %s, expected theta and w among them", found);
    return NULL;
  }
  Kind *k = g_new0(Kind, 1);
  *k = (Kind){ (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_BIN),
               theta,
               space_correlation_column(in->columns, "low"),
               space_correlation_column(in->columns, "high"),
               w,
               space_correlation_column(in->columns, "error"),
               space_correlation_column(in->columns, "dd") };
  AstroPanel panel = { .x = { g_strdup("θ (arcmin)"), 1, 10, .is_log = TRUE },
                       .y = { g_strdup("w(θ)"), 1, 10, .is_log = TRUE },
                       .n_points = k->bins };
  g_array_append_val(panels, panel);
  return k;
}

static double cell(const Kind *k, const double *table, gint column, guint bin)
{
  return column < 0 ? NAN : table[(gsize)column * k->bins + bin];
}

static void include(double value, double *least, double *most)
{
  if (!(value > 0) || isinf(value))
    return;
  *least = fmin(*least, value);
  *most = fmax(*most, value);
}

static const double *values_of(const Kind *k, const double *table, gint column)
{
  return column < 0 ? NULL : table + (gsize)column * k->bins;
}

/* The error of a bin cannot be estimated from sums of weights, as these are not counts; bins with
 * any pairs are then treated as if they had infinitely many. */
static void set_pairs(const Kind *k, const double *dd, double *pairs)
{
  gboolean are_counts = TRUE;
  for (guint b = 0; b < k->bins; b++)
    are_counts = are_counts && dd[b] == floor(dd[b]);
  for (guint b = 0; b < k->bins; b++)
    pairs[b] = are_counts || !(dd[b] > 0) ? dd[b] : INFINITY;
}

/* Fits all bins, as astrotpacf reports. */
static void fit(const Kind *k, const double *table, AstroPanel *panel)
{
  AstroPowerLaw law = { .amplitude = NAN, .slope = NAN };
  const double *dd = values_of(k, table, k->dd);
  g_autofree double *pairs = dd ? g_new(double, k->bins) : NULL;
  if (dd)
    set_pairs(k, dd, pairs);
  const AstroPowerLawBins bins = { values_of(k, table, k->theta), values_of(k, table, k->w),
                                   values_of(k, table, k->error), pairs, k->bins };
  if (bins.error)
    astro_power_law_fit(&bins, 0, INFINITY, &law);
  panel->amplitude = law.amplitude;
  panel->slope = law.slope;
  panel->fit_from = law.from;
  panel->fit_to = law.to;
}

static void take(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
                 AstroPanel *panels)
{
  Kind *k = kind;
  const double *table = data;
  AstroPanel *panel = &panels[0];
  if (k->space) {
    space_correlation_take(k->space, table, panels);
    return;
  }
  double x[2] = { INFINITY, -INFINITY }, y[2] = { INFINITY, -INFINITY };
  gboolean any_below = FALSE;
  for (guint b = 0; b < k->bins; b++) {
    AstroPanelPoint *p = &panel->points[b];
    *p = (AstroPanelPoint){ cell(k, table, k->theta, b), cell(k, table, k->low, b),
                            cell(k, table, k->high, b), cell(k, table, k->w, b),
                            cell(k, table, k->error, b) };
    if (cell(k, table, k->dd, b) == 0) /* there is no measurement there */
      p->y = NAN;
    if (!(p->x > 0) || !isfinite(p->x) || !isfinite(p->y) || p->y == 0)
      continue;
    any_below = any_below || p->y < 0;
    include(p->x, &x[0], &x[1]);
    include(p->x_low, &x[0], &x[1]);
    include(p->x_high, &x[0], &x[1]);
    include(fabs(p->y), &y[0], &y[1]);
    include(fabs(p->y) + p->error, &y[0], &y[1]);
  }
  fit(k, table, panel);
  g_free(panel->y.label);
  panel->y.label = g_strdup(any_below ? "w(θ), hollow if below 0" : "w(θ)");
  space_correlation_set_decades(&panel->x, x[0], x[1]);
  space_correlation_set_decades(&panel->y, y[0], y[1]);
}

static void close_kind(gpointer kind)
{
  Kind *k = kind;
  g_free(k->space);
  g_free(k);
}

const AstroRenderKind astro_render_correlation = {
  ASTRO_QUANTITY_CORRELATION_FUNCTION,
  ASTRO_VIEW_AUTO,
  "application/x-astro-correlation-function, format = (string) F64LE, layout = (string) column:bin",
  open_kind,
  take,
  close_kind,
};
