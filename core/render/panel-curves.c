/* Draws points, fits and curves in panels. */
#include "core/render/panel-curves.h"

#include <math.h>

#define MOST_NAMED 12
#define FEW_VALUES 0.2 /* of the panel's width in pixels: below that each value has a dot */

static double along(const AstroPanelAxis *axis, double value)
{
  if (axis->is_log)
    return log(value / axis->from) / log(axis->to / axis->from);
  return (value - axis->from) / (axis->to - axis->from);
}

static double x_of(const AstroPanel *panel, const AstroPanelPlace *p, double value)
{
  return p->x + along(&panel->x, value) * p->width;
}

static double y_of(const AstroPanel *panel, const AstroPanelPlace *p, double value)
{
  return p->y + (1 - along(&panel->y, value)) * p->height;
}

static void set_colour(cairo_t *cr, const double *colour, gboolean red_first)
{
  cairo_set_source_rgb(cr, colour[red_first ? 2 : 0], colour[1], colour[red_first ? 0 : 2]);
}

/* Nothing is drawn outside the panel. */
static void begin(cairo_t *cr, const AstroPanelPlace *p)
{
  cairo_save(cr);
  cairo_rectangle(cr, p->x, p->y, p->width, p->height);
  cairo_clip(cr);
}

/* ---- points ---- */

static void draw_point(cairo_t *cr, const AstroPanel *panel, const AstroPanelPlace *p,
                       const AstroPanelPoint *point, double em)
{
  double value = panel->y.is_log ? fabs(point->y) : point->y;
  if (!isfinite(point->x) || !isfinite(value) || (panel->x.is_log && !(point->x > 0)) ||
      (panel->y.is_log && value == 0))
    return;
  double x = x_of(panel, p, point->x), y = y_of(panel, p, value), below = p->y + p->height;
  if (point->error > 0) {
    double low = value - point->error;
    cairo_move_to(cr, x, y_of(panel, p, value + point->error));
    cairo_line_to(cr, x, low > 0 || !panel->y.is_log ? fmin(y_of(panel, p, low), below) : below);
  }
  if (point->x_low > 0 && point->x_high > 0) {
    cairo_move_to(cr, x_of(panel, p, point->x_low), y);
    cairo_line_to(cr, x_of(panel, p, point->x_high), y);
  }
  cairo_stroke(cr);
  cairo_arc(cr, x, y, (panel->y.is_log ? 0.3 : 0.2) * em, 0, 2 * G_PI);
  if (point->y > 0 || !panel->y.is_log)
    cairo_fill(cr);
  else
    cairo_stroke(cr);
}

void astro_panel_draw_points(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *p, gboolean red_first)
{
  begin(cr, p);
  set_colour(cr, pen->theme->mark, red_first);
  cairo_set_line_width(cr, MAX(pen->em / 10.0, 1));
  for (guint i = 0; i < panel->n_points; i++)
    draw_point(cr, panel, p, &panel->points[i], pen->em);
  cairo_restore(cr);
}

/* ---- the fit ---- */

void astro_panel_draw_fit(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                          const AstroPanelPlace *p, gboolean is_bare, gboolean red_first)
{
  const double ends[2] = { panel->fit_from, panel->fit_to };
  const double dashes[] = { 0.6 * pen->em, 0.4 * pen->em };
  char text[96], amplitude[G_ASCII_DTOSTR_BUF_SIZE], slope[G_ASCII_DTOSTR_BUF_SIZE];
  if (!(panel->amplitude > 0) || !isfinite(panel->slope))
    return;
  begin(cr, p);
  set_colour(cr, pen->theme->line, red_first);
  cairo_set_line_width(cr, MAX(pen->em / 10.0, 1));
  cairo_set_dash(cr, dashes, G_N_ELEMENTS(dashes), 0);
  for (guint i = 0; i < 2; i++)
    cairo_line_to(cr, x_of(panel, p, ends[i]),
                  y_of(panel, p, panel->amplitude * pow(ends[i], panel->slope)));
  cairo_stroke(cr);
  cairo_restore(cr);
  if (is_bare)
    return;
  g_ascii_formatd(amplitude, sizeof amplitude, "%.3g", panel->amplitude);
  g_ascii_formatd(slope, sizeof slope, "%.3f", fabs(panel->slope));
  g_snprintf(text, sizeof text, "fit: %s at 1′, slope %s%s", amplitude, panel->slope < 0 ? "−" : "",
             slope);
  set_colour(cr, pen->theme->line, red_first);
  astro_pen_text(pen, cr, text, p->x + p->width - pen->em, p->y + 0.7 * pen->em, 1, 0, FALSE);
}

