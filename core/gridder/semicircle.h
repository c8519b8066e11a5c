/* The exponential of a semicircle, exp(beta (sqrt(1 - z^2) - 1)) for z in -1..1, of all simple
 * functions of finite width the one whose aliases are next to the least. */
#pragma once

#include <glib.h>

G_BEGIN_DECLS

#define ASTRO_SEMICIRCLE_MIN 4 /* cells of support */
#define ASTRO_SEMICIRCLE_MAX 16
#define ASTRO_SEMICIRCLE_TERMS 16 /* of a polynomial, at most */

typedef struct {
  guint support;
  double beta;
  double padding; /* of the grid over the image */
} AstroSemicircle;

/* The cheapest shape for images of that accuracy (relative L2); padding and support 0: chosen too.
 * FALSE: none is that accurate. */
gboolean astro_semicircle_choose(AstroSemicircle *shape, double accuracy, double padding,
                                 guint support, gboolean is_double);

double astro_semicircle(double beta, double z);

/* Of the function of support cells, at cycles a cell. */
double astro_semicircle_transform(guint support, double beta, double frequency);

/* The function at tap cells past its first, as a polynomial in x = 2 f - 1 (degree + 1 terms, least
 * power first), where f in 0..1 is how far the first tap stands inside the function's edge. */
void astro_semicircle_fit(guint support, double beta, guint tap, guint degree, double *powers);

/* The least degree that misses the function, with the sharpest beta in use, by no more than the
 * function itself misses. */
static inline guint astro_semicircle_degree(guint support)
{
  return support > 8 ? (support + 1) / 2 + 4 : support / 2 + 3;
}

G_END_DECLS
