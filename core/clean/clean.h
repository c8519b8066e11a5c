/* Deconvolution by Hogbom's minor cycles: the point-spread function is taken from the highest point
 * of what is left, again and again, and what was taken is the model.
 *
 * The point-spread function is known as far from its middle as half of what comes in is wide. Where
 * that is twice as wide as the image, which is its middle then, it reaches from any source to every
 * pixel, and all that is left is exact. Where it is as wide as the image, what is left is exact
 * only where all of the model is nearer than half of it, and peaks are looked for inside a border
 * of a quarter of the image: inside it all is exact then; outside, what is known is taken away. */
#pragma once

#include "core/backend/backend.h"
#include "core/stream/stream.h"

G_BEGIN_DECLS

typedef enum {
  ASTRO_CLEAN_RESTORED, /* model, drawn with the beam, plus residual */
  ASTRO_CLEAN_MODEL,    /* Jy a pixel */
  ASTRO_CLEAN_RESIDUAL,
  ASTRO_CLEAN_ALL /* these three, one after the other, and the point-spread function */
} AstroCleanOutput;

typedef struct {
  AstroFormat format;       /* F32LE or F64LE */
  guint size;               /* of the image, width and height */
  guint in_size;            /* of what comes in, whose middle is the image; not less */
  guint channels, products; /* products without the point-spread function, which is the last */
  double gain;
  guint iterations;
  double threshold;      /* Jy/beam: the cycles end when no peak is higher */
  double auto_threshold; /* times the noise: the same; 0: there is none */
  guint border;          /* pixels */
  AstroCleanOutput output;
} AstroCleanConfig;

typedef enum {
  ASTRO_CLEAN_ITERATIONS, /* there were no more of them */
  ASTRO_CLEAN_THRESHOLD,
  ASTRO_CLEAN_NOISE,    /* no peak was higher than so many times the noise */
  ASTRO_CLEAN_DIVERGED, /* peaks grew to twice the lowest: it is not the sky that is found */
  ASTRO_CLEAN_EMPTY,    /* no pixel is finite, or the PSF is not: nothing was done */
  /* Work was to be given up: the model is that of the iterations there were, and outside of the
   * border it is not taken away. */
  ASTRO_CLEAN_INTERRUPTED
} AstroCleanEnd;

typedef struct _AstroCleanResult {
  guint iterations;
  double peak;   /* of what is left, Jy/beam */
  double lowest; /* of the peaks that there were */
  double noise;  /* Jy/beam, where peaks are looked for, before cycles took any of it away */
  double flux;   /* of the model, Jy */
  AstroCleanEnd end;
} AstroCleanResult;

/* Submit: an image in, [channel][product, then PSF][y][x] of in_size, and one out,
 * [channel][product][y][x] of size (of ALL: restored products, models, residuals, PSF). The result
 * has room for what was done to each: cleaned, [channel][product]. */
typedef struct {
  double major, minor, angle; /* the beam: full widths in pixels; from north through east */
} AstroCleanArguments;

/* The least border inside which all is exact. */
guint astro_clean_exact_border(guint size, guint in_size);

extern const AstroBackend astro_clean_reference, astro_clean_cpu;
extern const AstroBackend *const astro_clean_backends[];

guint astro_clean_products_out(const AstroCleanConfig *config);
/* Whether a model is drawn: with no iterations what is restored is the image as it is. */
gboolean astro_clean_needs_beam(const AstroCleanConfig *config);

G_END_DECLS
