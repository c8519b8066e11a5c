/* Pictures of streams: images of the sky, spectra and power (a waterfall), visibilities (a matrix
 * of stations, spectra or a fringe), pulsars, gains and correlation functions, each with axes,
 * scales and a title.
 */
#pragma once

#include "core/render/stretch.h"
#include "core/stream/grid.h"
#include "core/stream/observation.h"
#include "core/stream/validity.h"

#include <gst/gst.h>

G_BEGIN_DECLS

#define ASTRO_RENDER_ERROR astro_render_error_quark()
typedef enum {
  ASTRO_RENDER_ERROR_CAPS,  /* there is no such picture of the stream */
  ASTRO_RENDER_ERROR_STYLE, /* the stream does not contain what the user asked for */
} AstroRenderError;
GQuark astro_render_error_quark(void);

typedef enum { ASTRO_THEME_DARK, ASTRO_THEME_LIGHT } AstroTheme;
#define ASTRO_TYPE_THEME astro_theme_get_type()
GType astro_theme_get_type(void);

typedef enum { ASTRO_SCALING_EXACT, ASTRO_SCALING_SMOOTH } AstroScaling;
#define ASTRO_TYPE_SCALING astro_scaling_get_type()
GType astro_scaling_get_type(void);

/* The picture of visibilities, of power, and of spectra. */
typedef enum {
  ASTRO_VIEW_MATRIX,
  ASTRO_VIEW_SPECTRUM,
  ASTRO_VIEW_FRINGE,
  ASTRO_VIEW_AUTO, /* the spectrum of one station, the fringe of two, the matrix of more; of power,
                      spectrum and waterfall */
  ASTRO_VIEW_WATERFALL,
  ASTRO_VIEW_SAMPLES /* of spectra; of other streams as auto */
} AstroView;
#define ASTRO_TYPE_VIEW astro_view_get_type()
GType astro_view_get_type(void);

/* The side of a stream that is shown. */
typedef enum { ASTRO_SHOW_VALUES, ASTRO_SHOW_VALIDITY, ASTRO_SHOW_FLAGS } AstroShow;
#define ASTRO_TYPE_SHOW astro_show_get_type()
GType astro_show_get_type(void);

typedef struct {
  AstroColormap colormap;
  AstroStretch stretch;
  double percent;   /* of the values, around their median, that the colours span */
  double low, high; /* of the colours; NaN: from the values of each frame */
  AstroTheme theme;
  AstroScaling scaling; /* of images */
  AstroView view;
  AstroShow show;
  gboolean axes, grid, colour_bar, marks;
  gboolean decibels, flatten; /* of power: in dB; each channel divided by its mean over the rows;
                                 profiles: by that over phase */
  const char *title;          /* NULL: telescope, frequency and time; empty: none */
  const char *product; /* of images, visibilities, power, profiles and gains; NULL: all, or the
                          first */
  gint channel;        /* of images, visibilities and gains; -1: the mean of all */
  guint rows;          /* of a waterfall, or columns of a fringe or of gains */
} AstroRenderStyle;

/* A frame in memory, with four bytes per pixel. */
typedef struct {
  guint8 *data;
  gsize stride; /* bytes from row to row */
  guint width, height;
  gboolean red_first; /* R G B X, else B G R X; the fourth byte is 255 */
} AstroRenderTarget;

typedef struct _AstroRenderer AstroRenderer;

/* observation: NULL if none is known. Fonts are loaded with the first frame. */
AstroRenderer *astro_renderer_new(const GstCaps *caps, const AstroRenderStyle *style,
                                  const AstroObservation *observation, GError **error);
void astro_renderer_free(AstroRenderer *render);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AstroRenderer, astro_renderer_free)

/* A source that a search has been made for, to be marked in an image. */
typedef struct {
  guint number;
  double l, m;
  gboolean found; /* FALSE: it should be there, but is not visible */
} AstroRenderMark;

/* A pulse that a search has found, to be marked in power at several dispersion measures. */
typedef struct {
  guint number;
  gint64 time_ns; /* its middle, from the observation's start */
  double dm;
} AstroRenderPulse;

/* Properties of a buffer beside its samples. */
typedef struct {
  gint64 middle_ns;                  /* of the time that it shows, from the observation's start */
  guint64 duration_ns;               /* 0: unknown */
  const AstroImageMeta *image;       /* whose beam is drawn; NULL: none */
  const AstroValidityMeta *validity; /* lost samples are not shown; NULL: nothing is lost */
  gboolean is_gap;                   /* everything is lost */
  const AstroRenderMark *marks;      /* of images */
  guint n_marks;
  const AstroRenderPulse *pulses; /* of power */
  guint n_pulses;
} AstroRenderMoment;

/* Draws a buffer's samples as a picture, of the last image or integration if there are several. */
gboolean astro_renderer_frame(AstroRenderer *render, gconstpointer data, gsize bytes,
                              const AstroRenderMoment *moment, const AstroRenderTarget *target,
                              GError **error);

/* Draws the last frame again, with the pulses of this moment. */
void astro_renderer_again(AstroRenderer *render, const AstroRenderMoment *moment,
                          const AstroRenderTarget *target);

/* The caps that can be shown, for a pad template. */
GstCaps *astro_render_get_caps(void);

G_END_DECLS
