/* Draws over panels what may change with each frame. */
#include "core/render/panel-marks.h"
#include "core/render/panel-curves.h"

#include <math.h>

#define BEAM_MOST 0.3 /* of a panel's side */

/* In units of the letters' height. */
#define VALUE_ROOM 4.0
#define LEAST_RADIUS 0.9

/* Dark and light, so that it is visible on any colour. */
static void stroke_twice(cairo_t *cr)
{
  for (guint light = 0; light < 2; light++) {
    cairo_set_source_rgb(cr, light, light, light);
    cairo_set_line_width(cr, light ? 1.2 : 3);
    if (light)
      cairo_stroke(cr);
    else
      cairo_stroke_preserve(cr);
  }
}

static double scale_of(const AstroPanel *panel, const AstroPanelPlace *p)
{
  return (double)p->width / panel->width;
}

/* Draws the beam as an ellipse in the lower left corner, and its axes beside it. */
static void draw_beam(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                      const AstroPanelPlace *p)
{
  double scale = scale_of(panel, p), a = panel->beam[0] * scale / 2, b = panel->beam[1] * scale / 2,
         margin = a + 0.7 * pen->em;
  if (!(a > 0) || !(b > 0) || margin * 2 > BEAM_MOST * MIN(p->width, p->height))
    return;
  cairo_save(cr);
  cairo_translate(cr, p->x + margin, p->y + p->height - margin);
  cairo_rotate(cr, atan2(-cos(panel->beam[2]), -sin(panel->beam[2])));
  cairo_scale(cr, a, b);
  cairo_arc(cr, 0, 0, 1, 0, 2 * G_PI);
  cairo_restore(cr);
  stroke_twice(cr);
  if (*panel->beam_text)
    astro_pen_text_over(pen, cr, panel->beam_text, p->x + 2 * margin, p->y + p->height - margin, 0,
                        0.5);
}

/* The circle is larger than the beam, so that the source itself remains visible. */
static void draw_source(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                        const AstroPanelPlace *p, const AstroPanelMark *mark)
{
  const double scale = scale_of(panel, p), x = p->x + (mark->x + 0.5) * scale,
               y = p->y + p->height - (mark->y + 0.5) * p->height / panel->height,
               radius = fmax(LEAST_RADIUS * pen->em, 0.8 * panel->beam[0] * scale);
  const double dashes[] = { 0.3 * pen->em, 0.3 * pen->em };
  char number[16];
  if (x < p->x || x > p->x + p->width || y < p->y || y > p->y + p->height)
    return;
  cairo_new_path(cr);
  cairo_arc(cr, x, y, radius, 0, 2 * G_PI);
  cairo_set_dash(cr, dashes, mark->found ? 0 : G_N_ELEMENTS(dashes), 0);
  stroke_twice(cr);
  cairo_set_dash(cr, NULL, 0, 0);
  g_snprintf(number, sizeof number, "%u", mark->number);
  astro_pen_text_over(pen, cr, number, x + 0.8 * radius, y - 0.8 * radius, 0, 0.8);
}

static void draw_sources(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                         const AstroPanelPlace *p)
{
  cairo_save(cr);
  cairo_rectangle(cr, p->x, p->y, p->width, p->height);
  cairo_clip(cr);
  for (guint i = 0; i < panel->n_marks; i++)
    draw_source(pen, cr, panel, p, &panel->marks[i]);
  cairo_restore(cr);
}

/* Numbers, if there are so few pixels that their colours say little. */
static void draw_values(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                        const AstroPanelPlace *p)
{
  const double w = (double)p->width / panel->width, h = (double)p->height / panel->height;
  if (w < VALUE_ROOM * pen->em)
    return;
  for (guint y = 0; y < panel->height; y++)
    for (guint x = 0; x < panel->width; x++) {
      const double value = panel->values[(gsize)y * panel->width + x];
      char number[G_ASCII_DTOSTR_BUF_SIZE], text[G_ASCII_DTOSTR_BUF_SIZE + 4];
      if (!isfinite(value))
        continue;
      g_ascii_formatd(number, sizeof number, panel->is_angle ? "%.0f" : "%.4g",
                      panel->is_angle && fabs(value) < 0.5 ? 0 : value);
      g_snprintf(text, sizeof text, "%s%s", number, panel->is_angle ? "°" : "");
      astro_pen_text_over(pen, cr, text, p->x + (x + 0.5) * w, p->y + (y + 0.5) * h, 0.5, 0.5);
    }
}

void astro_panel_draw_marks(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                            const AstroPanelPlace *p, gboolean is_bare, gboolean red_first)
{
  if (panel->points) {
    astro_panel_draw_fit(pen, cr, panel, p, is_bare, red_first);
    astro_panel_draw_points(pen, cr, panel, p, red_first);
  } else if (panel->is_curves)
    astro_panel_draw_curves(pen, cr, panel, p, is_bare, red_first);
  else if (!is_bare) {
    draw_sources(pen, cr, panel, p);
    draw_beam(pen, cr, panel, p);
    if (panel->says_values)
      draw_values(pen, cr, panel, p);
  }
}
