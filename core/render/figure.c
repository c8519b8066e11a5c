/* Draws a page with panels, and keeps it from frame to frame. */
#include "core/render/figure.h"
#include "core/render/figure-bar.h"
#include "core/render/figure-layout.h"
#include "core/render/panel-axes.h"
#include "core/render/panel-marks.h"

#include <math.h>
#include <string.h>

/* A pixel that a line over the panels covers in part, its colour multiplied by its opacity. */
typedef struct {
  guint32 x, y, colour;
} Over;

struct _AstroFigure {
  const AstroRenderStyle *style;
  AstroPen pen;
  char *key, *title; /* what the page shows */
  char **bar_keys;   /* the numbers beside each colour bar */
  AstroPageLayout layout;
  AstroPanelPlace *places;
  guint n_panels, width, height;
  cairo_surface_t *page;  /* opaque */
  cairo_surface_t *lines; /* as large as a panel; clear between uses */
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
  g_clear_pointer(&f->lines, cairo_surface_destroy);
  astro_pen_clear(&f->pen);
  g_array_unref(f->over);
  g_strfreev(f->bar_keys);
  g_free(f->places);
  g_free(f->title);
  g_free(f->key);
  g_free(f);
}

/* A growing waterfall draws the page again for each frame. Most of the time would go into new
 * memory from the system, so surfaces are kept as long as their size is the same. */
static void keep_surface(cairo_surface_t **surface, gint width, gint height)
{
  if (*surface && cairo_image_surface_get_width(*surface) == width &&
      cairo_image_surface_get_height(*surface) == height)
    return;
  g_clear_pointer(surface, cairo_surface_destroy);
  *surface = cairo_image_surface_create(CAIRO_FORMAT_ARGB32, width, height);
}

/* ---- lines over the panels ---- */

#define RUN 32 /* pixels that are looked at together, since most are clear */

static gboolean is_clear(const guint32 *pixels)
{
  guint32 any = 0;
  for (guint i = 0; i < RUN; i++)
    any |= pixels[i];
  return any == 0;
}

/* Lines cover few pixels, so only those are kept, and cleared from the surface. */
static void move_over(AstroFigure *f, const AstroPanelPlace *p)
{
  cairo_surface_flush(f->lines);
  guint8 *data = cairo_image_surface_get_data(f->lines);
  gint stride = cairo_image_surface_get_stride(f->lines);
  for (gint y = 0; y < p->height; y++) {
    guint32 *row = (guint32 *)(gpointer)(data + (gsize)y * stride);
    for (gint x = 0; x < p->width; x++) {
      while (x + RUN <= p->width && is_clear(row + x))
        x += RUN;
      if (x == p->width || !row[x])
        continue;
      const Over over = { p->x + x, p->y + y, row[x] };
      g_array_append_val(f->over, over);
      row[x] = 0;
    }
  }
  cairo_surface_mark_dirty(f->lines);
}

static void make_over(AstroFigure *f, const AstroPanel *panels)
{
  g_array_set_size(f->over, 0);
  for (guint i = 0; i < f->n_panels && f->style->grid && !f->layout.is_bare; i++) {
    const AstroPanelPlace *p = &f->places[i];
    if (!astro_panel_has_pixels(&panels[i]) || panels[i].says_values)
      continue;
    keep_surface(&f->lines, p->width, p->height);
    cairo_t *cr = cairo_create(f->lines);
    astro_panel_draw_grid(&f->pen, cr, &panels[i], p);
    cairo_destroy(cr);
    move_over(f, p);
  }
}

/* ---- the page ---- */

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
  if (f->style->axes && panel->x.label)
    astro_panel_draw_x_axis(&f->pen, cr, panel, p);
  if (f->style->axes && panel->y.label)
    astro_panel_draw_y_axis(&f->pen, cr, panel, p);
  if (f->style->grid && !astro_panel_has_pixels(panel)) {
    cairo_save(cr);
    cairo_translate(cr, p->x, p->y);
    astro_panel_draw_grid(&f->pen, cr, panel, p);
    cairo_restore(cr);
  }
}

/* Leaves out the panels whose pixels are drawn over the page. */
static void clear_around(const AstroFigure *f, cairo_t *cr, const AstroPanel *panels)
{
  cairo_set_fill_rule(cr, CAIRO_FILL_RULE_EVEN_ODD);
  cairo_rectangle(cr, 0, 0, f->width, f->height);
  for (guint i = 0; i < f->n_panels; i++)
    if (astro_panel_has_pixels(&panels[i]))
      cairo_rectangle(cr, f->places[i].x, f->places[i].y, f->places[i].width, f->places[i].height);
  astro_pen_use_page(&f->pen, cr);
  cairo_fill(cr);
}

