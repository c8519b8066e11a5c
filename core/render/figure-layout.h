/* The layout of panels on a page. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

/* The width of the numbers beside a colour bar, in units of the letters' height. */
#define ASTRO_BAR_LABELS 6.4

typedef struct {
  gint x, y, width, height; /* inside the panel's frame */
  gint bar_x, bar_width;    /* of the colour bar beside it; width 0: none */
} AstroPanelPlace;

typedef struct {
  guint em;         /* the height of letters, pixels */
  gboolean is_bare; /* too small for anything beside the panels */
  gint title_height;
} AstroPageLayout;

void astro_page_layout(const AstroRenderStyle *style, gboolean has_title, const AstroPanel *panels,
                       guint n_panels, guint width, guint height, AstroPageLayout *page,
                       AstroPanelPlace *places);

G_END_DECLS
