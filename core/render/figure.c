#include "core/render/figure.h"
#include "core/render/figure-layout.h"
#include "core/render/ticks.h"

#include <math.h>
#include <pango/pangocairo.h>
#include <string.h>

#define TICK 0.4 /* of a letter's height */
#define SKY_ALPHA 0.35
#define LINES_ALPHA 0.2
#define BAR_STEPS 5 /* numbers beside a colour bar */
#define LETTERS_A_TICK 6

typedef struct {
  double page, ink, mark[3];
  guint32 blank;
} Theme;

static const Theme themes[] = {
  [ASTRO_THEME_DARK] = { 0.07, 0.88, { 1.0, 0.72, 0.25 }, 0x303030 },
  [ASTRO_THEME_LIGHT] = { 1.0, 0.1, { 0.75, 0.2, 0.1 }, 0xd0d0d0 },
};

/* A pixel that a line over the panels covers in part: colours times opacity. */
typedef struct {
  guint32 x, y, colour;
} Over;

struct _AstroFigure {
  const AstroRenderStyle *style;
  const Theme *theme;
  PangoFontMap *fonts;
  PangoContext *context;
  char *key, *title; /* what the page is of */
  char **bar_keys;   /* the numbers beside each colour bar */
  AstroPageLayout layout;
  AstroPlace *places;
  guint n_panels, width, height;
  cairo_surface_t *page; /* opaque */
  GArray *over;
};

guint32 astro_figure_blank(const AstroRenderStyle *style)
{
  return themes[style->theme].blank;
}

AstroFigure *astro_figure_new(const AstroRenderStyle *style)
{
  AstroFigure *f = g_new0(AstroFigure, 1);
  cairo_font_options_t *options = cairo_font_options_create();
  f->style = style;
  f->theme = &themes[style->theme];
  f->fonts = pango_cairo_font_map_new();
  f->context = pango_font_map_create_context(f->fonts);
  /* Letters without coloured edges: the order of colours in a pixel is then all the same. */
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(f->context, options);
  cairo_font_options_destroy(options);
  f->over = g_array_new(FALSE, FALSE, sizeof(Over));
  return f;
}

void astro_figure_free(AstroFigure *f)
{
  g_clear_pointer(&f->page, cairo_surface_destroy);
  g_object_unref(f->context);
  g_object_unref(f->fonts);
  g_array_unref(f->over);
  g_strfreev(f->bar_keys);
  g_free(f->places);
  g_free(f->title);
  g_free(f->key);
  g_free(f);
}

/* ---- letters ---- */

/* across, down: which part of the text is at (x, y), 0 to 1. */
static void text(AstroFigure *f, cairo_t *cr, const char *what, double x, double y, double across,
                 double down, gboolean upward)
{
  PangoLayout *layout = pango_layout_new(f->context);
  PangoFontDescription *font = pango_font_description_from_string("Sans");
  gint w, h;
  pango_font_description_set_absolute_size(font, f->layout.em * PANGO_SCALE);
  pango_layout_set_font_description(layout, font);
  pango_layout_set_text(layout, what, -1);
  pango_layout_get_pixel_size(layout, &w, &h);
  cairo_save(cr);
  cairo_translate(cr, x, y);
  if (upward)
    cairo_rotate(cr, -G_PI / 2);
  cairo_move_to(cr, -across * w, -down * h);
  pango_cairo_show_layout(cr, layout);
  cairo_restore(cr);
  pango_font_description_free(font);
  g_object_unref(layout);
}

static void use_ink(AstroFigure *f, cairo_t *cr)
{
  cairo_set_source_rgb(cr, f->theme->ink, f->theme->ink, f->theme->ink);
}

static void use_page(AstroFigure *f, cairo_t *cr)
{
  cairo_set_source_rgb(cr, f->theme->page, f->theme->page, f->theme->page);
}

/* ---- axes ---- */

static guint most_x(const AstroFigure *f, const AstroPlace *p)
{
  return CLAMP(p->width / (gint)(LETTERS_A_TICK * f->layout.em), 2, 12);
}

static guint most_y(const AstroFigure *f, const AstroPlace *p)
{
  return CLAMP(p->height / (gint)(3 * f->layout.em), 2, 12);
}

