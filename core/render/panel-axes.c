/* Draws axes and grid lines of panels. */
#include "core/render/panel-axes.h"
#include "core/render/ticks.h"

#include <math.h>

#define TICK 0.4 /* of a letter's height */
#define SKY_ALPHA 0.35
#define LINES_ALPHA 0.2
#define LETTERS_A_TICK 6
#define LETTERS_A_SKY_TICK 8 /* hours, minutes and seconds are longer */

/* In units of the letters' height. */
#define LEAST_LEFT 6.0
#define LEFT_LABEL 1.55 /* with the space on either side of it */
#define DIGIT 0.64
#define LETTER 0.75
#define OTHER 0.45 /* point, minus, and the marks of hours and degrees */

static guint most_x(guint em, const AstroPanelPlace *p, guint letters)
{
  return CLAMP(p->width / (gint)(letters * em), 2, 12);
}

static guint most_y(guint em, const AstroPanelPlace *p)
{
  return CLAMP(p->height / (gint)(3 * em), 2, 12);
}

static void find_sky(guint em, const AstroPanel *panel, const AstroPanelPlace *p, AstroSkyGrid *sky)
{
  astro_sky_grid_find(sky, panel->wcs, panel->width, panel->height,
                      most_x(em, p, LETTERS_A_SKY_TICK), most_y(em, p));
}

/* Ticks along the lower edge (is_x) or the left edge; for the sky, where its coordinate lines meet
 * the edge. */
static guint edge_ticks(guint em, const AstroPanel *panel, const AstroPanelPlace *p, gboolean is_x,
                        AstroTick *ticks)
{
  const double right = panel->width - 0.5, top = panel->height - 0.5;
  AstroSkyGrid sky;
  if (!panel->wcs)
    return astro_ticks(is_x ? &panel->x : &panel->y,
                       is_x ? most_x(em, p, LETTERS_A_TICK) : most_y(em, p), ticks);
  find_sky(em, panel, p, &sky);
  return astro_sky_ticks(&sky, panel->wcs, is_x, (double[]){ -0.5, -0.5 },
                         is_x ? (double[]){ right, -0.5 } : (double[]){ -0.5, top }, ticks);
}

/* Labels that would touch the previous one are left out. */
void astro_panel_draw_x_axis(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *p)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  guint em = pen->em, n = edge_ticks(em, panel, p, TRUE, ticks);
  double bottom = p->y + p->height, last = -INFINITY, last_half = 0;
  for (guint i = 0; i < n; i++) {
    double x = p->x + ticks[i].place * p->width,
           half = (double)g_utf8_strlen(ticks[i].text, -1) * em * 0.33;
    cairo_move_to(cr, floor(x) + 0.5, bottom);
    cairo_line_to(cr, floor(x) + 0.5, bottom + TICK * em);
    cairo_stroke(cr);
    if (fabs(x - last) < half + last_half) /* values may fall from left to right */
      continue;
    astro_pen_text(pen, cr, ticks[i].text, x, bottom + 2 * TICK * em, 0.5, 0, FALSE);
    last = x;
    last_half = half;
  }
  astro_pen_text(pen, cr, panel->x.label, p->x + p->width * 0.5, bottom + 2.1 * em, 0.5, 0, FALSE);
}

/* The width of the numbers on the left and the label beside them. */
static double reach_left(const AstroTick *ticks, guint n)
{
  double widest = 0;
  for (guint i = 0; i < n; i++) {
    double width = 0;
    for (const char *letter = ticks[i].text; *letter; letter = g_utf8_next_char(letter))
      width += g_ascii_isdigit(*letter) ? DIGIT : g_ascii_isalpha(*letter) ? LETTER : OTHER;
    widest = fmax(widest, width);
  }
  return fmax(LEAST_LEFT, 2 * TICK + widest + LEFT_LABEL);
}

double astro_panel_left(const AstroPanel *panel, guint em, gint height)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  const AstroPanelPlace place = { .width = height, .height = height };
  return reach_left(ticks, panel->y.label ? edge_ticks(em, panel, &place, FALSE, ticks) : 0);
}

void astro_panel_draw_y_axis(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                             const AstroPanelPlace *p)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  guint em = pen->em, n = edge_ticks(em, panel, p, FALSE, ticks);
  double left = (reach_left(ticks, n) - 0.1) * em;
  for (guint i = 0; i < n; i++) {
    double y = p->y + (1 - ticks[i].place) * p->height;
    cairo_move_to(cr, p->x, floor(y) + 0.5);
    cairo_line_to(cr, p->x - TICK * em, floor(y) + 0.5);
    cairo_stroke(cr);
    astro_pen_text(pen, cr, ticks[i].text, p->x - 2 * TICK * em, y, 1, 0.5, FALSE);
  }
  astro_pen_text(pen, cr, panel->y.label, p->x - left, p->y + p->height * 0.5, 0.5, 0, TRUE);
}

