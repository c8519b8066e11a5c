/* The parts inside pictures: a kind of stream fills panels with what there is to see, figure.c
 * draws them on a page. */
#pragma once

#include "core/lib/wcs/wcs.h"
#include "core/render/render.h"
#include "core/stream/power.h"

G_BEGIN_DECLS

typedef struct {
  char *label;        /* NULL: no axis */
  double from, to;    /* at the panel's left or lower, and right or upper edge */
  gboolean is_log;    /* from and to are above 0 */
  gboolean whole;     /* counts things: ticks are integers */
  gboolean is_angle;  /* degrees: ticks are parts of a circle */
  char *const *names; /* of things, not owned; NULL: they are numbered */
  guint n_names;
} AstroPanelAxis;

/* A point with error bars; NaN is not drawn. */
typedef struct {
  double x, x_low, x_high, y, error;
} AstroPanelPoint;

/* A source in an image, or a pulse in a waterfall, in pixels from the lower left. */
typedef struct {
  double x, y;
  guint number;
  gboolean found;
} AstroPanelMark;

typedef struct {
  char *title; /* NULL: none */
  AstroPanelAxis x, y;

  /* Values, or points if values is NULL. Values are the panel's own, or those of the buffer that is
   * drawn. */
  const float *values; /* [height][width] */
  float *own;
  guint width, height;
  gboolean upward;        /* the first row is at the bottom */
  gboolean is_square;     /* so are its pixels */
  gboolean is_smooth;     /* its pixels may be interpolated */
  gboolean is_whole;      /* its pixels are only enlarged by whole numbers */
  gboolean is_stacked;    /* panels are drawn below each other, since x is the same */
  gboolean is_curves;     /* not pixels: each row of values is a curve, at even steps of x */
  gboolean is_dots;       /* of curves: each value is a dot, and no line joins them */
  gboolean says_values;   /* few pixels, with their values written in them and no grid lines */
  char *const *names;     /* of curves, not owned; NULL: they are numbered */
  gboolean is_angle;      /* degrees from -180 to 180: always has the cyclic colormap */
  gboolean is_model;      /* it has no beam */
  gboolean is_sky;        /* sources are marked in it */
  gboolean skip_diagonal; /* values there are ignored for the range */
  const char *unit;       /* of the values; NULL: none */
  double beam[3];         /* axes in pixels, 0: none; angle from north, which is up, through east */
  char beam_text[64];     /* for a reader */
  AstroWcs *wcs;          /* of the sky, whose lines replace the axes; NULL: none */

  AstroPanelMark *marks;
  guint n_marks;

  AstroPanelPoint *points;
  guint n_points;
  double amplitude, slope; /* of the power law that fits the points; NaN or 0: there is none */
  double fit_from, fit_to; /* x of the points that it fits */
} AstroPanel;

static inline gboolean astro_panel_has_pixels(const AstroPanel *panel)
{
  return panel->values && !panel->is_curves;
}

typedef struct {
  AstroStream stream;
  AstroGrid grid;              /* of images */
  char **columns;              /* of correlation functions */
  AstroPowerProducts products; /* of power, profiles and gains */
  gboolean has_amplitudes;     /* of gains: not all are 1 */
  const AstroObservation *observation;
  const AstroRenderStyle *style;
} AstroRenderInput;

typedef struct {
  AstroQuantity quantity;
  AstroView view; /* of visibilities */
  const char *caps;
  /* Adds the panels, and returns the first argument of take. */
  gpointer (*open)(const AstroRenderInput *input, GArray *panels, GError **error);
  /* steps: of the buffer. If the layout has no time axis, data are only the last step, unless
   * takes_all is set. */
  void (*take)(gpointer kind, gconstpointer data, guint64 steps, const AstroRenderMoment *moment,
               AstroPanel *panels);
  void (*close)(gpointer kind);
  gboolean takes_all;
  /* Sets the marks of panels that are no pictures of the sky; NULL: there are none. */
  void (*mark)(gpointer kind, const AstroRenderMoment *moment, AstroPanel *panels);
} AstroRenderKind;

extern const AstroRenderKind astro_render_image, astro_render_spectra, astro_render_matrix,
    astro_render_spectrum, astro_render_fringe, astro_render_correlation, astro_render_power,
    astro_render_profile, astro_render_voltages, astro_render_samples, astro_render_validity,
    astro_render_flags, astro_render_gains;

/* Allocates the values, all NaN, or the points of a panel, by its sizes. */
gboolean astro_panel_make_room(AstroPanel *panel, GError **error);
void astro_panel_clear(gpointer panel);

/* Whether the channel that the user asked for (-1: the mean of all) exists. */
gboolean astro_render_check_channel(gint channel, guint64 channels, GError **error);

/* Refuses a view other than auto for streams that have one picture. */
gboolean astro_render_check_auto(const AstroRenderStyle *style, const char *things, GError **error);

/* Makes an axis of times, seconds since the start, in s, min or h. Returns that unit in seconds. */
double astro_panel_set_times(AstroPanelAxis *axis, double from, double to);

/* Whether a product of power is one, and can be shown in dB. */
gboolean astro_render_is_positive(const char *product);

#define astro_render_refuse(error, code, ...)                                                      \
  astro_fail(error, ASTRO_RENDER_ERROR, code, __VA_ARGS__)

G_END_DECLS
