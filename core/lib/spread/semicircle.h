/* The exponential of a semicircle, exp(beta (sqrt(1 - z^2) - 1)) for z in -1..1, of all simple
 * functions of finite width the one whose aliases are next to the least. */
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
  double padding; /* of the grid over the image */
} AstroSemicircle;

typedef struct {
  double accuracy; /* of images, relative L2 */
  double padding;  /* 0: chosen too */
  guint support;   /* 0: chosen too */
  gboolean is_double;
  guint image_size, products;
} AstroSemicircleWanted;

/* The cheapest shape for such images. FALSE: none is that accurate. */
gboolean astro_semicircle_choose(AstroSemicircle *shape, const AstroSemicircleWanted *wanted);

double astro_semicircle(double beta, double z);

/* Of the function of support cells, at cycles a cell. */
double astro_semicircle_transform(guint support, double beta, double frequency);

/* The function at tap cells past its first, as a polynomial in x = 2 f - 1 (degree + 1 terms, least
 * power first), where f in 0..1 is how far the first tap stands inside the function's edge. */
void astro_semicircle_fit(guint support, double beta, guint tap, guint degree, double *powers);

/* The least degree with which images miss, on any padding, by no more than with the function
 * itself. */
static inline guint astro_semicircle_degree(guint support)
{
  return (support + (support < 10 ? 7 : 9)) / 2;
}

G_END_DECLS
