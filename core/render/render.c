/* Pictures of streams. */
#include "core/render/render.h"
#include "core/render/figure.h"
#include "core/render/smooth.h"
#include "core/kit/units.h"
#include "core/lib/gains/caps.h"
#include "core/stream/profile.h"

#include <math.h>

/* The first kind that fits is used: for visibilities, the one named by view. */
static const AstroRenderKind *const kinds[] = {
  &astro_render_image,  &astro_render_voltages, &astro_render_samples, &astro_render_spectra,
  &astro_render_matrix, &astro_render_spectrum, &astro_render_fringe,  &astro_render_correlation,
  &astro_render_power,  &astro_render_profile,  &astro_render_gains
};

struct _AstroRenderer {
  AstroRenderStyle style;
  char *title, *product; /* owned strings of the style */
  const AstroRenderKind *kind;
  gpointer instance;
  AstroRenderInput input;
  AstroObservation *observation;
  GArray *panels;
  AstroColouring **colouring; /* of each panel */
  AstroFigure *figure;        /* allocated with the first frame, like the panels' values */
};

static AstroView view_of(const AstroRenderer *r)
{
  const guint64 stations = r->input.stream.quantity == ASTRO_QUANTITY_VISIBILITIES
                               ? astro_stream_stations(&r->input.stream)
                               : 0;
  if ((r->style.view != ASTRO_VIEW_AUTO && r->style.view != ASTRO_VIEW_SAMPLES) || stations == 0)
    return r->style.view;
  return stations == 1   ? ASTRO_VIEW_SPECTRUM
         : stations == 2 ? ASTRO_VIEW_FRINGE
                         : ASTRO_VIEW_MATRIX;
}

/* Counts of good samples have one picture for all streams of channels. */
static const AstroRenderKind *find_validity(const AstroRenderer *r, GError **error)
{
  const AstroQuantity quantity = r->input.stream.quantity;
  if (quantity == ASTRO_QUANTITY_SPECTRA || quantity == ASTRO_QUANTITY_POWER ||
      quantity == ASTRO_QUANTITY_VISIBILITIES)
    return &astro_render_validity;
  astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                      "property show is validity, expected values for %s: spectra, power and "
                      "visibilities have a picture of what is good",
                      astro_quantity_name(quantity));
  return NULL;
}

static const AstroRenderKind *find_flags(const AstroRenderer *r, GError **error)
{
  if (r->input.stream.quantity == ASTRO_QUANTITY_POWER)
    return &astro_render_flags;
  astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                      "property show is flags, expected values or validity for %s",
                      astro_quantity_name(r->input.stream.quantity));
  return NULL;
}

static const AstroRenderKind *find_kind(const AstroRenderer *r, GError **error)
{
  if (r->style.show == ASTRO_SHOW_VALIDITY)
    return find_validity(r, error);
  if (r->style.show == ASTRO_SHOW_FLAGS)
    return find_flags(r, error);
  const AstroView view = view_of(r);
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    if (kinds[i]->quantity == r->input.stream.quantity &&
        (kinds[i]->view == ASTRO_VIEW_AUTO || kinds[i]->view == view))
      return kinds[i];
  if (view == ASTRO_VIEW_WATERFALL && r->input.stream.quantity == ASTRO_QUANTITY_VISIBILITIES)
    astro_render_refuse(error, ASTRO_RENDER_ERROR_STYLE,
                        "property view is waterfall, expected matrix, spectrum, fringe or auto for "
                        "visibilities");
  else
    astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS, "there are no pictures of %s",
                        astro_quantity_name(r->input.stream.quantity));
  return NULL;
}

/* Checks formats and layouts against the template. */
static gboolean check_caps(const AstroRenderKind *kind, const GstCaps *caps, GError **error)
{
  g_autoptr(GstCaps) expected = gst_caps_from_string(kind->caps);
  if (gst_caps_can_intersect(expected, caps))
    return TRUE;
  g_autofree char *found = gst_caps_to_string(caps);
  return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS, "found %s, expected %s", found,
                             kind->caps);
}

static gboolean read_profile(AstroRenderer *r, const GstCaps *caps, GError **error)
{
  AstroProfile profile;
  if (!astro_profile_from_caps(&r->input.stream, &profile, caps, error))
    return FALSE;
  r->input.products = profile.products;
  return TRUE;
}