/* ---- lines over a panel ---- */

static void sky_lines(cairo_t *cr, const AstroPanel *panel, const AstroPanelPlace *p,
                      const AstroSkyGrid *sky, gboolean of_ra)
{
  double step = sky->step[!of_ra], zero = of_ra ? sky->ra : 0;
  double points[ASTRO_SKY_LINE_POINTS][2];
  if (!(step > 0))
    return;
  for (double k = ceil((sky->low[!of_ra] + zero) / step); k * step <= sky->high[!of_ra] + zero;
       k++) {
    guint n = astro_sky_line(sky, panel->wcs, of_ra, k * step, points);
    gboolean pen_down = FALSE;
    for (guint i = 0; i < n; i++) {
      double x = (points[i][0] + 0.5) / panel->width * p->width,
             y = (1 - (points[i][1] + 0.5) / panel->height) * p->height;
      if (isnan(x) || fabs(x) > 1e5 || fabs(y) > 1e5)
        pen_down = FALSE;
      else if (pen_down)
        cairo_line_to(cr, x, y);
      else {
        cairo_move_to(cr, x, y);
        pen_down = TRUE;
      }
    }
    cairo_stroke(cr);
  }
}

static void straight_lines(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                           const AstroPanelPlace *p)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  guint n = edge_ticks(pen->em, panel, p, TRUE, ticks);
  for (guint i = 0; i < n; i++) {
    double x = floor(ticks[i].place * p->width) + 0.5;
    cairo_move_to(cr, x, 0);
    cairo_line_to(cr, x, p->height);
  }
  n = edge_ticks(pen->em, panel, p, FALSE, ticks);
  for (guint i = 0; i < n; i++) {
    double y = floor((1 - ticks[i].place) * p->height) + 0.5;
    cairo_move_to(cr, 0, y);
    cairo_line_to(cr, p->width, y);
  }
  cairo_stroke(cr);
}

/* Whether both ends of the lower (is_x) or the left edge are on the sky. */
static gboolean sees_edge(const AstroPanel *panel, gboolean is_x)
{
  const double right = panel->width - 0.5, top = panel->height - 0.5;
  double ra, dec;
  return astro_wcs_world(panel->wcs, -0.5, -0.5, &ra, &dec) &&
         astro_wcs_world(panel->wcs, is_x ? right : -0.5, is_x ? -0.5 : top, &ra, &dec);
}

/* If an edge has hardly any coordinates, because the sky ends before it, they are written along the
 * middle of the panel if that has more. */
static void middle_labels(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                          const AstroPanelPlace *p, const AstroSkyGrid *sky)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  double w = panel->width, h = panel->height;
  for (guint is_x = 0; is_x < 2; is_x++) {
    const guint at_edge = edge_ticks(pen->em, panel, p, is_x, ticks);
    if (at_edge > 1 || sees_edge(panel, is_x))
      continue;
    guint n = astro_sky_ticks(
        sky, panel->wcs, is_x, is_x ? (double[]){ -0.5, h / 2 } : (double[]){ w / 2, -0.5 },
        is_x ? (double[]){ w - 0.5, h / 2 } : (double[]){ w / 2, h - 0.5 }, ticks);
    for (guint i = 0; i < n && n > at_edge; i++)
      astro_pen_text_over(pen, cr, ticks[i].text, is_x ? ticks[i].place * p->width : p->width / 2.0,
                          is_x ? p->height / 2.0 : (1 - ticks[i].place) * p->height, 0.5,
                          is_x ? 1 : 0.5);
  }
}

void astro_panel_draw_grid(const AstroPen *pen, cairo_t *cr, const AstroPanel *panel,
                           const AstroPanelPlace *p)
{
  AstroSkyGrid sky;
  double ink = astro_panel_has_pixels(panel) ? 1 : pen->theme->ink;
  cairo_set_source_rgba(cr, ink, ink, ink, panel->wcs ? SKY_ALPHA : LINES_ALPHA);
  cairo_set_line_width(cr, MAX(pen->em / 16.0, 1));
  if (!panel->wcs) {
    straight_lines(pen, cr, panel, p);
    return;
  }
  find_sky(pen->em, panel, p, &sky);
  sky_lines(cr, panel, p, &sky, TRUE);
  sky_lines(cr, panel, p, &sky, FALSE);
  middle_labels(pen, cr, panel, p, &sky);
}
