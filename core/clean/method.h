/* Both backends do these in their own way, the reference as the formula says and cpu fast; how
 * these pieces make up a whole deconvolution is the same for both (phases.c, multiscale.c). */
#pragma once

#include "core/clean/check.h"
#include "core/clean/kernels.h"
#include "core/kit/polynomial.h"

G_BEGIN_DECLS

/* Planes (channels) that are cleaned together have one of these. Each plane has a share of the mean
 * in which peaks are searched, 0 for planes without data. */
typedef struct {
  guint planes;
  double *share; /* [planes], of sum 1 */
  double *x;     /* [planes]: frequency relative to the middle of the band */
  /* A component of flux 1 adds so much to the residual at its place: 1 for points. */
  double *response;
  guint terms; /* of the polynomial; 0: each plane has its own flux */
  AstroPolynomial fit;
} AstroCleanJoin;

/* An image that is being cleaned, or several planes. All arrays are of the method's numbers;
 * residual and model have [plane][y][x]. */
typedef struct {
  const AstroCleanConfig *config; /* size, in_size (of psf), border, gain */
  const AstroCleanKernels *kernels;
  guint threads;
  gconstpointer psf; /* of the first plane */
  gsize psf_step;    /* pixels to the next plane's */
  gpointer residual, model;
  gpointer search;            /* the residual of a single plane, or the mean of several */
  const AstroCleanJoin *join; /* NULL: there is one plane */
} AstroCleanWork;

static inline guint astro_clean_planes_of(const AstroCleanWork *work)
{
  return work->join ? work->join->planes : 1;
}

/* 0 for a plane that is left out. */
static inline double astro_clean_share(const AstroCleanWork *work, guint plane)
{
  return work->join ? work->join->share[plane] : 1;
}

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
  /* Subtracts peaks of search, and adds them to the model; outside of the border the residual
   * stays. */
  AstroCleanResult (*cycle)(const AstroCleanWork *work, const AstroCleanLimits *limits);
  /* Subtracts the point-spread function at every pixel of the model, only outside of the border or
   * everywhere. search stays as it was. */
  void (*subtract)(const AstroCleanWork *work, gboolean only_outside);
  /* The highest |search| x weight inside the border. */
  double (*peak)(const AstroCleanWork *work, gconstpointer weight);
  /* out = in * a Gaussian of that width (standard deviation, pixels), cut off at a square of radius
   * pixels, of sum 1. Pixels that are NaN, or outside of in, count as 0. */
  void (*smooth)(gconstpointer in, guint size, double width, guint radius, guint threads,
                 gpointer out);
} AstroCleanMethod;

extern const AstroCleanMethod astro_clean_exact, astro_hogbom_single, astro_hogbom_double;

/* Deconvolves an image. work->residual is the image at first; search and model are filled in. */
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
