/* The exponential of a semicircle, exp(beta (sqrt(1 - z^2) - 1)) for z in -1..1: among simple
 * functions of finite width its aliases are nearly the smallest. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_SEMICIRCLE_MIN 4 /* cells of support */
#define ASTRO_SEMICIRCLE_MAX 16
#define ASTRO_SEMICIRCLE_HALF (ASTRO_SEMICIRCLE_MAX / 2)
#define ASTRO_SEMICIRCLE_TERMS 16 /* of a polynomial, at most */

typedef struct {
  guint support;
  double beta;
  double padding; /* size of the grid relative to the image */
} AstroSemicircle;

typedef struct {
  double accuracy; /* of images, relative L2 */
  double padding;  /* 0: chosen here */
  guint support;   /* 0: chosen here */
  gboolean is_double;
  guint image_size, products;
} AstroSemicircleWanted;

/* Chooses the cheapest shape for such images. FALSE: none is that accurate. */
gboolean astro_semicircle_choose(AstroSemicircle *shape, const AstroSemicircleWanted *wanted);

double astro_semicircle(double beta, double z);

/* The Fourier transform of the function with that support in cells, at frequency cycles per cell.
 */
double astro_semicircle_transform(guint support, double beta, double frequency);

/* The function at tap number `tap`, as a polynomial in x = 2 f - 1 (degree + 1 terms, lowest power
 * first), where f in 0..1 is the distance of the first tap from the function's edge. */
void astro_semicircle_fit(guint support, double beta, guint tap, guint degree, double *powers);

/* The smallest degree for which images are, with any padding, no less accurate than with the
 * function itself. */
static inline guint astro_semicircle_degree(guint support)
{
  return (support + (support < 10 ? 7 : 9)) / 2;
}

G_END_DECLS