static gboolean read_gains(AstroRenderer *r, const GstCaps *caps, GError **error)
{
  AstroGainsType type;
  if (!astro_gains_from_caps(&r->input.stream, &type, &r->input.products, caps, error))
    return FALSE;
  r->input.has_amplitudes = type != ASTRO_GAINS_PHASE && type != ASTRO_GAINS_DELAY;
  return TRUE;
}

static gboolean read_caps(AstroRenderer *r, const GstCaps *caps, GError **error)
{
  const GstStructure *fields = gst_caps_get_structure(caps, 0);
  const char *columns = gst_structure_get_string(fields, "columns");
  if (!astro_stream_from_caps(&r->input.stream, caps, error) || !(r->kind = find_kind(r, error)) ||
      !check_caps(r->kind, caps, error))
    return FALSE;
  r->input.columns = g_strsplit(columns ? columns : "", ":", -1);
  if (r->kind->quantity == ASTRO_QUANTITY_POWER)
    return astro_power_from_caps(&r->input.stream, &r->input.products, caps, error);
  if (r->kind->quantity == ASTRO_QUANTITY_PROFILE)
    return read_profile(r, caps, error);
  if (r->kind->quantity == ASTRO_QUANTITY_GAINS)
    return read_gains(r, caps, error);
  return r->kind->quantity != ASTRO_QUANTITY_IMAGE ||
         astro_grid_from_image_caps(&r->input.grid, caps, error);
}

AstroRenderer *astro_renderer_new(const GstCaps *caps, const AstroRenderStyle *style,
                                  const AstroObservation *observation, GError **error)
{
  AstroRenderer *r = g_new0(AstroRenderer, 1);
  r->style = *style;
  r->style.title = r->title = g_strdup(style->title);
  r->style.product = r->product = g_strdup(style->product);
  if (r->style.show == ASTRO_SHOW_VALIDITY && isnan(r->style.low) && isnan(r->style.high)) {
    r->style.low = 0;
    r->style.high = 100;
  }
  r->observation = observation ? astro_observation_ref((AstroObservation *)observation) : NULL;
  r->input.observation = r->observation;
  r->input.style = &r->style;
  r->panels = g_array_new(FALSE, FALSE, sizeof(AstroPanel));
  g_array_set_clear_func(r->panels, astro_panel_clear);
  if (read_caps(r, caps, error))
    r->instance = r->kind->open(&r->input, r->panels, error);
  if (r->instance) {
    r->colouring = g_new(AstroColouring *, r->panels->len);
    for (guint i = 0; i < r->panels->len; i++)
      r->colouring[i] = g_new0(AstroColouring, 1);
    return r;
  }
  astro_renderer_free(r);
  return NULL;
}

void astro_renderer_free(AstroRenderer *r)
{
  for (guint i = 0; r->colouring && i < r->panels->len; i++)
    g_free(r->colouring[i]);
  if (r->instance)
    r->kind->close(r->instance);
  g_clear_pointer(&r->figure, astro_figure_free);
  g_clear_pointer(&r->observation, astro_observation_unref);
  g_array_unref(r->panels);
  astro_grid_clear(&r->input.grid);
  g_strfreev(r->input.columns);
  g_free(r->colouring);
  g_free(r->title);
  g_free(r->product);
  g_free(r);
}

/* "Telescope  150.000 MHz  2026-11-20 21:30:09 UTC", as far as these are known. */
static char *make_title(const AstroRenderer *r, gint64 middle_ns)
{
  const AstroObservation *o = r->observation;
  const gboolean named = o && !g_str_equal(o->telescope, ASTRO_TELESCOPE_UNKNOWN);
  GString *title = g_string_new(named ? o->telescope : NULL);
  char number[G_ASCII_DTOSTR_BUF_SIZE]; /* as along the axes, in any locale */
  if (r->input.stream.frequency > 0)
    g_string_append_printf(
        title, "%s%s MHz", title->len ? "   " : "",
        g_ascii_formatd(number, sizeof number, "%.3f", r->input.stream.frequency / 1e6));
  g_autofree char *time = o ? astro_observation_get_time(o, (guint64)middle_ns) : NULL;
  if (time)
    g_string_append_printf(title, "%s%.10s %.8s UTC", title->len ? "   " : "", time, time + 11);
  return g_string_free(title, FALSE);
}