/* Ticks along the lower (x) or the left edge; of the sky, where its lines meet them. */
static guint edge_ticks(const AstroFigure *f, const AstroPanel *panel, const AstroPlace *p,
                        gboolean is_x, AstroTick *ticks)
{
  const double right = panel->width - 0.5, top = panel->height - 0.5;
  AstroSkyGrid sky;
  if (!panel->wcs)
    return astro_ticks(is_x ? &panel->x : &panel->y, is_x ? most_x(f, p) : most_y(f, p), ticks);
  astro_sky_grid_find(&sky, panel->wcs, panel->width, panel->height, most_x(f, p), most_y(f, p));
  return astro_sky_ticks(&sky, panel->wcs, is_x, (double[]){ -0.5, -0.5 },
                         is_x ? (double[]){ right, -0.5 } : (double[]){ -0.5, top }, ticks);
}

/* Labels that would touch the one before are left out. */
static void draw_x_axis(AstroFigure *f, cairo_t *cr, const AstroPanel *panel, const AstroPlace *p)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  guint n = edge_ticks(f, panel, p, TRUE, ticks), em = f->layout.em;
  double bottom = p->y + p->height, last = -INFINITY;
  for (guint i = 0; i < n; i++) {
    double x = p->x + ticks[i].place * p->width, half = strlen(ticks[i].text) * em * 0.33;
    cairo_move_to(cr, floor(x) + 0.5, bottom);
    cairo_line_to(cr, floor(x) + 0.5, bottom + TICK * em);
    cairo_stroke(cr);
    if (x - half < last)
      continue;
    text(f, cr, ticks[i].text, x, bottom + 2 * TICK * em, 0.5, 0, FALSE);
    last = x + half;
  }
  text(f, cr, panel->x.label, p->x + p->width * 0.5, bottom + 2.1 * em, 0.5, 0, FALSE);
}

static void draw_y_axis(AstroFigure *f, cairo_t *cr, const AstroPanel *panel, const AstroPlace *p)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  guint n = edge_ticks(f, panel, p, FALSE, ticks), em = f->layout.em;
  for (guint i = 0; i < n; i++) {
    double y = p->y + (1 - ticks[i].place) * p->height;
    cairo_move_to(cr, p->x, floor(y) + 0.5);
    cairo_line_to(cr, p->x - TICK * em, floor(y) + 0.5);
    cairo_stroke(cr);
    text(f, cr, ticks[i].text, p->x - 2 * TICK * em, y, 1, 0.5, FALSE);
  }
  text(f, cr, panel->y.label, p->x - 5.9 * em, p->y + p->height * 0.5, 0.5, 0, TRUE);
}

/* ---- lines over the panels ---- */

static void sky_lines(cairo_t *cr, const AstroPanel *panel, const AstroPlace *p,
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

static void straight_lines(const AstroFigure *f, cairo_t *cr, const AstroPanel *panel,
                           const AstroPlace *p)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  guint n = edge_ticks(f, panel, p, TRUE, ticks);
  for (guint i = 0; i < n; i++) {
    double x = floor(ticks[i].place * p->width) + 0.5;
    cairo_move_to(cr, x, 0);
    cairo_line_to(cr, x, p->height);
  }
  n = edge_ticks(f, panel, p, FALSE, ticks);
  for (guint i = 0; i < n; i++) {
    double y = floor((1 - ticks[i].place) * p->height) + 0.5;
    cairo_move_to(cr, 0, y);
    cairo_line_to(cr, p->width, y);
  }
  cairo_stroke(cr);
}

/* Where an edge shows hardly a coordinate, since the sky ends before it, they stand along the
 * middle.
 */
static void middle_labels(AstroFigure *f, cairo_t *cr, const AstroPanel *panel, const AstroPlace *p,
                          const AstroSkyGrid *sky)
{
  AstroTick ticks[ASTRO_MAX_TICKS];
  double w = panel->width, h = panel->height;
  for (guint is_x = 0; is_x < 2; is_x++) {
    if (edge_ticks(f, panel, p, is_x, ticks) > 1)
      continue;
    guint n = astro_sky_ticks(
        sky, panel->wcs, is_x, is_x ? (double[]){ -0.5, h / 2 } : (double[]){ w / 2, -0.5 },
        is_x ? (double[]){ w - 0.5, h / 2 } : (double[]){ w / 2, h - 0.5 }, ticks);
    for (guint i = 0; i < n; i++)
      text(f, cr, ticks[i].text, is_x ? ticks[i].place * p->width : p->width / 2.0,
           is_x ? p->height / 2.0 : (1 - ticks[i].place) * p->height, 0.5, is_x ? 1 : 0.5, FALSE);
  }
}

