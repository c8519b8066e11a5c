/* Deconvolution by minor cycles, Hogbom's or of several scales: the point-spread function is
 * subtracted at the highest point of the residual, again and again; what was subtracted is the
 * model.
 *
 * The point-spread function is known up to a distance of half the width of the input. If the input
 * is twice as wide as the image, which is then its middle, it reaches from any source to every
 * pixel, and the whole residual is exact. If the input is as wide as the image, the residual is
 * exact only at pixels within half that width of all of the model; so peaks are searched inside a
 * border of a quarter of the image. Then everything inside the border is exact, and outside what is
 * known is subtracted.
 *
 * With scales, components are Gaussians too (Cornwell 2008): a component of scale s has a standard
 * deviation of 3/16 s pixels, and is looked for where all of it is inside the border. The residual
 * is smoothed to each scale, and the scale with the highest peak is worked on until that has fallen
 * by a fifth. Peaks of larger scales count for more, by 1/0.6 for every factor of two in size, as
 * smoothing lowers them (Offringa and Smirnov 2017). The smallest size above 0 counts as a point
 * does, as in WSClean 3.1 (in the article it counts for 1/0.6 already).
 *
 * Channels that are cleaned together (joined) share the search: peaks are those of the mean of all
 * channels, weighted by their sums of weights, which is deeper than any of them. At each peak a
 * polynomial in frequency of spectral_terms terms, fitted to the residuals of the channels there,
 * is subtracted with each channel's own point-spread function; without terms each channel has a
 * flux of its own. Channels without visibilities (their point-spread function is NaN, or their
 * weight 0) stay out of mean and fit; their model is the polynomial's value, or 0 without one.
 *
 * With auto_mask the cycles first take peaks down to that many times the noise around them, and
 * then go on to the threshold, but only where the model has flux by then. */
#pragma once

#include "core/backend/backend.h"
#include "core/backend/work.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_CLEAN_RESTORED, /* model convolved with the beam, plus residual */
  ASTRO_CLEAN_MODEL,    /* Jy/pixel */
  ASTRO_CLEAN_RESIDUAL,
  ASTRO_CLEAN_ALL /* these three, one after another, then the point-spread function */
} AstroCleanOutput;

#define ASTRO_CLEAN_MOST_SCALES 10

typedef struct {
  AstroFormat format;       /* F32LE or F64LE */
  guint size;               /* width and height of the image */
  guint in_size;            /* width of the input, whose middle is the image; at least size */
  guint channels, products; /* products do not include the point-spread function, which is last */
  double gain;
  guint iterations;
  double threshold;      /* Jy/beam: cycles end when no peak is higher */
  double auto_threshold; /* the same, in units of the noise; 0: not used */
  double fraction;       /* cycles end when no peak is above this part of the first; 0: not used */
  double auto_mask;      /* in units of the noise around a pixel; 0: not used */
  guint border;          /* pixels */
  guint n_scales;        /* 0: points alone */
  double scales[ASTRO_CLEAN_MOST_SCALES]; /* pixels, ascending; 0: a point */
  AstroCleanOutput output;
  gboolean joined;             /* channels are cleaned together */
  guint spectral_terms;        /* of the polynomial, for joined; 0: each channel has its own flux */
  double frequency, bandwidth; /* Hz, of all channels; for spectral_terms above 1 */
} AstroCleanConfig;

typedef enum {
  ASTRO_CLEAN_ITERATIONS, /* all iterations were used */
  ASTRO_CLEAN_THRESHOLD,
  ASTRO_CLEAN_NOISE,    /* no peak was higher than auto_threshold times the noise */
  ASTRO_CLEAN_FRACTION, /* no peak was higher than fraction of the first one */
  ASTRO_CLEAN_DIVERGED, /* peaks grew to twice the lowest one: the model is not the sky */
  ASTRO_CLEAN_EMPTY,    /* no pixel is finite, or the PSF is not: nothing was done */
  /* Work was given up: the model has the iterations so far, and was not subtracted outside of the
   * border. */
  ASTRO_CLEAN_INTERRUPTED
} AstroCleanEnd;

typedef struct _AstroCleanResult {
  guint iterations;
  double peak;   /* of the residual, Jy/beam, where sources are looked for */
  double first;  /* the peak before the first iteration */
  double lowest; /* lowest peak so far */
  double noise;  /* Jy/beam, inside the border, before cycles removed any of it */
  double flux;   /* of the model that was found, Jy */
  AstroCleanEnd end;
} AstroCleanResult;

/* submit takes an input image, [channel][product, then PSF][y][x] of in_size, and an output image,
 * [channel][product][y][x] of size (for ALL: restored products, models, residuals, PSF).
 * AstroResult.cleaned has room for [channel][product] and, for joined channels, behind them
 * [product]: what was found in their mean. */
typedef struct {
  double major, minor, angle; /* the beam: full widths in pixels; angle from north through east */
  const guint8 *mask;    /* size x size: sources are looked for only where it is not 0; NULL: all */
  const double *weights; /* [channel][product, then PSF]: sums of weights; NULL: all the same */
  const float *start;    /* [channel][product][y][x], Jy/pixel: a model that is not in the image any
                            more; it is added to the one found. NULL: none */
  float *model;          /* the same, filled in with all of the model; NULL: not asked for */
} AstroCleanArguments;

/* The smallest border inside which everything is exact. */
guint astro_clean_exact_border(guint size, guint in_size);

extern const AstroBackend astro_clean_reference, astro_clean_cpu;
extern const AstroBackend *const astro_clean_backends[];

/* An AstroTellWork. */
gboolean astro_clean_work(gconstpointer config, const AstroWorkSteps *steps, AstroWork *work);

/* Elements of AstroResult.cleaned. */
guint astro_clean_n_results(const AstroCleanConfig *config);
guint astro_clean_products_out(const AstroCleanConfig *config);
/* Whether a beam is needed: without iterations the restored image is the input. */
gboolean astro_clean_needs_beam(const AstroCleanConfig *config);

G_END_DECLS