static void find_range(const AstroRenderer *r, const AstroPanel *panel, float *low, float *high)
{
  gsize n = (gsize)panel->width * panel->height;
  g_autofree float *copy = panel->skip_diagonal ? g_memdup2(panel->values, n * sizeof *copy) : NULL;
  for (guint i = 0; copy && i < panel->height; i++)
    copy[(gsize)i * panel->width + i] = NAN;
  if (isnan(r->style.low) || isnan(r->style.high))
    astro_range_find(copy ? copy : panel->values, n, r->style.percent, low, high);
  if (!isnan(r->style.low))
    *low = (float)r->style.low;
  if (!isnan(r->style.high))
    *high = (float)r->style.high;
}

/* Images and spectra have faint and bright features side by side; visibilities and profiles are for
 * comparison, power is in dB, and what is good in per cent. */
static AstroStretch stretch_of(const AstroRenderer *r)
{
  if (r->style.stretch == ASTRO_STRETCH_AUTO &&
      (r->style.show == ASTRO_SHOW_VALIDITY || r->kind->quantity == ASTRO_QUANTITY_VISIBILITIES ||
       r->kind->quantity == ASTRO_QUANTITY_PROFILE || r->kind->quantity == ASTRO_QUANTITY_GAINS ||
       (r->kind->quantity == ASTRO_QUANTITY_POWER && r->style.decibels)))
    return ASTRO_STRETCH_LINEAR;
  return r->style.stretch;
}

static void colour_panel(const AstroRenderer *r, guint i, gboolean red_first)
{
  const AstroPanel *panel = &g_array_index(r->panels, AstroPanel, i);
  float low = -180, high = 180;
  if (!astro_panel_has_pixels(panel))
    return;
  if (!panel->is_angle)
    find_range(r, panel, &low, &high);
  astro_colouring_set(
      r->colouring[i], panel->is_angle ? ASTRO_COLORMAP_TWILIGHT : r->style.colormap,
      panel->is_angle ? ASTRO_STRETCH_LINEAR : stretch_of(r), low, high, panel->values,
      (gsize)panel->width * panel->height, astro_figure_blank(&r->style), red_first);
}

/* "45.2″ × 40.1″, −12°": the axes in the unit that suits the larger one. */
static void write_beam(AstroPanel *panel, const AstroImageMeta *image)
{
  static const struct {
    double from, units; /* smallest axis in arcsec, and units per arcsec */
    const char *mark;
  } units[] = { { 3600, 1 / 3600.0, "°" },
                { 60, 1 / 60.0, "′" },
                { 0.2, 1, "″" },
                { 2e-4, 1e3, " mas" },
                { 0, 1e6, " µas" } };
  const double arcsec = 3600 * ASTRO_DEGREES, major = image->major * arcsec;
  const double angle = remainder(image->angle * ASTRO_DEGREES, 180);
  char a[G_ASCII_DTOSTR_BUF_SIZE], b[G_ASCII_DTOSTR_BUF_SIZE];
  guint i = 0;
  while (major < units[i].from)
    i++;
  g_ascii_formatd(a, sizeof a, "%.3g", major * units[i].units);
  g_ascii_formatd(b, sizeof b, "%.3g", image->minor * arcsec * units[i].units);
  g_snprintf(panel->beam_text, sizeof panel->beam_text, "%s%s × %s%s, %s%.0f°", a, units[i].mark, b,
             units[i].mark, angle < -0.5 ? "−" : "", fabs(angle));
}

/* Models have no beam. */
static void set_beams(const AstroRenderer *r, const AstroImageMeta *image)
{
  double pixel = r->input.grid.pixel;
  for (guint i = 0; i < r->panels->len; i++) {
    AstroPanel *panel = &g_array_index(r->panels, AstroPanel, i);
    gboolean seen = image && image->has_beam && pixel > 0 && !panel->is_model;
    panel->beam[0] = seen ? image->major / pixel : 0;
    panel->beam[1] = seen ? image->minor / pixel : 0;
    panel->beam[2] = seen ? image->angle : 0;
    *panel->beam_text = 0;
    if (seen)
      write_beam(panel, image);
  }
}

