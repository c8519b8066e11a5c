/* Chooses where panels and their colour bars are on a page. */
#include "core/render/figure-layout.h"
#include "core/render/panel-axes.h"

#include <math.h>

/* In units of the letters' height. */
#define BOTTOM 3.6
#define BAR_GAP 0.8
#define BAR 1.0
#define TITLE 2.2
#define EDGE 2.2
#define LEAST_INSIDE 7.0

typedef struct {
  double left, right, top, bottom;
} Margins;

static Margins margins_of(const AstroRenderStyle *style, const AstroPanel *panel,
                          const AstroPageLayout *page, guint height)
{
  const double em = page->em;
  gboolean bar = style->colour_bar && astro_panel_has_pixels(panel);
  Margins m = { 0 };
  if (page->is_bare)
    return m;
  m.left = (style->axes ? astro_panel_left(panel, page->em, (gint)height) : EDGE) * em;
  m.bottom = (style->axes ? BOTTOM : EDGE) * em;
  m.right = (bar ? BAR_GAP + BAR + ASTRO_BAR_LABELS : EDGE) * em;
  m.top = (panel->title || bar ? 2 : 1) * em;
  return m;
}

/* The largest margins of all panels, so that their insides have the same size. */
static Margins widest_margins(const AstroRenderStyle *style, const AstroPanel *panels, guint n,
                              const AstroPageLayout *page, guint height)
{
  Margins all = margins_of(style, &panels[0], page, height);
  for (guint i = 1; i < n; i++) {
    const Margins m = margins_of(style, &panels[i], page, height);
    all = (Margins){ fmax(all.left, m.left), fmax(all.right, m.right), fmax(all.top, m.top),
                     fmax(all.bottom, m.bottom) };
  }
  return all;
}

/* The width and height of the inside, in a cell of the given size. */
static void fit(const AstroPanel *panel, const Margins *m, double width, double height, double *w,
                double *h)
{
  *w = width - m->left - m->right;
  *h = height - m->top - m->bottom;
  if (panel->is_square && *w > 0 && *h > 0) {
    double scale = fmin(*w / panel->width, *h / panel->height);
    if (panel->is_whole && scale > 1)
      scale = floor(scale);
    *w = scale * panel->width;
    *h = scale * panel->height;
  }
}

/* The number of columns for which the panels are largest, of those that leave a panel at least
 * `needed` wide and high, if there are any. */
static guint choose_columns(const AstroPanel *panels, guint n, const Margins *m, double width,
                            double height, double needed)
{
  guint best = 1;
  double largest = -INFINITY;
  for (guint columns = 1; columns <= (panels[0].is_stacked ? 1 : n); columns++) {
    guint rows = (n + columns - 1) / columns;
    double w, h;
    fit(&panels[0], m, width / columns, height / rows, &w, &h);
    double least = fmin(w, h), area = least > 0 && least >= needed ? w * h : least - needed;
    if (area > largest) {
      largest = area;
      best = columns;
    }
  }
  return best;
}

/* FALSE if a panel gets too small for the texts beside it. */
static gboolean place_panels(const AstroRenderStyle *style, const AstroPanel *panels, guint n,
                             guint width, guint height, const AstroPageLayout *page,
                             AstroPanelPlace *places)
{
  double em = page->em, below = (double)height - page->title_height;
  Margins m = widest_margins(style, panels, n, page, height);
  const double needed = page->is_bare ? 0 : LEAST_INSIDE * em;
  guint columns = choose_columns(panels, n, &m, width, below, needed),
        rows = (n + columns - 1) / columns;
  gboolean bar = style->colour_bar && !page->is_bare;
  for (guint i = 0; i < n; i++) {
    double cell_w = (double)width / columns, cell_h = below / rows, w, h;
    fit(&panels[i], &m, cell_w, cell_h, &w, &h);
    if (fmin(w, h) < needed)
      return FALSE;
    double x = i % columns * cell_w + m.left + (cell_w - m.left - m.right - w) / 2,
           y = page->title_height + i / columns * cell_h + m.top +
               (cell_h - m.top - m.bottom - h) / 2;
    places[i] = (AstroPanelPlace){ (gint)x, (gint)y, MAX((gint)w, 1), MAX((gint)h, 1), 0, 0 };
    if (bar && astro_panel_has_pixels(&panels[i])) {
      places[i].bar_x = (gint)(x + w + BAR_GAP * em);
      places[i].bar_width = (gint)(BAR * em);
    }
  }
  return TRUE;
}

void astro_page_layout(const AstroRenderStyle *style, gboolean has_title, const AstroPanel *panels,
                       guint n_panels, guint width, guint height, AstroPageLayout *page,
                       AstroPanelPlace *places)
{
  page->em = (guint)CLAMP(sqrt((double)width * height) / 60, 8, 64);
  page->is_bare = FALSE;
  page->title_height = has_title ? (gint)(TITLE * page->em) : 0;
  if (place_panels(style, panels, n_panels, width, height, page, places))
    return;
  page->is_bare = TRUE;
  page->title_height = 0;
  place_panels(style, panels, n_panels, width, height, page, places);
}
