/* Draws the colour bar beside a panel. */
#include "core/render/figure-bar.h"
#include "core/render/bar-ticks.h"

#include <math.h>
#include <string.h>

/* In units of the letters' height. */
#define GAP 2.0 /* at least, between numbers */
#define TICK 0.3
#define ABOVE 0.4
#define UNIT 1.5

static void draw_colours(cairo_surface_t *page, const AstroPanelPlace *p, const AstroColouring *c)
{
  guint8 *data = cairo_image_surface_get_data(page);
  gint stride = cairo_image_surface_get_stride(page);
  cairo_surface_flush(page);
  for (gint y = 0; y < p->height; y++) {
    guint level = (guint)((p->height - 0.5 - y) / p->height * (ASTRO_COLORMAP_LEVELS - 1) + 0.5);
    guint32 pixel = astro_colour_pixel(astro_colormap_colours[c->colormap][level], c->red_first);
    guint32 *row = (guint32 *)(gpointer)(data + (gsize)(p->y + y) * stride);
    for (gint x = 0; x < p->bar_width; x++)
      row[p->bar_x + x] = pixel;
  }
  cairo_surface_mark_dirty(page);
}

/* Clears whole pixels, so that nothing drawn there earlier shows through. */
static void clear(const AstroPen *pen, cairo_t *cr, double x, double y, double width, double height)
{
  astro_pen_use_page(pen, cr);
  cairo_rectangle(cr, floor(x), floor(y), floor(width), ceil(height));
  cairo_fill(cr);
}

static void draw_unit(const AstroPen *pen, cairo_t *cr, const AstroPanelPlace *p, const char *unit)
{
  const double em = pen->em, bottom = p->y - ABOVE * em;
  cairo_save(cr);
  cairo_rectangle(cr, p->bar_x, floor(bottom - UNIT * em), floor((1 + ASTRO_BAR_LABELS) * em),
                  ceil(UNIT * em));
  cairo_clip(cr);
  astro_pen_use_page(pen, cr);
  cairo_paint(cr);
  astro_pen_use_ink(pen, cr);
  astro_pen_text(pen, cr, unit, p->bar_x, bottom, 0, 1, FALSE);
  cairo_restore(cr);
}

/* Numbers at the ends stay within the bar's height, so that they do not overlap what is above and
 * below. */
static void draw_numbers(const AstroPen *pen, cairo_t *cr, const AstroPanelPlace *p,
                         const AstroTick *ticks, guint n)
{
  const double em = pen->em, x = p->bar_x + p->bar_width;
  cairo_save(cr);
  clear(pen, cr, x, p->y - ABOVE * em, ASTRO_BAR_LABELS * em, p->height + em);
  cairo_rectangle(cr, x, floor(p->y - ABOVE * em), floor(ASTRO_BAR_LABELS * em),
                  ceil(p->height + em));
  cairo_clip(cr);
  astro_pen_use_ink(pen, cr);
  cairo_set_line_width(cr, 1);
  for (guint i = 0; i < n; i++) {
    const double y = p->y + (1 - ticks[i].place) * p->height;
    cairo_move_to(cr, x, floor(CLAMP(y, p->y, p->y + p->height - 1)) + 0.5);
    cairo_rel_line_to(cr, TICK * em, 0);
    cairo_stroke(cr);
    astro_pen_text(pen, cr, ticks[i].text, x + 2 * TICK * em,
                   CLAMP(y, p->y + 0.3 * em, p->y + p->height - 0.3 * em), 0, 0.5, FALSE);
  }
  cairo_restore(cr);
}

static char *key_of(const AstroColouring *c, const char *unit, const AstroTick *ticks, guint n,
                    gint height)
{
  GString *key = g_string_new(unit);
  g_string_append_printf(key, " %d", c->red_first);
  for (guint i = 0; i < n; i++)
    g_string_append_printf(key, " %s@%.1f", ticks[i].text, ticks[i].place * height);
  return g_string_free(key, FALSE);
}

void astro_figure_draw_bar(const AstroPen *pen, cairo_surface_t *page, const AstroPanel *panel,
                           const AstroPanelPlace *p, const AstroColouring *c, char **key)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  char unit[64];
  const double scale = panel->is_angle ? 1 : astro_bar_unit(c, panel->unit, unit, sizeof unit);
  const double gap = fmin(GAP * pen->em / p->height, 0.5);
  const guint n = astro_bar_ticks(c, panel->is_angle, scale, gap, ticks);
  if (panel->is_angle)
    g_strlcpy(unit, panel->unit, sizeof unit);
  g_autofree char *now = key_of(c, unit, ticks, n, p->height);
  if (g_str_equal(now, *key))
    return;
  g_free(*key);
  *key = g_steal_pointer(&now);
  draw_colours(page, p, c);
  cairo_t *cr = cairo_create(page);
  draw_unit(pen, cr, p, unit);
  draw_numbers(pen, cr, p, ticks, n);
  cairo_destroy(cr);
}
