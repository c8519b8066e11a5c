/* Draws text, in the colours of a theme. */
#include "core/render/pen.h"

#define MOST_LAYOUTS 256

const AstroThemeColours astro_theme_colours[] = {
  [ASTRO_THEME_DARK] = { 0.07, 0.88, { 1.0, 0.72, 0.25 }, { 0.35, 0.7, 1.0 }, 0x303030 },
  [ASTRO_THEME_LIGHT] = { 1.0, 0.1, { 0.75, 0.2, 0.1 }, { 0.1, 0.35, 0.7 }, 0xd0d0d0 },
};

const double astro_curve_colours[ASTRO_CURVE_COLOURS][3] = {
  { 0.90, 0.50, 0.10 }, { 0.20, 0.55, 0.85 }, { 0.25, 0.65, 0.30 }, { 0.80, 0.25, 0.30 },
  { 0.60, 0.45, 0.80 }, { 0.60, 0.42, 0.35 }, { 0.85, 0.50, 0.75 }, { 0.50, 0.60, 0.20 },
};

void astro_pen_init(AstroPen *pen, const AstroRenderStyle *style)
{
  cairo_font_options_t *options = cairo_font_options_create();
  *pen = (AstroPen){ .theme = &astro_theme_colours[style->theme],
                     .fonts = pango_cairo_font_map_new(),
                     .layouts =
                         g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_object_unref) };
  pen->context = pango_font_map_create_context(pen->fonts);
  /* Gray antialiasing, so that the order of colours in a pixel does not matter. */
  cairo_font_options_set_antialias(options, CAIRO_ANTIALIAS_GRAY);
  pango_cairo_context_set_font_options(pen->context, options);
  cairo_font_options_destroy(options);
}

void astro_pen_clear(AstroPen *pen)
{
  g_hash_table_unref(pen->layouts);
  g_object_unref(pen->context);
  g_object_unref(pen->fonts);
}

static PangoLayout *new_layout(const AstroPen *pen, const char *what)
{
  PangoLayout *layout = pango_layout_new(pen->context);
  PangoFontDescription *font = pango_font_description_from_string("Sans");
  pango_font_description_set_absolute_size(font, pen->em * PANGO_SCALE);
  pango_layout_set_font_description(layout, font);
  if (*what == '-' && g_ascii_isdigit(what[1])) {
    /* A minus sign is as wide as a digit, a hyphen is not. */
    g_autofree char *number = g_strconcat("−", what + 1, NULL);
    pango_layout_set_text(layout, number, -1);
  } else
    pango_layout_set_text(layout, what, -1);
  pango_font_description_free(font);
  return layout;
}

/* Numbers come back from frame to frame, and shaping a text takes longer than drawing it. */
static PangoLayout *find_layout(const AstroPen *pen, const char *what, gint *w, gint *h)
{
  char *key = g_strdup_printf("%u %s", pen->em, what);
  PangoLayout *layout = g_hash_table_lookup(pen->layouts, key);
  if (layout)
    g_free(key);
  else {
    if (g_hash_table_size(pen->layouts) == MOST_LAYOUTS)
      g_hash_table_remove_all(pen->layouts);
    layout = new_layout(pen, what);
    g_hash_table_insert(pen->layouts, key, layout);
  }
  pango_layout_get_pixel_size(layout, w, h);
  return layout;
}

void astro_pen_text(const AstroPen *pen, cairo_t *cr, const char *what, double x, double y,
                    double across, double down, gboolean upward)
{
  gint w, h;
  PangoLayout *layout = find_layout(pen, what, &w, &h);
  cairo_save(cr);
  cairo_translate(cr, x, y);
  if (upward)
    cairo_rotate(cr, -G_PI / 2);
  cairo_move_to(cr, -across * w, -down * h);
  pango_cairo_show_layout(cr, layout);
  cairo_restore(cr);
}

void astro_pen_text_over(const AstroPen *pen, cairo_t *cr, const char *what, double x, double y,
                         double across, double down)
{
  gint w, h;
  PangoLayout *layout = find_layout(pen, what, &w, &h);
  cairo_save(cr);
  cairo_move_to(cr, x - across * w, y - down * h);
  pango_cairo_layout_path(cr, layout);
  cairo_set_line_join(cr, CAIRO_LINE_JOIN_ROUND);
  cairo_set_line_width(cr, MAX(pen->em / 6.0, 2));
  cairo_set_source_rgba(cr, 0, 0, 0, 0.75);
  cairo_stroke_preserve(cr);
  cairo_set_source_rgb(cr, 1, 1, 1);
  cairo_fill(cr);
  cairo_restore(cr);
}

void astro_pen_use_ink(const AstroPen *pen, cairo_t *cr)
{
  cairo_set_source_rgb(cr, pen->theme->ink, pen->theme->ink, pen->theme->ink);
}

void astro_pen_use_page(const AstroPen *pen, cairo_t *cr)
{
  cairo_set_source_rgb(cr, pen->theme->page, pen->theme->page, pen->theme->page);
}