/* ---- curves ---- */

/* For more values than a line can show: each column of pixels is filled from the smallest to the
 * largest of its values, and as far as the last value of the previous column, so that there are no
 * gaps. */
static void draw_columns(cairo_t *cr, const AstroPanel *panel, const AstroPanelPlace *p,
                         const float *values, double em)
{
  const double thick = MAX(em / 10.0, 1);
  double last = NAN;
  for (gint i = 0; i < p->width; i++) {
    const guint from = (guint)((guint64)i * panel->width / (guint)p->width),
                to = (guint)(((guint64)i + 1) * panel->width / (guint)p->width);
    double top = isnan(last) ? INFINITY : last, bottom = isnan(last) ? -INFINITY : last;
    for (guint k = from; k < MAX(to, from + 1); k++) {
      last = y_of(panel, p, values[k]);
      if (!isfinite(last))
        last = NAN;
      top = fmin(top, last);
      bottom = fmax(bottom, last);
    }
    if (top <= bottom)
      cairo_rectangle(cr, p->x + i, floor(fmax(top, -1e5) - thick / 2), 1,
                      ceil(fmin(bottom, 1e5) - fmax(top, -1e5) + thick));
  }
  cairo_fill(cr);
}

static void draw_curve(cairo_t *cr, const AstroPanel *panel, const AstroPanelPlace *p,
                       const float *values, double em)
{
  const gboolean dots = panel->is_dots || panel->width < FEW_VALUES * p->width;
  gboolean is_down = FALSE;
  for (guint k = 0; k < panel->width; k++) {
    const double x = p->x + (k + 0.5) / panel->width * p->width, y = y_of(panel, p, values[k]);
    if (!isfinite(y))
      is_down = FALSE;
    else if (is_down && !panel->is_dots)
      cairo_line_to(cr, x, CLAMP(y, -1e5, 1e5));
    else
      cairo_move_to(cr, x, CLAMP(y, -1e5, 1e5));
    is_down = isfinite(y);
  }
  cairo_stroke(cr);
  for (guint k = 0; k < panel->width && dots; k++) {
    if (!isfinite(values[k]))
      continue;
    cairo_arc(cr, p->x + (k + 0.5) / panel->width * p->width, y_of(panel, p, values[k]), 0.18 * em,
              0, 2 * G_PI);
    cairo_fill(cr);
  }
}

static void name_curve(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                       const AstroPanelPlace *p, guint i)
{
  char number[16];
  g_snprintf(number, sizeof number, "%u", i);
  astro_pen_text(pen, cr, panel->names ? panel->names[i] : number, p->x + p->width - pen->em,
                 p->y + (0.6 + 1.4 * i) * pen->em, 1, 0, FALSE);
}

void astro_panel_draw_curves(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *p, gboolean is_bare, gboolean red_first)
{
  begin(cr, p);
  cairo_set_line_width(cr, MAX(pen->em / 10.0, 1));
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_BEVEL);
  for (guint i = 0; i < panel->height; i++) {
    set_colour(cr,
               panel->height == 1 ? pen->theme->mark : astro_curve_colours[i % ASTRO_CURVE_COLOURS],
               red_first);
    const float *values = panel->values + (gsize)i * panel->width;
    if (!panel->is_dots && 2 * (guint64)panel->width > (guint)p->width)
      draw_columns(cr, panel, p, values, pen->em);
    else
      draw_curve(cr, panel, p, values, pen->em);
    if (panel->height > 1 && panel->height <= MOST_NAMED && !is_bare)
      name_curve(pen, cr, panel, p, i);
  }
  cairo_restore(cr);
}
