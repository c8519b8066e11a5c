/* Letters and colours for drawing a page. */
#pragma once

#include "core/render/render.h"
#include <pango/pangocairo.h>

G_BEGIN_DECLS

typedef struct {
  double page, ink, mark[3], line[3]; /* line: of a fit to marks */
  guint32 blank;                      /* 0xRRGGBB of NaN */
} AstroThemeColours;
extern const AstroThemeColours astro_theme_colours[];

/* The colours of curves, one after the other; they can be told apart on both pages. */
#define ASTRO_CURVE_COLOURS 8
extern const double astro_curve_colours[ASTRO_CURVE_COLOURS][3];

typedef struct {
  const AstroThemeColours *theme;
  PangoFontMap *fonts;
  PangoContext *context;
  GHashTable *layouts; /* of texts that were drawn, by height and text */
  guint em;            /* the height of letters, pixels; set for each page */
} AstroPen;

void astro_pen_init(AstroPen *pen, const AstroRenderStyle *style);
void astro_pen_clear(AstroPen *pen);

void astro_pen_use_ink(const AstroPen *pen, cairo_t *cr);
void astro_pen_use_page(const AstroPen *pen, cairo_t *cr);

/* across, down: the point of the text that is put at (x, y), 0 to 1. */
void astro_pen_text(const AstroPen *pen, cairo_t *cr, const char *what, double x, double y,
                    double across, double down, gboolean upward);

/* For text over an image: light with a dark edge, so that it is legible on any colour. */
void astro_pen_text_over(const AstroPen *pen, cairo_t *cr, const char *what, double x, double y,
                         double across, double down);

G_END_DECLS
