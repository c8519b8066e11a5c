#include "core/render/figure.h"
#include "core/render/figure-layout.h"
#include "core/render/panel-axes.h"
#include "core/render/panel-marks.h"

#include <math.h>
#include <string.h>

#define BAR_STEPS 5 /* numbers beside a colour bar */
#define LEAST_FIGURES 4
#define MOST_FIGURES 7  /* that a float has */
#define MOST_LETTERS 10 /* that there is room for */

/* A pixel that a line over the panels covers in part: colours times opacity. */
typedef struct {
  guint32 x, y, colour;
} Over;

struct _AstroFigure {
  const AstroRenderStyle *style;
  AstroPen pen;
  char *key, *title; /* what the page is of */
  char **bar_keys;   /* the numbers beside each colour bar */
  AstroPageLayout layout;
  AstroPanelPlace *places;
  guint n_panels, width, height;
  cairo_surface_t *page; /* opaque */
  GArray *over;
};

guint32 astro_figure_blank(const AstroRenderStyle *style)
{
  return astro_theme_colours[style->theme].blank;
}

AstroFigure *astro_figure_new(const AstroRenderStyle *style)
{
  AstroFigure *f = g_new0(AstroFigure, 1);
  f->style = style;
  astro_pen_init(&f->pen, style);
  f->over = g_array_new(FALSE, FALSE, sizeof(Over));
  return f;
}

void astro_figure_free(AstroFigure *f)
{
  g_clear_pointer(&f->page, cairo_surface_destroy);
  astro_pen_clear(&f->pen);
  g_array_unref(f->over);
  g_strfreev(f->bar_keys);
  g_free(f->places);
  g_free(f->title);
  g_free(f->key);
  g_free(f);
}

/* ---- lines over the panels ---- */

/* Few pixels are lines: those alone are kept. */
static void keep_over(AstroFigure *f, cairo_surface_t *surface, const AstroPanelPlace *p)
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
    const AstroPanelPlace *p = &f->places[i];
    if (!panels[i].values)
      continue;
    cairo_surface_t *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, p->width, p->height);
    cairo_t *cr = cairo_create(surface);
    astro_panel_draw_grid(&f->pen, cr, &panels[i], p);
    cairo_destroy(cr);
    keep_over(f, surface, p);
    cairo_surface_destroy(surface);
  }
}

/* ---- the page ---- */

static void draw_bar(AstroFigure *f, const AstroPanelPlace *p, const AstroColouring *colouring)
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

static void draw_panel(AstroFigure *f, cairo_t *cr, const AstroPanel *panel,
                       const AstroPanelPlace *p)
{
  double em = f->layout.em;
  astro_pen_use_ink(&f->pen, cr);
  cairo_set_line_width(cr, 1);
  cairo_rectangle(cr, p->x - 0.5, p->y - 0.5, p->width + 1, p->height + 1);
  cairo_stroke(cr);
  if (panel->title)
    astro_pen_text(&f->pen, cr, panel->title, p->x + p->width * 0.5, p->y - 0.4 * em, 0.5, 1,
                   FALSE);
  if (panel->unit && p->bar_width)
    astro_pen_text(&f->pen, cr, panel->unit, p->bar_x, p->y - 0.4 * em, 0, 1, FALSE);
  if (f->style->axes && panel->x.label)
    astro_panel_draw_x_axis(&f->pen, cr, panel, p);
  if (f->style->axes && panel->y.label)
    astro_panel_draw_y_axis(&f->pen, cr, panel, p);
  if (f->style->grid && !panel->values) {
    cairo_save(cr);
    cairo_translate(cr, p->x, p->y);
    astro_panel_draw_grid(&f->pen, cr, panel, p);
    cairo_restore(cr);
  }
}

static void draw_page(AstroFigure *f, const AstroPanel *panels, AstroColouring *const *colouring)
{
  cairo_t *cr = cairo_create(f->page);
  astro_pen_use_page(&f->pen, cr);
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
  astro_pen_use_page(&f->pen, cr);
  cairo_rectangle(cr, 0, 0, f->width, f->layout.title_height);
  cairo_fill(cr);
  astro_pen_use_ink(&f->pen, cr);
  astro_pen_text(&f->pen, cr, title, f->width * 0.5, f->layout.title_height * 0.5, 0.5, 0.5, FALSE);
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

typedef char BarTexts[BAR_STEPS][G_ASCII_DTOSTR_BUF_SIZE];

/* How many numbers differ from the one below; 0 as well where one is too long. */
static guint write_bar_texts(const AstroColouring *c, guint figures, BarTexts texts)
{
  const double span = (double)c->high - c->low;
  guint differ = 0, longest = 0;
  char format[8];
  g_snprintf(format, sizeof format, "%%.%ug", figures);
  for (guint i = 0; i < BAR_STEPS; i++) {
    double value = value_at(c, i / (BAR_STEPS - 1.0));
    if (fabs(value) < span * 2e-5)
      value = 0;
    g_ascii_formatd(texts[i], sizeof texts[i], format, value);
    longest = MAX(longest, strlen(texts[i]));
    differ += i > 0 && !g_str_equal(texts[i], texts[i - 1]);
  }
  return longest <= MOST_LETTERS ? differ : 0;
}

/* As many figures as tell numbers apart; those that are the same all the same stand once. */
static void bar_texts(const AstroColouring *c, BarTexts texts)
{
  BarTexts longer;
  guint best = write_bar_texts(c, LEAST_FIGURES, texts);
  for (guint figures = LEAST_FIGURES + 1; figures <= MOST_FIGURES; figures++) {
    const guint differ = write_bar_texts(c, figures, longer);
    if (differ > best) {
      memcpy(texts, longer, sizeof longer);
      best = differ;
    }
  }
  for (guint i = BAR_STEPS - 1; i > 0; i--)
    if (g_str_equal(texts[i], texts[i - 1]))
      texts[i][0] = 0;
}

static void draw_bar_numbers(AstroFigure *f, guint panel, const AstroColouring *c)
{
  const AstroPanelPlace *p = &f->places[panel];
  BarTexts texts;
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
  astro_pen_use_page(&f->pen, cr);
  /* Whole pixels, so that nothing of the numbers before shines through. */
  cairo_rectangle(cr, x, floor(p->y - 0.4 * em), floor(ASTRO_BAR_LABELS * em) - 1,
                  ceil(p->height + em));
  cairo_clip(cr);
  cairo_paint(cr);
  astro_pen_use_ink(&f->pen, cr);
  for (guint i = 0; i < BAR_STEPS; i++)
    astro_pen_text(&f->pen, cr, texts[i], x + 0.4 * em,
                   p->y + (1 - i / (BAR_STEPS - 1.0)) * p->height, 0,
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
  f->places = g_renew(AstroPanelPlace, f->places, n);
  f->n_panels = n;
  f->width = target->width;
  f->height = target->height;
  f->page = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, (gint)f->width, (gint)f->height);
  astro_page_layout(f->style, has_title, panels, n, f->width, f->height, &f->layout, f->places);
  f->pen.em = f->layout.em;
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
  const AstroPanelPlace *p = &f->places[panel];
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
      astro_panel_draw_points(&f->pen, cr, &panels[i], &f->places[i], target->red_first);
    else if (!f->layout.is_bare)
      astro_panel_draw_beam(&f->pen, cr, &panels[i], &f->places[i]);
  cairo_destroy(cr);
}