static void draw_grid(AstroFigure *f, cairo_t *cr, const AstroPanel *panel, const AstroPlace *p)
{
  AstroSkyGrid sky;
  double ink = panel->values ? 1 : f->theme->ink;
  cairo_set_source_rgba(cr, ink, ink, ink, panel->wcs ? SKY_ALPHA : LINES_ALPHA);
  cairo_set_line_width(cr, MAX(f->layout.em / 16.0, 1));
  if (!panel->wcs) {
    straight_lines(f, cr, panel, p);
    return;
  }
  astro_sky_grid_find(&sky, panel->wcs, panel->width, panel->height, most_x(f, p), most_y(f, p));
  sky_lines(cr, panel, p, &sky, TRUE);
  sky_lines(cr, panel, p, &sky, FALSE);
  cairo_set_source_rgba(cr, 1, 1, 1, 0.8);
  middle_labels(f, cr, panel, p, &sky);
}

/* Few pixels are lines: those alone are kept. */
static void keep_over(AstroFigure *f, cairo_surface_t *surface, const AstroPlace *p)
{
  cairo_surface_flush(surface);
  const guint8 *data = cairo_image_surface_get_data(surface);
  gint stride = cairo_image_surface_get_stride(surface);
  for (gint y = 0; y < p->height; y++)
    for (gint x = 0; x < p->width; x++) {
      guint32 colour = ((const guint32 *)(gconstpointer)(data + (gsize)y * stride))[x];
      Over over = { p->x + x, p->y + y, colour };
      if (colour)
        g_array_append_val(f->over, over);
    }
}

static void make_over(AstroFigure *f, const AstroPanel *panels)
{
  g_array_set_size(f->over, 0);
  for (guint i = 0; i < f->n_panels && f->style->grid && !f->layout.is_bare; i++) {
    const AstroPlace *p = &f->places[i];
    if (!panels[i].values)
      continue;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, p->width, p->height);
    cairo_t *cr = cairo_create(surface);
    draw_grid(f, cr, &panels[i], p);
    cairo_destroy(cr);
    keep_over(f, surface, p);
    cairo_surface_destroy(surface);
  }
}

/* ---- the page ---- */

static void draw_bar(AstroFigure *f, const AstroPlace *p, const AstroColouring *colouring)
{
  guint8 *data = cairo_image_surface_get_data(f->page);
  gint stride = cairo_image_surface_get_stride(f->page);
  cairo_surface_flush(f->page);
  for (gint y = 0; y < p->height; y++) {
    guint level = (guint)((p->height - 0.5 - y) / p->height * (ASTRO_COLORMAP_LEVELS - 1) + 0.5);
    guint32 pixel = astro_colour_pixel(astro_colormap_colours[colouring->colormap][level],
                                       colouring->red_first);
    guint32 *row = (guint32 *)(gpointer)(data + (gsize)(p->y + y) * stride);
    for (gint x = 0; x < p->bar_width; x++)
      row[p->bar_x + x] = pixel;
  }
  cairo_surface_mark_dirty(f->page);
}

static void draw_panel(AstroFigure *f, cairo_t *cr, const AstroPanel *panel, const AstroPlace *p)
{
  double em = f->layout.em;
  use_ink(f, cr);
  cairo_set_line_width(cr, 1);
  cairo_rectangle(cr, p->x - 0.5, p->y - 0.5, p->width + 1, p->height + 1);
  cairo_stroke(cr);
  if (panel->title)
    text(f, cr, panel->title, p->x + p->width * 0.5, p->y - 0.4 * em, 0.5, 1, FALSE);
  if (panel->unit && p->bar_width)
    text(f, cr, panel->unit, p->bar_x, p->y - 0.4 * em, 0, 1, FALSE);
  if (f->style->axes && panel->x.label)
    draw_x_axis(f, cr, panel, p);
  if (f->style->axes && panel->y.label)
    draw_y_axis(f, cr, panel, p);
  if (f->style->grid && !panel->values) {
    cairo_save(cr);
    cairo_translate(cr, p->x, p->y);
    draw_grid(f, cr, panel, p);
    cairo_restore(cr);
  }
}

static void draw_page(AstroFigure *f, const AstroPanel *panels, AstroColouring *const *colouring)
{
  cairo_t *cr = cairo_create(f->page);
  use_page(f, cr);
  cairo_paint(cr);
  for (guint i = 0; i < f->n_panels && !f->layout.is_bare; i++)
    draw_panel(f, cr, &panels[i], &f->places[i]);
  cairo_destroy(cr);
  for (guint i = 0; i < f->n_panels; i++)
    if (f->places[i].bar_width)
      draw_bar(f, &f->places[i], colouring[i]);
}

