#include "core/render/panel-marks.h"

#include <math.h>

#define BEAM_MOST 0.3 /* of a panel's side */

static double along(const AstroPanelAxis *axis, double value)
{
  if (axis->is_log)
    return log(value / axis->from) / log(axis->to / axis->from);
  return (value - axis->from) / (axis->to - axis->from);
}

static void draw_point(cairo_t *cr, const AstroPanel *panel, const AstroPanelPlace *p,
                       const AstroPanelPoint *point, double em)
{
  double value = panel->y.is_log ? fabs(point->y) : point->y;
  if (!isfinite(point->x) || !isfinite(value) || !(point->x > 0) || value == 0)
    return;
  double x = p->x + along(&panel->x, point->x) * p->width,
         y = p->y + (1 - along(&panel->y, value)) * p->height, below = p->y + p->height;
  if (point->error > 0) {
    double low = value - point->error;
    cairo_move_to(cr, x, p->y + (1 - along(&panel->y, value + point->error)) * p->height);
    cairo_line_to(cr, x,
                  low > 0 ? fmin(p->y + (1 - along(&panel->y, low)) * p->height, below) : below);
  }
  if (point->x_low > 0 && point->x_high > 0) {
    cairo_move_to(cr, p->x + along(&panel->x, point->x_low) * p->width, y);
    cairo_line_to(cr, p->x + along(&panel->x, point->x_high) * p->width, y);
  }
  cairo_stroke(cr);
  cairo_arc(cr, x, y, 0.3 * em, 0, 2 * G_PI);
  if (point->y > 0)
    cairo_fill(cr);
  else
    cairo_stroke(cr);
}

void astro_panel_draw_points(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *p, gboolean red_first)
{
  const double *mark = pen->theme->mark;
  cairo_save(cr);
  cairo_rectangle(cr, p->x, p->y, p->width, p->height);
  cairo_clip(cr);
  cairo_set_source_rgb(cr, mark[red_first ? 2 : 0], mark[1], mark[red_first ? 0 : 2]);
  cairo_set_line_width(cr, MAX(pen->em / 10.0, 1));
  for (guint i = 0; i < panel->n_points; i++)
    draw_point(cr, panel, p, &panel->points[i], pen->em);
  cairo_restore(cr);
}

void astro_panel_draw_beam(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                           const AstroPanelPlace *p)
{
  double scale = (double)p->width / panel->width, a = panel->beam[0] * scale / 2,
         b = panel->beam[1] * scale / 2, margin = a + 0.7 * pen->em;
  if (!(a > 0) || !(b > 0) || margin * 2 > BEAM_MOST * MIN(p->width, p->height))
    return;
  for (guint light = 0; light < 2; light++) {
    cairo_save(cr);
    cairo_translate(cr, p->x + margin, p->y + p->height - margin);
    cairo_rotate(cr, atan2(-cos(panel->beam[2]), -sin(panel->beam[2])));
    cairo_scale(cr, a, b);
    cairo_arc(cr, 0, 0, 1, 0, 2 * G_PI);
    cairo_restore(cr);
    cairo_set_source_rgb(cr, light, light, light);
    cairo_set_line_width(cr, light ? 1.2 : 3);
    cairo_stroke(cr);
  }
}
