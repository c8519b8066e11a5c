/* Both backends do these in their own way, the reference as the formula says and cpu fast; how
 * these pieces make up a whole deconvolution is the same for both (phases.c, multiscale.c). */
#pragma once

#include "core/clean/check.h"
#include "core/clean/kernels.h"

G_BEGIN_DECLS

/* An image that is being cleaned. All arrays are of the method's numbers. */
typedef struct {
  const AstroCleanConfig *config; /* size, in_size (of psf), border, gain */
  const AstroCleanKernels *kernels;
  guint threads;
  gconstpointer psf;
  gpointer residual, model;
} AstroCleanWork;

/* When cycles end. */
typedef struct {
  gconstpointer weight; /* of each pixel in the search for peaks, 0: no peaks there; NULL: all 1 */
  guint iterations;
  double threshold; /* Jy/beam; 0: none */
  double times;     /* of the noise; 0: not used */
  double noise;     /* Jy/beam; 0: it is measured */
  double fraction;  /* of the highest peak; 0: not used */
  double highest;   /* that peak; 0: the first one of these cycles */
} AstroCleanLimits;

typedef struct {
  gboolean is_double;
  /* Subtracts peaks, and adds them to the model; outside of the border the residual stays. */
  AstroCleanResult (*cycle)(const AstroCleanWork *work, const AstroCleanLimits *limits);
  /* Subtracts the point-spread function at every pixel of the model, only outside of the border or
   * everywhere. */
  void (*subtract)(const AstroCleanWork *work, gboolean only_outside);
  /* The highest |residual| x weight inside the border. */
  double (*peak)(const AstroCleanWork *work, gconstpointer weight);
  /* out = in * a Gaussian of that width (standard deviation, pixels), cut off at a square of radius
   * pixels, of sum 1. Pixels that are NaN, or outside of in, count as 0. */
  void (*smooth)(gconstpointer in, guint size, double width, guint radius, guint threads,
                 gpointer out);
} AstroCleanMethod;

extern const AstroCleanMethod astro_clean_exact, astro_hogbom_single, astro_hogbom_double;

/* Deconvolves an image. work->residual is the image at first; model is filled in. */
AstroCleanResult astro_clean_image(const AstroCleanMethod *method, const AstroCleanWork *work,
                                   const AstroCleanArguments *arguments);

/* Cycles with components of several sizes, in place of method->cycle. The residual is right
 * everywhere, outside of the border too. */
AstroCleanResult astro_clean_multiscale(const AstroCleanMethod *method, const AstroCleanWork *work,
                                        const AstroCleanLimits *limits);

/* The radius of a component of that size: beyond it a Gaussian is less than 1e-3 of its peak. */
guint astro_clean_radius(double scale);

/* Weights of at most 1 that even out the noise: the noise of the quietest part of the image over
 * that around the pixel, which is measured in squares of that width. Returns the noise of the
 * quietest part. */
double astro_clean_even_noise(const AstroCleanMethod *method, const AstroCleanConfig *config,
                              gconstpointer residual, guint width, gpointer weight);

/* A pixel of an array of this method. */
static inline double astro_clean_at(const AstroCleanMethod *method, gconstpointer data, gsize at)
{
  return method->is_double ? ((const double *)data)[at] : (double)((const float *)data)[at];
}

static inline void astro_clean_put(const AstroCleanMethod *method, gpointer data, gsize at,
                                   double value)
{
  if (method->is_double)
    ((double *)data)[at] = value;
  else
    ((float *)data)[at] = (float)value;
}

static inline gsize astro_clean_bytes(const AstroCleanMethod *method)
{
  return method->is_double ? sizeof(double) : sizeof(float);
}

G_END_DECLS