/* The pixels of the point-spread function are not positions on the sky. */
static void set_marks(const AstroRenderer *r, const AstroRenderMoment *moment)
{
  const AstroGrid *grid = &r->input.grid;
  if (r->kind->mark) {
    if (r->style.marks)
      r->kind->mark(r->instance, moment, (AstroPanel *)(gpointer)r->panels->data);
    return;
  }
  for (guint i = 0; i < r->panels->len; i++) {
    AstroPanel *panel = &g_array_index(r->panels, AstroPanel, i);
    const gboolean seen = r->style.marks && panel->is_sky;
    panel->n_marks = seen ? moment->n_marks : 0;
    panel->marks = g_renew(AstroPanelMark, panel->marks, panel->n_marks);
    for (guint k = 0; k < panel->n_marks; k++) {
      const AstroRenderMark *mark = &moment->marks[k];
      panel->marks[k] =
          (AstroPanelMark){ panel->width / 2 - (mark->l - grid->centre_l) / grid->pixel,
                            panel->height / 2 + (mark->m - grid->centre_m) / grid->pixel,
                            mark->number, mark->found };
    }
  }
}

/* Caps may announce any size: memory is only allocated once there is a frame. */
static gboolean begin(AstroRenderer *r, GError **error)
{
  for (guint i = 0; i < r->panels->len; i++) {
    AstroPanel *panel = &g_array_index(r->panels, AstroPanel, i);
    if (!panel->own && !panel->points && !astro_panel_make_room(panel, error))
      return FALSE;
  }
  r->figure = astro_figure_new(&r->style);
  return TRUE;
}

static void draw(AstroRenderer *r, const AstroRenderMoment *moment, const AstroRenderTarget *target)
{
  AstroPanel *panels = (AstroPanel *)(gpointer)r->panels->data;
  g_autofree char *title = r->title ? g_strdup(r->title) : make_title(r, moment->middle_ns);
  set_beams(r, moment->image);
  set_marks(r, moment);
  for (guint i = 0; i < r->panels->len; i++)
    colour_panel(r, i, target->red_first);
  astro_figure_draw(r->figure, panels, r->panels->len, r->colouring, title, target);
  for (guint i = 0; i < r->panels->len; i++) {
    const AstroPixels pixels = { panels[i].values, panels[i].width, panels[i].height,
                                 panels[i].upward };
    AstroRectangle place;
    astro_figure_place(r->figure, i, target, &place);
    if (!astro_panel_has_pixels(&panels[i]))
      continue;
    if (panels[i].is_smooth && astro_smooth_serves(&pixels, place.width, place.height))
      astro_smooth_draw(&pixels, r->colouring[i], &place);
    else
      astro_pixels_draw(&pixels, r->colouring[i], &place);
  }
  astro_figure_finish(r->figure, panels, r->panels->len, target);
}

void astro_renderer_again(AstroRenderer *r, const AstroRenderMoment *moment,
                          const AstroRenderTarget *target)
{
  if (r->figure)
    draw(r, moment, target);
}

gboolean astro_renderer_frame(AstroRenderer *r, gconstpointer data, gsize bytes,
                              const AstroRenderMoment *moment, const AstroRenderTarget *target,
                              GError **error)
{
  AstroPanel *panels = (AstroPanel *)(gpointer)r->panels->data;
  AstroLayout shape;
  guint64 steps;
  if (!astro_stream_steps(&r->input.stream, bytes, &steps, error))
    return FALSE;
  if (steps == 0)
    return astro_render_refuse(error, ASTRO_RENDER_ERROR_CAPS, "a buffer is empty");
  astro_stream_shape(&r->input.stream, steps, &shape);
  if (moment->validity && !astro_validity_check(moment->validity, &shape, error))
    return FALSE;
  if (!r->kind->takes_all && astro_layout_find(&r->input.stream.layout, ASTRO_AXIS_TIME) < 0)
    data = (const guint8 *)data + (steps - 1) * astro_stream_step_bytes(&r->input.stream);
  if (!r->figure && !begin(r, error))
    return FALSE;
  r->kind->take(r->instance, data, steps, moment, panels);
  draw(r, moment, target);
  return TRUE;
}

GstCaps *astro_render_get_caps(void)
{
  GstCaps *caps = gst_caps_new_empty();
  for (guint i = 0; i < G_N_ELEMENTS(kinds); i++)
    caps = gst_caps_merge(caps, gst_caps_from_string(kinds[i]->caps));
  return caps;
}
