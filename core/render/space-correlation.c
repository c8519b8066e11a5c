/* A table's columns say what it holds: xi of every bin or of wedges has mu or pi, multipoles have
 * ell, and wp is named. How many columns of bins there are shows in the values alone. */
#include "core/render/space-correlation.h"

#include "core/kit/fail.h"
#include "core/render/decades.h"

#include <math.h>

typedef enum { MAP, MULTIPOLES, WP } Shape;

#define N_MULTIPOLES 3 /* ell is 0, 2 and 4, one after the other (core/tpacf) */

struct _SpaceCorrelation {
  Shape shape;
  guint rows; /* of the table */
  gint separation, low, high, value, error;
  gint across, across_low, across_high; /* mu or pi */
  const char *separation_name, *across_name;
};

gint space_correlation_column(char **columns, const char *name)
{
  for (gint c = 0; columns[c]; c++)
    if (g_str_equal(columns[c], name))
      return c;
  return -1;
}

gboolean space_correlation_is_in(char **columns)
{
  return space_correlation_column(columns, "s") >= 0 ||
         space_correlation_column(columns, "rp") >= 0;
}

static gint find(char **columns, const char *name, const char *end)
{
  g_autofree char *whole = g_strconcat(name, end, NULL);
  return space_correlation_column(columns, whole);
}

/* ---- panels ---- */

/* Points of wp lie over decades. */
static void add_wp(const SpaceCorrelation *c, GArray *panels)
{
  AstroPanel panel = { .x = { g_strdup("rp"), 1, 10, .is_log = TRUE },
                       .y = { g_strdup("wp(rp)"), 1, 10, .is_log = TRUE },
                       .n_points = c->rows };
  g_array_append_val(panels, panel);
}

static void add_multipoles(const SpaceCorrelation *c, GArray *panels)
{
  for (guint m = 0; m < N_MULTIPOLES; m++) {
    AstroPanel panel = { .x = { g_strdup(c->separation_name), 0, 1 },
                         .y = { g_strdup_printf("s² ξ%u", 2 * m), 0, 1 },
                         .is_stacked = TRUE,
                         .n_points = c->rows / N_MULTIPOLES };
    g_array_append_val(panels, panel);
  }
}

/* There is room for all values; how they are arranged is known with the first table. */
static void add_map(const SpaceCorrelation *c, GArray *panels)
{
  AstroPanel panel = { .x = { g_strdup(c->across_name), 0, 1 },
                       .y = { g_strdup(c->separation_name), 0, 1 },
                       .upward = TRUE,
                       .width = c->rows,
                       .height = 1,
                       .unit = "ξ" };
  g_array_append_val(panels, panel);
}

SpaceCorrelation *space_correlation_open(const AstroRenderInput *in, GArray *panels, GError **error)
{
  static void (*const add[])(const SpaceCorrelation *, GArray *) = { add_map, add_multipoles,
                                                                     add_wp };
  char **columns = in->columns;
  SpaceCorrelation c = { .rows = (guint)astro_stream_extent(&in->stream, ASTRO_AXIS_BIN) };
  c.separation_name = space_correlation_column(columns, "s") >= 0 ? "s" : "rp";
  c.across_name = space_correlation_column(columns, "mu") >= 0 ? "mu" : "pi";
  c.shape = space_correlation_column(columns, "ell") >= 0  ? MULTIPOLES
            : space_correlation_column(columns, "wp") >= 0 ? WP
                                                           : MAP;
  c.separation = find(columns, c.separation_name, "");
  c.low = find(columns, c.separation_name, "_low");
  c.high = find(columns, c.separation_name, "_high");
  c.across = find(columns, c.across_name, "");
  c.across_low = find(columns, c.across_name, "_low");
  c.across_high = find(columns, c.across_name, "_high");
  c.value = space_correlation_column(columns, c.shape == WP ? "wp" : "xi");
  c.error = space_correlation_column(columns, "error");
  const gboolean has_across = c.across >= 0 && c.across_low >= 0 && c.across_high >= 0;
  if (c.low < 0 || c.high < 0 || c.value < 0 || c.error < 0 || (c.shape == MAP && !has_across) ||
      (c.shape == MULTIPOLES && c.rows % N_MULTIPOLES)) {
    g_autofree char *found = g_strjoinv(":", columns);
    astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS,
                        "columns of %u bins are %s, expected those of astrotpacf: s or rp with its "
                        "edges, mu, pi or ell, xi or wp, and error",
                        c.rows, found);
    return NULL;
  }
  add[c.shape](&c, panels);
  return g_memdup2(&c, sizeof c);
}

/* ---- values ---- */

static double cell(const SpaceCorrelation *c, const double *table, gint column, guint row)
{
  return table[(gsize)column * c->rows + row];
}

static AstroPanelPoint point_of(const SpaceCorrelation *c, const double *table, guint row,
                                double scale)
{
  return (AstroPanelPoint){ cell(c, table, c->separation, row), cell(c, table, c->low, row),
                            cell(c, table, c->high, row), scale * cell(c, table, c->value, row),
                            scale * cell(c, table, c->error, row) };
}