static void draw_page(AstroFigure *f, const AstroPanel *panels)
{
  cairo_t *cr = cairo_create(f->page);
  clear_around(f, cr, panels);
  for (guint i = 0; i < f->n_panels && !f->layout.is_bare; i++)
    draw_panel(f, cr, &panels[i], &f->places[i]);
  cairo_destroy(cr);
}

/* ---- the title ---- */

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

static void new_page(AstroFigure *f, const AstroPanel *panels, guint n, gboolean has_title,
                     const AstroRenderTarget *target)
{
  g_clear_pointer(&f->title, g_free);
  g_strfreev(f->bar_keys);
  f->bar_keys = g_new0(char *, n + 1);
  for (guint i = 0; i < n; i++)
    f->bar_keys[i] = g_strdup("");
  f->places = g_renew(AstroPanelPlace, f->places, n);
  f->n_panels = n;
  f->width = target->width;
  f->height = target->height;
  keep_surface(&f->page, (gint)f->width, (gint)f->height);
  astro_page_layout(f->style, has_title, panels, n, f->width, f->height, &f->layout, f->places);
  f->pen.em = f->layout.em;
  draw_page(f, panels);
  make_over(f, panels);
}

/* Copies a row of the page, but for the panels whose pixels are drawn over it. Panels that are not
 * listed from left to right are copied too. */
static void copy_row(const AstroFigure *f, const AstroPanel *panels, gint y, const guint32 *from,
                     guint32 *to)
{
  gint x = 0;
  for (guint i = 0; i < f->n_panels; i++) {
    const AstroPanelPlace *p = &f->places[i];
    if (!astro_panel_has_pixels(&panels[i]) || y < p->y || y >= p->y + p->height || p->x < x)
      continue;
    memcpy(to + x, from + x, (gsize)(p->x - x) * sizeof *to);
    x = p->x + p->width;
  }
  memcpy(to + x, from + x, (gsize)((gint)f->width - x) * sizeof *to);
}

static void copy_around(const AstroFigure *f, const AstroPanel *panels,
                        const AstroRenderTarget *target)
{
  cairo_surface_flush(f->page);
  const guint8 *data = cairo_image_surface_get_data(f->page);
  gint stride = cairo_image_surface_get_stride(f->page);
  for (guint y = 0; y < f->height; y++)
    copy_row(f, panels, (gint)y, (const guint32 *)(gconstpointer)(data + (gsize)y * stride),
             (guint32 *)(gpointer)(target->data + y * target->stride));
}

void astro_figure_draw(AstroFigure *f, const AstroPanel *panels, guint n_panels,
                       AstroColouring *const *colouring, const char *title,
                       const AstroRenderTarget *target)
{
  gboolean has_title = title && *title;
  char *key = key_of(panels, n_panels, target, has_title);
  if (g_strcmp0(key, f->key) != 0)
    new_page(f, panels, n_panels, has_title, target);
  g_free(f->key);
  f->key = key;
  if (f->layout.title_height && g_strcmp0(title, f->title) != 0) {
    draw_title(f, title);
    g_free(f->title);
    f->title = g_strdup(title);
  }
  for (guint i = 0; i < n_panels; i++)
    if (f->places[i].bar_width)
      astro_figure_draw_bar(&f->pen, f->page, &panels[i], &f->places[i], colouring[i],
                            &f->bar_keys[i]);
  copy_around(f, panels, target);
}

void astro_figure_place(const AstroFigure *f, guint panel, const AstroRenderTarget *target,
                        AstroRectangle *place)
{
  const AstroPanelPlace *p = &f->places[panel];
  *place = (AstroRectangle){ target->data + (gsize)p->y * target->stride + (gsize)p->x * 4,
                             target->stride, (guint)p->width, (guint)p->height };
}

/* Two colours of a pixel, in bits 0 to 7 and 16 to 23, times a factor up to 255, divided by 255 and
 * rounded. */
static guint32 scale_colours(guint32 colours, guint32 factor)
{
  const guint32 products = colours * factor + 0x7f007f;
  return (products + 0x10001 + (products >> 8 & 0xff00ff)) >> 8 & 0xff00ff;
}

static void draw_over(const AstroFigure *f, const AstroRenderTarget *target)
{
  for (guint i = 0; i < f->over->len; i++) {
    const Over *over = &g_array_index(f->over, Over, i);
    guint32 *pixel =
        (guint32 *)(gpointer)(target->data + over->y * target->stride + over->x * sizeof *pixel);
    const guint32 see_through = 255 - (over->colour >> 24);
    const guint32 even = scale_colours(*pixel & 0xff00ff, see_through),
                  odd = scale_colours(*pixel >> 8 & 0xff00ff, see_through);
    *pixel = 0xff000000 | ((over->colour & 0xffffff) + (even | (odd & 0xff) << 8));
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
    astro_panel_draw_marks(&f->pen, cr, &panels[i], &f->places[i], f->layout.is_bare,
                           target->red_first);
  cairo_destroy(cr);
}
