/* Where panels stand on a page. */
#pragma once

#include "core/render/panel.h"

G_BEGIN_DECLS

/* How wide the numbers beside a colour bar are, in letters' heights. */
#define ASTRO_BAR_LABELS 6.4

typedef struct {
  gint x, y, width, height; /* of the panel's inside */
  gint bar_x, bar_width;    /* of the colour bar beside it; 0: none */
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