static void include(double value, double *least, double *most)
{
  if (!isfinite(value))
    return;
  *least = fmin(*least, value);
  *most = fmax(*most, value);
}

static void take_wp(const SpaceCorrelation *c, const double *table, AstroPanel *panel)
{
  for (guint row = 0; row < c->rows; row++)
    panel->points[row] = point_of(c, table, row, 1);
  astro_panel_span_decades(panel, "wp(rp)");
}

#define EDGE 0.05 /* of the range, beyond the points */

static void take_multipole(const SpaceCorrelation *c, const double *table, guint first,
                           AstroPanel *panel)
{
  double x[2] = { INFINITY, -INFINITY }, y[2] = { 0, 0 };
  for (guint i = 0; i < panel->n_points; i++) {
    AstroPanelPoint *p = &panel->points[i];
    const double s = cell(c, table, c->separation, first + i);
    *p = point_of(c, table, first + i, s * s);
    include(p->x_low, &x[0], &x[1]);
    include(p->x_high, &x[0], &x[1]);
    include(p->y, &y[0], &y[1]);
    include(p->y + p->error, &y[0], &y[1]);
    include(p->y - p->error, &y[0], &y[1]);
  }
  const double edge = y[1] > y[0] ? EDGE * (y[1] - y[0]) : 1;
  panel->x.from = x[0] < x[1] ? x[0] : 0;
  panel->x.to = x[0] < x[1] ? x[1] : 1;
  panel->y.from = y[0] - edge;
  panel->y.to = y[1] + edge;
}

/* ---- maps ---- */

#define AS_GOOD_AS_EVEN 1e-6

typedef enum { EVEN, EVEN_IN_LOG, UNEVEN } Spacing;

/* How the bins of s or rp are spaced. step: rows of the table from one to the next. */
static Spacing spacing_of(const SpaceCorrelation *c, const double *table, guint n, guint step)
{
  const double low = cell(c, table, c->low, 0), width = cell(c, table, c->high, 0) - low,
               ratio = low > 0 ? cell(c, table, c->high, 0) / low : 0;
  gboolean is_even = TRUE, is_log = ratio > 1;
  for (guint i = 0; i < n; i++) {
    const double from = cell(c, table, c->low, i * step), to = cell(c, table, c->high, i * step);
    is_even = is_even && fabs(to - from - width) <= AS_GOOD_AS_EVEN * width;
    is_log = is_log && fabs(to / from / ratio - 1) <= AS_GOOD_AS_EVEN;
  }
  return is_even ? EVEN : is_log ? EVEN_IN_LOG : UNEVEN;
}

/* Bins of unequal widths are numbered, as each has a row of pixels. */
static void set_separations(const SpaceCorrelation *c, const double *table, guint n, guint step,
                            AstroPanelAxis *axis)
{
  const Spacing spacing = spacing_of(c, table, n, step);
  g_free(axis->label);
  axis->label = spacing == UNEVEN ? g_strdup_printf("Bin of %s", c->separation_name)
                                  : g_strdup(c->separation_name);
  axis->is_log = spacing == EVEN_IN_LOG;
  axis->from = spacing == UNEVEN ? 0 : cell(c, table, c->low, 0);
  axis->to = spacing == UNEVEN ? n : cell(c, table, c->high, (n - 1) * step);
}

/* In a table of every bin the columns of a row follow one another, in one of wedges the rows of a
 * wedge do. */
static void take_map(const SpaceCorrelation *c, const double *table, AstroPanel *panel)
{
  const double first = cell(c, table, c->low, 0), first_across = cell(c, table, c->across_low, 0);
  guint n_columns = 0, n_rows = 0;
  for (guint row = 0; row < c->rows; row++) {
    n_columns += cell(c, table, c->low, row) == first;
    n_rows += cell(c, table, c->across_low, row) == first_across;
  }
  if ((guint64)n_columns * n_rows != c->rows) /* not what astrotpacf writes: it stays empty */
    return;
  const gboolean by_row = n_columns > 1 && cell(c, table, c->low, 1) == first;
  panel->width = n_columns;
  panel->height = n_rows;
  for (guint row = 0; row < c->rows; row++) {
    const guint y = by_row ? row / n_columns : row % n_rows,
                x = by_row ? row % n_columns : row / n_rows;
    panel->own[(gsize)y * n_columns + x] = (float)cell(c, table, c->value, row);
  }
  set_separations(c, table, n_rows, by_row ? n_columns : 1, &panel->y);
  panel->x.from = first_across;
  panel->x.to = cell(c, table, c->across_high, c->rows - 1);
}

void space_correlation_take(SpaceCorrelation *c, const double *table, AstroPanel *panels)
{
  if (c->shape == MAP)
    take_map(c, table, &panels[0]);
  else if (c->shape == WP)
    take_wp(c, table, &panels[0]);
  else
    for (guint m = 0; m < N_MULTIPOLES; m++)
      take_multipole(c, table, m * (c->rows / N_MULTIPOLES), &panels[m]);
}