/* ---- what changes more often ---- */

static void draw_title(AstroFigure *f, const char *title)
{
  cairo_t *cr = cairo_create(f->page);
  use_page(f, cr);
  cairo_rectangle(cr, 0, 0, f->width, f->layout.title_height);
  cairo_fill(cr);
  use_ink(f, cr);
  text(f, cr, title, f->width * 0.5, f->layout.title_height * 0.5, 0.5, 0.5, FALSE);
  cairo_destroy(cr);
}

/* The value whose colour stands at a part of the bar's height. */
static double value_at(const AstroColouring *c, double part)
{
  guint low = 0, high = ASTRO_STRETCH_STEPS - 1;
  while (low < high) {
    guint middle = (low + high) / 2;
    if (c->level[middle] < part)
      low = middle + 1;
    else
      high = middle;
  }
  return c->low + ((double)c->high - c->low) * low / (ASTRO_STRETCH_STEPS - 1.0);
}

static void bar_texts(const AstroColouring *c, char texts[BAR_STEPS][G_ASCII_DTOSTR_BUF_SIZE])
{
  double span = (double)c->high - c->low;
  for (guint i = 0; i < BAR_STEPS; i++) {
    double value = value_at(c, i / (BAR_STEPS - 1.0));
    if (fabs(value) < span * 2e-5)
      value = 0;
    g_ascii_formatd(texts[i], G_ASCII_DTOSTR_BUF_SIZE, "%.4g", value);
  }
}

static void draw_bar_numbers(AstroFigure *f, guint panel, const AstroColouring *c)
{
  const AstroPlace *p = &f->places[panel];
  char texts[BAR_STEPS][G_ASCII_DTOSTR_BUF_SIZE];
  double em = f->layout.em, x = p->bar_x + p->bar_width + 1;
  bar_texts(c, texts);
  char *key = g_strjoin(" ", texts[0], texts[1], texts[2], texts[3], texts[4], NULL);
  if (g_strcmp0(f->bar_keys[panel], key) == 0) {
    g_free(key);
    return;
  }
  g_free(f->bar_keys[panel]);
  f->bar_keys[panel] = key;
  cairo_t *cr = cairo_create(f->page);
  use_page(f, cr);
  /* Whole pixels, so that nothing of the numbers before shines through. */
  cairo_rectangle(cr, x, floor(p->y - 0.4 * em), floor(ASTRO_BAR_LABELS * em) - 1,
                  ceil(p->height + em));
  cairo_clip(cr);
  cairo_paint(cr);
  use_ink(f, cr);
  for (guint i = 0; i < BAR_STEPS; i++)
    text(f, cr, texts[i], x + 0.4 * em, p->y + (1 - i / (BAR_STEPS - 1.0)) * p->height, 0,
         i == BAR_STEPS - 1 ? 0.25
         : i == 0           ? 0.75
                            : 0.5,
         FALSE);
  cairo_destroy(cr);
}

/* ---- frames ---- */

static void add_axis(GString *key, const AstroPanelAxis *axis)
{
  g_string_append_printf(key, " %s %.17g %.17g", axis->label ? axis->label : "", axis->from,
                         axis->to);
}

static char *key_of(const AstroPanel *panels, guint n, const AstroRenderTarget *target,
                    gboolean has_title)
{
  GString *key = g_string_new(NULL);
  g_string_printf(key, "%u %u %d %d", target->width, target->height, target->red_first, has_title);
  for (guint i = 0; i < n; i++) {
    g_string_append_printf(key, " %s %u %u", panels[i].title ? panels[i].title : "",
                           panels[i].width, panels[i].height);
    add_axis(key, &panels[i].x);
    add_axis(key, &panels[i].y);
  }
  return g_string_free(key, FALSE);
}

static void new_page(AstroFigure *f, const AstroPanel *panels, guint n,
                     AstroColouring *const *colouring, gboolean has_title,
                     const AstroRenderTarget *target)
{
  g_clear_pointer(&f->page, cairo_surface_destroy);
  g_clear_pointer(&f->title, g_free);
  g_strfreev(f->bar_keys);
  f->bar_keys = g_new0(char *, n + 1);
  for (guint i = 0; i < n; i++)
    f->bar_keys[i] = g_strdup("");
  f->places = g_renew(AstroPlace, f->places, n);
  f->n_panels = n;
  f->width = target->width;
  f->height = target->height;
  f->page = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (gint)f->width, (gint)f->height);
  astro_page_layout(f->style, has_title, panels, n, f->width, f->height, &f->layout, f->places);
  draw_page(f, panels, colouring);
  make_over(f, panels);
}

