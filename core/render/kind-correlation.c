/* Correlation functions by angle as points with error bars over decades: w and the power law that
 * fits it, those of a scalar or a shear; those in space in their own way (space-correlation.h). */
#include "core/kit/power-law.h"
#include "core/render/decades.h"
#include "core/render/panel.h"
#include "core/render/space-correlation.h"

#include <math.h>

/* Columns that have a panel, if they are there. */
static const struct {
  const char *value, *error, *label;
} functions[] = {
  { "w", "error", "w(θ)" },     { "xip", "sigma_xip", "ξ+(θ)" }, { "xim", "sigma_xim", "ξ−(θ)" },
  { "xi", "sigma_xi", "ξ(θ)" }, { "kappa", "sigma", "κ(θ)" },    { "gamT", "sigma", "γt(θ)" },
};

typedef struct {
  guint bins;
  gint theta, low, high, pairs; /* indices of columns; -1: not there */
  struct {
    gint value, error;
    const char *label;
  } shown[G_N_ELEMENTS(functions)]; /* of each panel */
  guint n;
  SpaceCorrelation *space; /* NULL: by angle */
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

/* The first of two columns that is there. */
static gint either(char **columns, const char *name, const char *other)
{
  const gint found = space_correlation_column(columns, name);
  return found >= 0 ? found : space_correlation_column(columns, other);
}

static void add_panels(Kind *k, char **columns, GArray *panels)
{
  for (guint f = 0; f < G_N_ELEMENTS(functions); f++) {
    const gint value = space_correlation_column(columns, functions[f].value);
    if (value < 0)
      continue;
    k->shown[k->n].value = value;
    k->shown[k->n].error = space_correlation_column(columns, functions[f].error);
    k->shown[k->n++].label = functions[f].label;
    AstroPanel panel = { .x = { g_strdup("θ (arcmin)"), 1, 10, .is_log = TRUE },
                         .y = { g_strdup(functions[f].label), 1, 10, .is_log = TRUE },
                         .n_points = k->bins };
    g_array_append_val(panels, panel);
  }
  for (guint i = 0; i < k->n; i++)
    g_array_index(panels, AstroPanel, i).is_stacked = k->n > 1;
}

static gpointer open_kind(const AstroRenderInput *in, GArray *panels, GError **error)
{
  if (space_correlation_is_in(in->columns))
    return open_in_space(in, panels, error);
  Kind *k = g_new0(Kind, 1);
  k->bins = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_BIN);
  k->theta = either(in->columns, "theta", "meanr");
  k->low = space_correlation_column(in->columns, "low");
  k->high = space_correlation_column(in->columns, "high");
  k->pairs = either(in->columns, "dd", "npairs");
  if (k->theta >= 0)
    add_panels(k, in->columns, panels);
  if (k->n > 0)
    return k;
  g_free(k);
  g_autofree char *found = g_strjoinv(":", in->columns);
  astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                      "columns are %s, expected theta and w among them, or meanr and xip, xim, xi, "
                      "kappa or gamT",
                      found);
  return NULL;
}

static double cell(const Kind *k, const double *table, gint column, guint bin)
{
  return column < 0 ? NAN : table[(gsize)column * k->bins + bin];
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
  const double *dd = values_of(k, table, k->pairs);
  g_autofree double *pairs = dd ? g_new(double, k->bins) : NULL;
  if (dd)
    set_pairs(k, dd, pairs);
  const AstroPowerLawBins bins = { values_of(k, table, k->theta),
                                   values_of(k, table, k->shown[0].value),
                                   values_of(k, table, k->shown[0].error), pairs, k->bins };
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
  if (k->space) {
    space_correlation_take(k->space, table, panels);
    return;
  }
  for (guint i = 0; i < k->n; i++) {
    for (guint b = 0; b < k->bins; b++) {
      AstroPanelPoint *p = &panels[i].points[b];
      *p = (AstroPanelPoint){ cell(k, table, k->theta, b), cell(k, table, k->low, b),
                              cell(k, table, k->high, b), cell(k, table, k->shown[i].value, b),
                              cell(k, table, k->shown[i].error, b) };
      if (cell(k, table, k->pairs, b) == 0) /* there is no measurement there */
        p->y = NAN;
    }
    astro_panel_span_decades(&panels[i], k->shown[i].label);
  }
  if (k->shown[0].label == functions[0].label)
    fit(k, table, &panels[0]);
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