void astro_figure_draw(AstroFigure *f, const AstroPanel *panels, guint n_panels,
                       AstroColouring *const *colouring, const char *title,
                       const AstroRenderTarget *target)
{
  gboolean has_title = title && *title;
  char *key = key_of(panels, n_panels, target, has_title);
  if (g_strcmp0(key, f->key) != 0)
    new_page(f, panels, n_panels, colouring, has_title, target);
  g_free(f->key);
  f->key = key;
  if (f->layout.title_height && g_strcmp0(title, f->title) != 0) {
    draw_title(f, title);
    g_free(f->title);
    f->title = g_strdup(title);
  }
  for (guint i = 0; i < n_panels; i++)
    if (f->places[i].bar_width)
      draw_bar_numbers(f, i, colouring[i]);
  cairo_surface_flush(f->page);
  const guint8 *data = cairo_image_surface_get_data(f->page);
  gint stride = cairo_image_surface_get_stride(f->page);
  for (guint y = 0; y < f->height; y++)
    memcpy(target->data + y * target->stride, data + (gsize)y * stride, f->width * sizeof(guint32));
}

void astro_figure_place(const AstroFigure *f, guint panel, const AstroRenderTarget *target,
                        AstroRectangle *place)
{
  const AstroPlace *p = &f->places[panel];
  *place = (AstroRectangle){ target->data + (gsize)p->y * target->stride + (gsize)p->x * 4,
                             target->stride, (guint)p->width, (guint)p->height };
}

static void draw_over(const AstroFigure *f, const AstroRenderTarget *target)
{
  for (guint i = 0; i < f->over->len; i++) {
    const Over *over = &g_array_index(f->over, Over, i);
    guint8 *pixel = target->data + over->y * target->stride + over->x * sizeof(guint32);
    guint32 see_through = 255 - (over->colour >> 24);
    for (guint c = 0; c < 3; c++)
      pixel[c] = (guint8)((over->colour >> (8 * c) & 0xff) + (pixel[c] * see_through + 127) / 255);
  }
}

static double along(const AstroPanelAxis *axis, double value)
{
  if (axis->is_log)
    return log(value / axis->from) / log(axis->to / axis->from);
  return (value - axis->from) / (axis->to - axis->from);
}

static void draw_point(cairo_t *cr, const AstroPanel *panel, const AstroPlace *p,
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

static void draw_points(const AstroFigure *f, const AstroPanel *panel, const AstroPlace *p,
                        cairo_t *cr, gboolean red_first)
{
  const double *mark = f->theme->mark;
  cairo_save(cr);
  cairo_rectangle(cr, p->x, p->y, p->width, p->height);
  cairo_clip(cr);
  cairo_set_source_rgb(cr, mark[red_first ? 2 : 0], mark[1], mark[red_first ? 0 : 2]);
  cairo_set_line_width(cr, MAX(f->layout.em / 10.0, 1));
  for (guint i = 0; i < panel->n_points; i++)
    draw_point(cr, panel, p, &panel->points[i], f->layout.em);
  cairo_restore(cr);
}

#define BEAM_MOST 0.3 /* of a panel's side */

/* The beam's ellipse in the lower left corner, dark and light, so that it is seen on any colour. */
static void draw_beam(const AstroFigure *f, const AstroPanel *panel, const AstroPlace *p,
                      cairo_t *cr)
{
  double scale = (double)p->width / panel->width, a = panel->beam[0] * scale / 2,
         b = panel->beam[1] * scale / 2, margin = a + 0.7 * f->layout.em;
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

static cairo_t *draw_on(const AstroRenderTarget *target)
{
  cairo_surface_t *surface =
      cairo_image_surface_create_for_data(target->data, CAIRO_FORMAT_ARGB32, (gint)target->width,
                                          (gint)target->height, (gint)target->stride);
  cairo_t *cr = cairo_create(surface);
  cairo_surface_destroy(surface);
  return cr;
}

void astro_figure_finish(AstroFigure *f, const AstroPanel *panels, guint n_panels,
                         const AstroRenderTarget *target)
{
  draw_over(f, target);
  cairo_t *cr = draw_on(target);
  for (guint i = 0; i < n_panels; i++)
    if (panels[i].points)
      draw_points(f, &panels[i], &f->places[i], cr, target->red_first);
    else if (!f->layout.is_bare)
      draw_beam(f, &panels[i], &f->places[i], cr);
  cairo_destroy(cr);
}
